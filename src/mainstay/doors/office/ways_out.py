"""What clears the way for something that was refused, as far as whoever asked may do it now.

A rule names the operations that would; where each is done follows from its declaration: on the page of the record that
was asked about, on that of another one which the record names, in a list of such records, or where one is made.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.review import review_hours, submit_hours
from mainstay.business.hours.timers import stop_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.schedule.free_time import find_free_time
from mainstay.doors.office import frame
from mainstay.doors.office.arrangement import Action, Arrangement, action_at, label_elsewhere, label_of_new
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.asking import asked_of
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import NotFound
from mainstay.values.words import words_of

# What is done to records that it does not name one by one: where they are listed.
_AMONG = {stop_timer: list_hours}
# What is done or seen on a page that no record has: where that is. The books are opened where they are closed.
_PAGES = {
    submit_hours: "/hours/week",
    review_hours: "/hours/approve",
    find_free_time: "/schedule/free",
    update_settings: "/settings/documents/edit",
}
# Where each kind of record is made.
_MAKES = {area.operation: area.path for area in frame.NEW if area.operation}


@dataclass(frozen=True)
class WaysOut:
    """Finds them, for what was to be done to a record of one kind, or to none yet."""

    desk: Desk
    of: Arrangement

    async def shown(
        self, guest: Guest, refused: Operation, unblocks: Iterable[tuple[str, str | None]], record: AsTold | None
    ) -> list[Action]:
        """Each once, with its address, but for what was refused itself: its form is at hand."""
        found: dict[str, Action] = {}
        for name, at in unblocks:
            operation = self.desk.operations[name]
            possible = guest.may(operation) and (at or operation is not refused)
            ways = await self._ways(guest, operation, at, record) if possible else ()
            found |= {way.path: way for way in ways if way}
        return list(found.values())

    async def _ways(
        self, guest: Guest, operation: Operation, at: str | None, record: AsTold | None
    ) -> Sequence[Action | None]:
        if at:
            return [await self._there(guest, operation, at)]
        if record is not None and operation.name in record["availableActions"]:
            leading = self.of.leading.get(operation.name)
            return leading(record) if leading else self.of.doing(operation, record)
        if operation in _PAGES:
            return [Action(words_of(operation.name), _PAGES[operation])]
        if operation.on is None or not operation.changes:
            return [self._on_none(guest, operation, record)]
        if record is None or operation.on.shown.noun != self.of.gets.output.noun:
            return [await self._on_another(guest, operation, record)]
        # It can be done to another one of the kind, such as to make a second owner.
        return [self._listed(guest, self.of.lists, None)]

    def _on_none(self, guest: Guest, operation: Operation, record: AsTold | None) -> Action | None:
        """What is done to no record that is there already; one that is only looked at has its page to go back to."""
        if operation in _AMONG or operation.lists:
            return self._listed(guest, _AMONG.get(operation, operation), record)
        made = _MAKES.get(operation)
        return Action(label_of_new(operation), _with(made, guest, operation, self.of, record)) if made else None

    async def _on_another(self, guest: Guest, operation: Operation, record: AsTold | None) -> Action | None:
        """What is done to another record: to the one that the record names, or to one of those that belong to it."""
        listing = operation.on
        named = record.get(_alias(operation)) if record and listing and listing.id_field else None
        if not named:
            return self._listed(guest, self.desk.catalogue.lists.get(listing.prefix) if listing else None, record)
        return await self._there(guest, operation, named)

    async def _there(self, guest: Guest, operation: Operation, at: str) -> Action | None:
        """What is done to another record, or shows it, where whoever asks can do that; one of the kind is named."""
        try:
            other = await self.desk.get(guest, at)
        except NotFound:
            return None
        if operation.changes and operation.name not in other["availableActions"]:
            return None
        place = self.desk.place_of(at)
        way = action_at(operation, place) if operation.changes else Action("See", place)
        of_the_kind = other["object"] == self.of.gets.output.noun
        called = f"{way.label} {self.of.called_here(other, guest.here)}" if of_the_kind else label_elsewhere(operation)
        return way._replace(label=called)

    def _listed(self, guest: Guest, lists: Operation | None, record: AsTold | None) -> Action | None:
        """The list in which one sees it, narrowed to what belongs to the record."""
        if lists is None or lists.output.place is None or not guest.may(lists):
            return None
        path = lists.output.place.removesuffix("/{id}")
        return Action(words_of(lists.name.replace("list_", "see_", 1)), _with(path, guest, lists, self.of, record))


def is_done_somewhere(operation: Operation) -> bool:
    """Whether there is an address for it, for those who may do it."""
    if operation in _PAGES or operation in _AMONG or operation in _MAKES:
        return True
    shown = operation.on.shown if operation.on and operation.changes else operation.output
    return shown.place is not None and (operation.changes or operation.lists)


def _alias(operation: Operation) -> str:
    """The field that names the record an operation is done to, as JSON has it."""
    name = operation.on.id_field if operation.on else None
    return (operation.input.model_fields[name].alias or name) if name else ""


def _with(path: str, guest: Guest, operation: Operation, of: Arrangement, record: AsTold | None) -> str:
    """An address with what is known of a record: which one it is, and the other records that it names."""
    if record is None:
        return path
    known = {**record, _alias(of.gets): record["id"]}
    asked = (one for one in asked_of(operation, guest.actor.rights) if one.refers and known.get(one.name))
    # A list is narrowed to what belongs to this record, not to all that belongs to the same ones.
    told = {one.name: known[one.name] for one in asked if not operation.lists or one.name == _alias(of.gets)}
    return f"{path}?{urlencode(told)}" if told else path
