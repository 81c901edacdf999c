"""The editor of the lines of a document: every button saves what was typed, and the total follows while one types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, about, seen_version, status_of, wrong
from mainstay.doors.office.line_editor import (
    ITEM,
    NEW,
    Edits,
    edits_of,
    marks_of,
    new_row,
    overtaken,
    rows,
    taken_out,
)
from mainstay.doors.office.references import AsTold, References
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.meanwhile import SHOWN
from mainstay.doors.pages.render import render, see_other
from mainstay.kernel.catalogue import admit
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Fault, Invalid, Refusal, Stale

_RATES = 100
# What the address of the editor says after a line was added.
_ADDED = "added"


class Amiss(NamedTuple):
    """What is wrong with lines that were typed: by row and field, and as a whole."""

    faults: dict[str, dict[str, str]]
    problem: str | None
    status: int

    @classmethod
    def of(cls, refusal: Refusal, edits: Edits) -> "Amiss":
        """A refusal of these edits."""
        if not isinstance(refusal, Invalid):
            return cls({}, wrong(refusal)["problem"], status_of(refusal))
        faults, others = edits.faults(refusal)
        problem = f"{'; '.join(others).rstrip('.')}." if others else None
        return cls(faults, problem, status_of(refusal))


@dataclass(frozen=True)
class LinePages:
    """The pages of one kind of document, whose lines one operation changes."""

    desk: Desk
    of: Arrangement
    updates: Operation
    # Whether it sells: its lines then have a cost of their own; and whether a customer may choose some.
    sells: bool
    options: bool = False

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one = self.desk.signed_in, self.of.path_of("{id}")
        return [
            Route("GET", f"{one}/lines", enter(self.lines)),
            Route("POST", f"{one}/lines", enter(self.save)),
            Route("POST", f"{one}/lines/totals", enter(self.totals)),
        ]

    async def lines(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The lines of a draft, to be changed."""
        admit(self.updates, guest.actor)
        document = await self._fetch(guest, at)
        if self.updates.name not in document["availableActions"]:
            # It says itself why not.
            await self.desk.perform(guest, self.updates, about(self.updates, document["id"]))
        return await self._editor(guest, document, guest.typed, None)

    async def save(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Save what was typed, and do what the button says beside it."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        admit(self.updates, guest.actor)
        document = await self._fetch(guest, at)
        edits = Edits([], [])
        try:
            edits = edits_of(document["lines"], fields, await self._item(guest, fields), guest.here)
            await self._save(guest, document, edits, fields)
        except Stale:
            again, told = overtaken(document["lines"], fields, guest.here)
            again["version"] = str(document["version"])
            return await self._editor(guest, document, again, Amiss.of(told, edits))
        except Refusal as refusal:
            return await self._editor(guest, document, fields, Amiss.of(refusal, edits))
        path = self.of.path_of(document["id"])
        done = f"?done={self.updates.name}" if edits.edits else ""
        if fields.get("do") == "done":
            return see_other(f"{path}{done}")
        # Whoever has added a line goes on with the next one.
        return see_other(f"{path}/lines{done}{f'&{_ADDED}=1' if NEW in edits.rows else ''}")

    async def totals(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What the lines come to as they are typed: reckoned like everything else, and then taken back."""
        fields = await self.desk.form(guest)
        admit(self.updates, guest.actor)
        document = await self._fetch(guest, at)
        edits = edits_of(document["lines"], fields, await self._item(guest, fields), guest.here)
        reckoned = document
        if edits.edits:
            changed = about(self.updates, document["id"]) | {"edits": edits.edits}
            reckoned = await self.desk.rehearse(guest, self.updates, changed)
        return render("sums.html", document=reckoned, here=guest.here)

    async def _save(self, guest: Guest, document: AsTold, edits: Edits, fields: Mapping[str, str]) -> None:
        if edits.edits:
            changed = about(self.updates, document["id"]) | {"edits": edits.edits}
            await self.desk.perform(guest, self.updates, changed, seen_version(fields))
        elif taken_out(document["lines"], fields):
            # All that was typed is of lines that are there no more.
            raise Stale

    async def _editor(self, guest: Guest, document: AsTold, typed: Mapping[str, str], amiss: Amiss | None) -> Response:
        rates = await self.desk.perform(guest, list_tax_rates, {"limit": _RATES})
        faults = amiss.faults if amiss else {}
        lines, new_line = rows(document["lines"], typed, faults, guest.here), new_row(typed, faults)
        return self.desk.page(
            "lines.html",
            guest,
            amiss.status if amiss else 200,
            of=self.of,
            document=document,
            sells=self.sells,
            options=self.options,
            path=self.of.path_of(document["id"]),
            rows=lines,
            new_line=new_line,
            ways=[way for row in (*lines, new_line) for way in row.ways()],
            rates=[(rate["id"], rate["name"]) for rate in rates["data"]],
            version=typed.get("version", document["version"]),
            shown=typed.get(SHOWN, "") if typed else marks_of(document["lines"], guest.here),
            problem=amiss.problem if amiss else None,
            notice=None if amiss else AS_LEFT if guest.typed else self.desk.notice(guest),
            goes_on=amiss is None and _ADDED in query_words(guest.request),
        )

    async def _item(self, guest: Guest, fields: Mapping[str, str]) -> str | None:
        """The item of the price list that was typed for a new line."""
        typed = fields.get(f"{NEW} {ITEM}", "").strip()
        if not typed:
            return None
        try:
            return await References(self.desk).find(guest, ITEM, typed)
        except ValueError as unclear:
            raise Invalid([Fault(ITEM, str(unclear))]) from None

    async def _fetch(self, guest: Guest, at: Mapping[str, str]) -> AsTold:
        return await self.desk.get(guest, at["id"])
