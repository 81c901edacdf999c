"""The lines of a supplier's bill, changed together: what they come to has to be what the bill says."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.purchasing.bills import update_bill
from mainstay.doors.http import Response
from mainstay.doors.office import bill_rows
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.desk import AS_LEFT, Desk, Guest, seen_version, status_of, wrong
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.asking import Asked, asked_of, filled, given, ways_to
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.meanwhile import SHOWN, Fields, Overtaken, Seen, labelled, marks, parts_of
from mainstay.doors.pages.render import see_other
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Fault, Invalid, Refusal, Stale

RATES = 100
# So many lines can be typed at once; more are there when these are full.
SPARE = 4
# What is asked beside the lines.
_ASKED = ("total", "allowOverbilling")


@dataclass(frozen=True)
class BillLines:
    """The page."""

    desk: Desk
    of: Arrangement

    def routes(self) -> list[Route]:
        """Where it is."""
        enter, path = self.desk.signed_in, f"{self.of.path_of('{id}')}/lines"
        return [Route("GET", path, enter(self.show)), Route("POST", path, enter(self.save))]

    async def show(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The lines as they are."""
        admit(update_bill, guest.actor)
        bill = await self.desk.get(guest, at["id"])
        begun = filled(_asked(guest), bill, guest.here) | bill_rows.of_bill(bill["lines"], guest.here)
        return await self._form(guest, bill, guest.typed or {**begun, SHOWN: marks(_parts(guest, begun))})

    async def save(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """Save what was typed, or show more lines to type."""
        fields = await self.desk.form(guest)
        guest = guest.sending(fields)
        admit(update_bill, guest.actor)
        bill = await self.desk.get(guest, at["id"])
        if fields.get("do") == "more":
            return await self._form(guest, bill, fields, spare=2 * SPARE)
        found = bill_rows.edits_of(bill["lines"], bill_rows.typed_in(fields), guest.here)
        sent = given(_asked(guest), fields, guest.here)
        changed = {"billId": bill["id"], **sent, **({"edits": [edit for _, edit in found]} if found else {})}
        try:
            await self.desk.perform(guest, update_bill, changed, seen_version(fields))
        except Stale:
            return await self._form(guest, bill, *_overtaken(guest, bill, fields))
        except Refusal as refusal:
            told = _beside_rows(refusal, [place for place, _ in found])
            return await self._form(guest, bill, fields, told)
        return see_other(f"{self.of.path_of(bill['id'])}?done={update_bill.name}")

    async def _form(
        self,
        guest: Guest,
        bill: AsTold,
        fields: Mapping[str, str],
        refusal: Refusal | None = None,
        spare: int = SPARE,
    ) -> Response:
        shown, asked = wrong(refusal), _asked(guest)
        rates = await self.desk.perform(guest, list_tax_rates, {"limit": RATES})
        return self.desk.page(
            "bill_lines.html",
            guest,
            status_of(refusal),
            of=self.of,
            bill=bill,
            called=self.of.called(bill),
            path=self.of.path_of(bill["id"]),
            asked=asked,
            fields=defaultdict(str, fields),
            rows=[*bill_rows.typed_in(fields), *(bill_rows.blank() for _ in range(spare))],
            rates=[(rate["id"], rate["name"]) for rate in rates["data"]],
            version=fields.get("version", bill["version"]),
            notice=AS_LEFT if guest.typed else None,
            ways=ways_to(asked, shown.get("faults", {})),
            **shown,
        )


def _asked(guest: Guest) -> Sequence[Asked]:
    return [one for one in asked_of(update_bill, guest.actor.rights) if one.name in _ASKED]


def _parts(guest: Guest, fields: Fields) -> dict[str, Fields]:
    """What is asked beside the lines; and the lines, of which each is changed as one, by their ids."""
    rows = {row["lineId"]: row for row in bill_rows.typed_in(fields) if row["lineId"]}
    return {**parts_of(_asked(guest), fields), **rows}


def _overtaken(guest: Guest, bill: AsTold, fields: Fields) -> tuple[dict[str, str], Overtaken]:
    """The form of a bill that someone has changed meanwhile, with what they changed; and what is said of it."""
    rows = bill_rows.of_bill(bill["lines"], guest.here)
    own, now = _parts(guest, fields), _parts(guest, filled(_asked(guest), bill, guest.here) | rows)
    seen = Seen(fields)
    again = seen.merged(own, now)
    numbers = {line["id"]: f"line {number}" for number, line in enumerate(bill["lines"], start=1)}
    both = [*labelled(_asked(guest), again.both), *(numbers[name] for name in again.both if name in numbers)]
    gone = [row["description"] for name, row in own.items() if name not in now and not seen.has(name, row)]
    new = [row for row in bill_rows.typed_in(fields) if not row["lineId"]]
    beside = {name: text for one in _asked(guest) for name, text in again.parts[one.name].items()}
    lines = bill_rows.named([*(again.parts[line] for line in numbers), *new])
    return {**beside, **lines, SHOWN: marks(now), "version": str(bill["version"])}, Overtaken(both, gone)


def _beside_rows(refusal: Refusal, places: Sequence[int]) -> Refusal:
    """What is wrong with an edit, told beside the row that it is of."""
    if not isinstance(refusal, Invalid):
        return refusal
    return Invalid([_beside_row(fault, places) for fault in refusal.faults], refusal.text)


def _beside_row(fault: Fault, places: Sequence[int]) -> Fault:
    name, _, rest = fault.field.partition(".")
    number, _, of_line = rest.partition(".")
    if name != "edits" or not number.isdecimal() or int(number) >= len(places):
        return fault
    return replace(fault, field=f"lines.{places[int(number)]}.{of_line or 'description'}")
