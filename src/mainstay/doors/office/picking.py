"""What an invoice is to bill, listed before it is drafted and picked line by line: of a quote, hours and materials.

The list is the draft itself, made as the form says and then taken back: what can be billed, and for how much, is known
nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.invoices.operations import draft_invoice
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold, References
from mainstay.doors.pages.asking import asked_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import render
from mainstay.kernel.catalogue import admit
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Conflict, Invalid, NotFound, Refusal

# The words of the form that decide what there is to bill; and the field that says for which of them it was listed.
_DECIDING = ("quoteId", "jobId", "customerId", "unbilled", "until")
_LISTED = "listed"
# How many lines of the quote were listed: those that are all ticked are billed as the whole that they are.
_QUOTED = "quoted"
_TICKED = "bill "
# What is listed under one heading, by the kinds of its sources.
_GROUPS = (
    ("Of the quote", ("quoteLine",)),
    ("Hours", ("timeEntry",)),
    ("Materials", ("orderLine", "billLine")),
)
_OF_QUOTE = _GROUPS[0][1]
_LISTED_ANEW = (
    "What there is to bill is not what was listed before. Look at what is listed now, then draft the invoice."
)
_NOTHING_OF_QUOTE = "Tick what is billed of the quote, or leave out the quote."


class Pick(NamedTuple):
    """A line that can be billed."""

    name: str
    line: AsTold
    ticked: bool


@dataclass(frozen=True)
class Picking:
    """Lists it in the form of a draft."""

    desk: Desk
    of: Arrangement

    def routes(self) -> list[Route]:
        """Where the total is reckoned that follows the ticks."""
        return [Route("POST", self._totals, self.desk.signed_in(self.totals))]

    async def shown(self, guest: Guest, operation: Operation, fields: Mapping[str, str]) -> dict[str, Any]:
        """What there is to bill by what is filled in: all of it ticked, until someone has looked at it."""
        if operation is not draft_invoice:
            return {}
        if not _is_listed(fields):
            return await self._agreed(guest, fields)
        try:
            answers, resolved = await self._answers(guest, fields)
            whole = await self.desk.rehearse(guest, draft_invoice, answers)
            deciding = _deciding(resolved)
            seen = fields.get(_LISTED) == deciding
            chosen = picked(resolved) if seen else {}
            reckoned = await self.desk.rehearse(guest, draft_invoice, answers | chosen) if chosen else whole
        except (Invalid, NotFound):
            # The form says so where it is sent.
            return {}
        except Refusal as refusal:
            return {"nothing_to_bill": refusal.text}
        ticks = fields if seen else None
        return {
            "totals": self._totals,
            "picks": [group for name, kinds in _GROUPS if (group := _group(name, kinds, whole, ticks))],
            "taken_off": [line for line in reckoned["lines"] if _kind(line) == "deposit"],
            "listed": {_LISTED: deciding, _QUOTED: sum(_kind(line) in _OF_QUOTE for line in whole["lines"])},
            "document": reckoned,
        }

    def adds(self, _guest: Guest, operation: Operation, fields: Mapping[str, str]) -> dict[str, object]:
        """What is billed of what was listed."""
        if operation is not draft_invoice or _LISTED not in fields or not _is_listed(fields):
            return {}
        if fields[_LISTED] != _deciding(fields):
            raise Conflict(_LISTED_ANEW)
        return picked(fields)

    async def totals(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What the ticked lines come to."""
        fields = await self.desk.form(guest)
        admit(draft_invoice, guest.actor)
        answers, resolved = await self._answers(guest, fields)
        added = self.adds(guest, draft_invoice, resolved)
        return render(
            "sums.html", document=await self.desk.rehearse(guest, draft_invoice, answers | added), here=guest.here
        )

    async def _agreed(self, guest: Guest, fields: Mapping[str, str]) -> dict[str, Any]:
        """What is billed of a job alone: its price, or what is missing."""
        if not fields.get("jobId", "").strip():
            return {}
        try:
            answers, _ = await self._answers(guest, fields)
            drafted = await self.desk.rehearse(guest, draft_invoice, answers)
        except Refusal:
            # The form says so where it is sent.
            return {}
        told = " ".join(drafted.get("warnings", ()))
        return {"agreed": drafted["lines"], "document": drafted, **({"nothing_to_bill": told} if told else {})}

    async def _answers(self, guest: Guest, fields: Mapping[str, str]) -> tuple[dict[str, object], dict[str, str]]:
        asked = [one for one in asked_of(draft_invoice, guest.actor.rights) if one.name not in self.of.skips]
        answers, resolved = await References(self.desk).answers(guest, asked, fields)
        return {name: value for name, value in answers.items() if value is not None}, resolved

    @property
    def _totals(self) -> str:
        return f"{self.of.path}/{self.of.create_path}/totals"


def picked(fields: Mapping[str, str]) -> dict[str, object]:
    """The lines that are ticked, as an invoice is drafted of them."""
    ticked = [name.removeprefix(_TICKED).partition(" ")[::2] for name in fields if name.startswith(_TICKED)]
    lines = [identity for kind, identity in ticked if kind in _OF_QUOTE]
    work = [identity for kind, identity in ticked if kind not in _OF_QUOTE]
    chosen: dict[str, object] = {"unbilled": False, "sources": work or None}
    if fields.get("quoteId", "").strip():
        if not lines:
            raise Conflict(_NOTHING_OF_QUOTE)
        chosen["quoteLines"] = None if str(len(lines)) == fields.get(_QUOTED) else lines
    return chosen


def _is_listed(fields: Mapping[str, str]) -> bool:
    """Whether there is something to pick from: of a quote as a whole, or of work."""
    in_part = any(text.strip() for name, text in fields.items() if name.startswith("part."))
    return not in_part and bool(fields.get("quoteId", "").strip() or "unbilled" in fields)


def _deciding(fields: Mapping[str, str]) -> str:
    return " ".join(f"{name}={fields[name]}" for name in _DECIDING if fields.get(name, "").strip())


def _kind(line: AsTold) -> str:
    return str(line["source"]["kind"]) if line["source"] else ""


def _group(
    name: str, kinds: tuple[str, ...], whole: AsTold, ticks: Mapping[str, str] | None
) -> tuple[str, list[Pick]] | None:
    found = [line for line in whole["lines"] if _kind(line) in kinds]
    names = [f"{_TICKED}{_kind(line)} {line['source']['id']}" for line in found]
    picks = [Pick(tick, line, ticks is None or tick in ticks) for tick, line in zip(names, found, strict=True)]
    return (name, picks) if picks else None
