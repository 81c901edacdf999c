"""Search of all records, as a page and while typing."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson

from mainstay.business.records.search import search
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.reference_fields import detail_of, record_title_of
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.localised_text import localise_text
from mainstay.doors.pages.message_format import problem_sentence
from mainstay.vocabulary.refusal import Invalid

# The most hits: on the page, while someone types, and while someone types a record of one kind.
_MAX_ON_PAGE, _MAX_WHILE_TYPING, _MAX_OF_ONE_KIND = 50, 8, 8
_MAX_TEXT_LENGTH = 100
_LAYOUTS = {layout.kind.output.noun: layout for layout in LAYOUTS}


@dataclass(frozen=True)
class SearchPages:
    """The search page, and the suggestions for the search field and for form fields."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", "/search", signed_in(self.show)),
            Route("GET", "/find", signed_in(self.suggest)),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show what a text finds, grouped by kind of record."""
        text = query_parameters(request.http_request).get("text", "").strip()[:_MAX_TEXT_LENGTH]
        found: dict[str, Any] = {"hits": [], "hasMore": False}
        problem = None
        try:
            found = await self._search(request, text, _MAX_ON_PAGE) if text else found
        except Invalid as invalid:
            problem = problem_sentence("Search", invalid.faults[0].problem)
        groups = [(kind, list(hits)) for kind, hits in groupby(found["hits"], key=lambda hit: hit["kind"])]
        return self.office.render_page(
            "search.html",
            request,
            area="Search",
            text=text,
            groups_found=groups,
            more=found["hasMore"],
            problem=problem,
        )

    async def suggest(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return suggestions while someone types, of one kind of record or of all, as JSON."""
        parameters = query_parameters(request.http_request)
        kind, status = parameters.get("kind", ""), parameters.get("status", "")
        text, limit = parameters.get("text", "")[:_MAX_TEXT_LENGTH], _MAX_OF_ONE_KIND if kind else _MAX_WHILE_TYPING
        try:
            if status:
                found = await self._find_by_status(request, kind, {"text": text, "status": status, "limit": limit})
            else:
                found = await self._search(request, text, limit, kind)
        except Invalid:
            found = {"hits": [], "hasMore": False}
        body = orjson.dumps({"hits": found["hits"], "hasMore": found["hasMore"]})
        return Response(200, body, content_type="application/json")

    async def _find_by_status(self, request: OfficeRequest, kind: str, query: Mapping[str, object]) -> dict[str, Any]:
        """Return the records of one kind with one status that match a text."""
        list_operation = self.office.catalogue.list_operations.get(kind)
        if list_operation is None or not request.can_perform(list_operation):
            return {"hits": [], "hasMore": False}
        page = await self.office.perform(request, list_operation, query)
        hits = [
            {"id": one["id"], "title": record_title_of(one), "detail": detail_of(one, request.display)}
            for one in page["data"]
        ]
        return {"hits": hits, "hasMore": page["hasMore"]}

    async def _search(self, request: OfficeRequest, text: str, limit: int, kind: str = "") -> dict[str, Any]:
        """Search, and give each hit the label of its kind and a localised title."""
        query: dict[str, object] = {"text": text, "limit": limit}
        if kind:
            get_operation = self.office.catalogue.get_operations.get(kind)
            if get_operation is None:
                return {"hits": [], "hasMore": False}
            query["kind"] = get_operation.output.noun
        found = await self.office.perform(request, search, query)
        for hit in found["hits"]:
            layout = _LAYOUTS[hit["object"]]
            hit["kind"] = layout.title
            if layout.has_amount_in_title:
                hit["title"] = localise_text(hit["title"], request.display)
        return found
