"""The ways from a record to those that it names, for those who are let in there."""

from collections.abc import Iterable

from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.showing import Cell
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import NotFound


async def with_ways(desk: Desk, guest: Guest, record: AsTold, facts: Iterable[Cell]) -> list[Cell]:
    """The facts of a record, each that names another with the way there."""
    return [fact._replace(to=await _way_to(desk, guest, record, fact.name)) for fact in facts]


async def _way_to(desk: Desk, guest: Guest, record: AsTold, name: str) -> str:
    """Where the record is that a field names: the customer of `customerName`; empty where they are not let in."""
    named = record.get(f"{name.removesuffix('Name')}Id") if name.endswith("Name") else None
    gets = desk.catalogue.gets.get(named.partition("_")[0]) if named else None
    if named is None or gets is None or gets.output.place is None or not await _is_shown(desk, guest, gets, named):
        return ""
    return gets.output.place.format(id=named)


async def _is_shown(desk: Desk, guest: Guest, gets: Operation, named: str) -> bool:
    if not guest.may(gets):
        return False
    own = gets.on.own if gets.on else None
    if own is None or own.for_those_who(guest.actor.may) is None:
        return True
    try:
        await desk.get(guest, named)
    except NotFound:
        return False
    return True
