"""Finding records from anywhere in the office."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson

from mainstay.business.records.search import search
from mainstay.doors.http import Response
from mainstay.doors.office.bills import BILLS
from mainstay.doors.office.customers import CONTACTS, CUSTOMERS, SITES
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.invoices import CREDIT_NOTES, INVOICES, PAYMENTS
from mainstay.doors.office.jobs import JOBS
from mainstay.doors.office.orders import ORDERS
from mainstay.doors.office.people import PEOPLE
from mainstay.doors.office.prices import ITEMS, SUPPLIERS
from mainstay.doors.office.quotes import QUOTES
from mainstay.doors.office.references import detail_of, title_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.written_here import written_here
from mainstay.terms.refusal import Invalid

# How many at most: on the page, while one types, and while one types what is of one kind.
_ON_PAGE, _WHILE_TYPING, _OF_ONE_KIND = 50, 8, 8
_LONGEST = 100
# How each kind that is searched is arranged, by what it calls itself.
ARRANGED = {
    one.gets.output.noun: one
    for one in (
        CUSTOMERS, SITES, CONTACTS, JOBS, QUOTES, INVOICES, CREDIT_NOTES, PAYMENTS, ORDERS, BILLS, SUPPLIERS, ITEMS,
        PEOPLE,
    )
}  # fmt: skip


@dataclass(frozen=True)
class SearchPages:
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
            found = await self._found(guest, text, _ON_PAGE) if text else found
        except Invalid as invalid:
            problem = f"What you look for {invalid.faults[0].problem}."
        groups = [(kind, list(hits)) for kind, hits in groupby(found["hits"], key=lambda hit: hit["kind"])]
        return self.desk.page(
            "search.html", guest, area="Search", text=text, groups_found=groups, more=found["hasMore"], problem=problem
        )

    async def find(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """The records of one kind, or of any, that someone may mean while they type."""
        words = query_words(guest.request)
        kind, status = words.get("kind", ""), words.get("status", "")
        text, most = words.get("text", "")[:_LONGEST], _OF_ONE_KIND if kind else _WHILE_TYPING
        try:
            if status:
                found = await self._in_state(guest, kind, {"text": text, "status": status, "limit": most})
            else:
                found = await self._found(guest, text, most, kind)
        except Invalid:
            found = {"hits": [], "hasMore": False}
        body = orjson.dumps({"hits": found["hits"], "hasMore": found["hasMore"]})
        return Response(200, body, content_type="application/json")

    async def _in_state(self, guest: Guest, kind: str, asked: Mapping[str, object]) -> dict[str, Any]:
        """The records of one kind in one state."""
        lists = self.desk.catalogue.lists.get(kind)
        if lists is None or not guest.may(lists):
            return {"hits": [], "hasMore": False}
        page = await self.desk.perform(guest, lists, asked)
        hits = [{"id": one["id"], "title": title_of(one), "detail": detail_of(one, guest.here)} for one in page["data"]]
        return {"hits": hits, "hasMore": page["hasMore"]}

    async def _found(self, guest: Guest, text: str, most: int, kind: str = "") -> dict[str, Any]:
        """So many, each under what people call its kind, and called as they write it where they are."""
        asked: dict[str, object] = {"text": text, "limit": most}
        if kind:
            gets = self.desk.catalogue.gets.get(kind)
            if gets is None:
                return {"hits": [], "hasMore": False}
            asked["kind"] = gets.output.noun
        found = await self.desk.perform(guest, search, asked)
        for hit in found["hits"]:
            arranged = ARRANGED[hit["object"]]
            hit["kind"] = arranged.title
            if arranged.by_amount:
                hit["title"] = written_here(hit["title"], guest.here)
        return found
