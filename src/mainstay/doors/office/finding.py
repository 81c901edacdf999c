"""Finding records from anywhere in the office."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson

from mainstay.business.records.search import search
from mainstay.doors.http import Response
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import detail_of, title_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.terms.refusal import Invalid
from mainstay.values.ids import is_id
from mainstay.values.words import words_of

_EACH = 10
_WHILE_TYPING = 8
_LONGEST = 100


@dataclass(frozen=True)
class Finding:
    """The pages."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", "/search", enter(self.show)),
            Route("GET", "/find", enter(self.find)),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What is found by a text, by kind."""
        text = query_words(guest.request).get("text", "").strip()[:_LONGEST]
        found: dict[str, Any] = {"hits": [], "hasMore": False}
        problem = None
        try:
            found = await self.desk.perform(guest, search, {"text": text, "limit": _EACH}) if text else found
        except Invalid as invalid:
            problem = f"What you look for {invalid.faults[0].problem}."
        groups = [(words_of(kind), list(hits)) for kind, hits in groupby(found["hits"], key=lambda hit: hit["object"])]
        return self.desk.page(
            "search.html", guest, area="Search", text=text, groups_found=groups, more=found["hasMore"], problem=problem
        )

    async def find(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The records of one kind, or of any, that someone may mean while they type."""
        words = query_words(guest.request)
        kind, status = words.get("kind", ""), words.get("status", "")
        asked = {"text": words.get("text", "")[:_LONGEST], "limit": _WHILE_TYPING}
        try:
            if status:
                meant = await self._in_state(guest, kind, asked | {"status": status})
            else:
                hits = (await self.desk.perform(guest, search, asked))["hits"]
                meant = [hit for hit in hits if not kind or is_id(hit["id"], kind)]
        except Invalid:
            meant = []
        return Response(200, orjson.dumps({"hits": meant}), content_type="application/json")

    async def _in_state(self, guest: Guest, kind: str, asked: Mapping[str, object]) -> list[dict[str, Any]]:
        """The records of one kind in one state."""
        lists = self.desk.catalogue.lists.get(kind)
        if lists is None or not guest.may(lists):
            return []
        page = await self.desk.perform(guest, lists, asked)
        return [{"title": title_of(one), "detail": detail_of(one, guest.here)} for one in page["data"]]
