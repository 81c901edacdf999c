"""Customers who may be there twice, with the way to merge them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mainstay.business.customers.duplicates import list_duplicate_customers
from mainstay.business.customers.merging import merge_customers
from mainstay.doors.http import Response
from mainstay.doors.office.address import ListAddress
from mainstay.doors.office.arrangement import verb_of
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.kernel.catalogue import admit
from mainstay.values.alike import Common

PATH = "/customers/duplicates"
_WORDS: dict[Common, str] = {
    "email": "email address",
    "phone": "phone number",
    "taxNumber": "tax number",
    "name": "name",
    "address": "billing address",
}


@dataclass(frozen=True)
class DuplicatePages:
    """The page."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where it is."""
        return [Route("GET", PATH, self.desk.signed_in(self.show))]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Show who may be there twice, the newest first."""
        admit(list_duplicate_customers, guest.actor)
        at = ListAddress.read(PATH, query_words(guest.request), frozenset())
        page = await self.desk.perform(guest, list_duplicate_customers, at.asked)
        return self.desk.page(
            "duplicates.html",
            guest,
            area="Customers",
            at=at,
            rows=[_in_words(row) for row in page["data"]],
            merge=verb_of(merge_customers) if guest.may(merge_customers) else None,
            next=at.next(page["data"][-1]["id"]) if page["hasMore"] else None,
        )


def _in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a customer with what each other one has in common with them, in words."""
    others = [other | {"words": ", ".join(_WORDS[one] for one in other["same"])} for other in row["sameAs"]]
    return {**row, "sameAs": others}
