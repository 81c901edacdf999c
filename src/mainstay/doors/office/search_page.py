"""Search of all records, as a page and while typing."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from mainstay.business.records.model import Hit
from mainstay.business.records.search import search
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.reference_fields import AnyRecord, detail_of, record_title_of
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import problem_sentence
from mainstay.vocabulary.refusal import Invalid
from mainstay.vocabulary.typed_records import RecordFields

# The most hits: on the page, while someone types, and while someone types a record of one kind.
_MAX_ON_PAGE, _MAX_WHILE_TYPING, _MAX_OF_ONE_KIND = 50, 8, 8
_MAX_TEXT_LENGTH = 100
_LAYOUTS = {layout.kind.output.noun: layout for layout in LAYOUTS}


class _Found(NamedTuple):
    """Hits as pages show them, and whether there are more."""

    hits: list[dict[str, Any]]
    has_more: bool


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
        found = _Found([], has_more=False)
        problem = None
        try:
            found = await self._search(request, text, _MAX_ON_PAGE) if text else found
        except Invalid as invalid:
            problem = problem_sentence("Search", invalid.faults[0].problem)
        groups = [(kind, list(hits)) for kind, hits in groupby(found.hits, key=lambda hit: hit["kind"])]
        return self.office.render_page(
            "search.html",
            request,
            area="Search",
            text=text,
            groups_found=groups,
            more=found.has_more,
            problem=problem,
        )

    async def suggest(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return suggestions while someone types, of one kind of record or of all, as JSON."""
        parameters = query_parameters(request.http_request)
        kind = parameters.get("kind", "")
        filters = {name: parameters[name] for name in ("status", "customerId") if parameters.get(name)}
        text, limit = parameters.get("text", "")[:_MAX_TEXT_LENGTH], _MAX_OF_ONE_KIND if kind else _MAX_WHILE_TYPING
        try:
            if filters:
                found = await self._find_listed(request, kind, {**filters, "text": text or None, "limit": limit})
            else:
                found = await self._search(request, text, limit, kind)
        except Invalid:
            found = _Found([], has_more=False)
        body = orjson.dumps({"hits": found.hits, "hasMore": found.has_more})
        return Response(200, body, content_type="application/json")

    async def _find_listed(self, request: OfficeRequest, kind: str, query: Mapping[str, object]) -> _Found:
        """Return the records of one kind, with one status or of one customer, that match a text if there is one."""
        list_operation = self.office.catalogue.list_operations.get(kind)
        if list_operation is None or not request.can_perform(list_operation):
            return _Found([], has_more=False)
        known = {field.alias or name for name, field in list_operation.input.model_fields.items()}
        asked = {name: value for name, value in query.items() if name in known}
        page = await self.office.perform(request, list_operation, asked)
        hits = [
            {
                "id": one.id,
                "title": record_title_of(one),
                "number": RecordFields(one).get("number"),
                **_item_values(one, request.display),
                "detail": detail_of(one, request.display) or _LAYOUTS[one.object].subtitle_of(one),
            }
            for one in page.data
        ]
        return _Found(hits, page.has_more)

    async def _search(self, request: OfficeRequest, text: str, limit: int, kind: str = "") -> _Found:
        """Search, and give each hit the label of its kind and a localised title."""
        query: dict[str, object] = {"text": text, "limit": limit}
        if kind:
            get_operation = self.office.catalogue.get_operations.get(kind)
            if get_operation is None:
                return _Found([], has_more=False)
            query["kind"] = get_operation.output.noun
        found = await self.office.perform(request, search, query)
        return _Found([_describe_hit(hit) for hit in found.hits], found.has_more)


def _item_values(record: AnyRecord, display: DisplaySettings) -> dict[str, Any]:
    """Return what an item of the price list fills in on a line."""
    fields = RecordFields(record)
    price = fields.get("sellPrice")
    return {"price": display.price_to_field(price), "unit": fields.get("unit")} if price else {}


def _describe_hit(hit: Hit) -> dict[str, Any]:
    return {**RecordFields(hit), "kind": _LAYOUTS[hit.object].title}
