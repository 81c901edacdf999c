"""Other records that a form names: picked from a list where there are few, typed and found where there are many."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, get_args

from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.pages.asking import Asked, Choices, given
from mainstay.doors.pages.showing import Here
from mainstay.doors.pages.words import date_words
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Fault, Invalid, NotFound
from mainstay.values.ids import is_id
from mainstay.values.search import LONGEST_TEXT, MOST_WORDS

# A record, as an operation tells it.
AsTold = dict[str, Any]
# The kind of record that a field names, and the state in which it is then.
Meant = tuple[str, str | None]

# So many are listed to pick one from; of more, one is typed. So many are also read at once.
_LISTED = 100
# So many are listed to tick several of them; of more, nobody is asked.
_TICKED = 1000
_SEVERAL = "references"
_NAMED = 4
# What belongs to a customer is picked among what that one has.
_CUSTOMER = "customerId"
# Between what a record is called and what is told beside it, as it is where one picks it.
_BESIDE = " · "
_NOTHING: Mapping[str, str] = MappingProxyType({})
# What stands for a record that is named in a form and that one may not see.
_NOT_SHOWN = "(not shown to you)"
# And for what has an id and no record: a series of visits.
_NAMELESS = "this one"


@dataclass(frozen=True)
class References:
    """Finds them, as far as whoever fills in a form may see them."""

    desk: Desk

    async def offered(
        self, guest: Guest, asked: Sequence[Asked], fields: Mapping[str, str], record: AsTold | None
    ) -> tuple[list[Asked], dict[str, str]]:
        """The fields of a form with what can be picked, and what stands in them, with names in place of ids."""
        fields = unchanged(asked, fields)
        return await self._shown(guest, asked, fields, _customer(fields, record))

    async def narrowing(
        self, guest: Guest, asked: Sequence[Asked], words: Mapping[str, str]
    ) -> tuple[list[Asked], dict[str, str]]:
        """The same of what a list is narrowed by: the same can be picked of whichever customer it is."""
        return await self._shown(guest, asked, words, "")

    async def resolved(self, guest: Guest, asked: Sequence[Asked], fields: Mapping[str, str]) -> dict[str, str]:
        """The fields with an id wherever a record was typed; what is not clear is a fault that says what there is."""
        found, faults = unchanged(asked, fields), []
        found |= {one.name: guest.here.read_date(found[one.name]) for one in _dates(asked, found)}
        # First of which customer the others are.
        for one in sorted(_each(asked), key=lambda one: one.name != _CUSTOMER):
            typed = found.get(one.name, "").strip()
            if one.refers and one.kind == "reference" and typed and not is_id(typed, one.refers):
                narrowed = _narrowed(one.status) | _of_customer(found.get(_CUSTOMER, ""))
                try:
                    found[one.name] = await self.find(guest, one.refers, typed, narrowed)
                except ValueError as unclear:
                    faults.append(Fault(one.name, str(unclear)))
        if faults:
            raise Invalid(faults)
        return found

    async def answers(
        self, guest: Guest, asked: Sequence[Asked], fields: Mapping[str, str], record: AsTold | None = None
    ) -> tuple[dict[str, object], dict[str, str]]:
        """What was filled in, as an operation takes it; and the fields with an id wherever a record was typed."""
        fields = unchanged(asked, fields)
        picked = await self._picked(guest, asked, fields, _customer(fields, record))
        resolved = await self.resolved(guest, picked, fields)
        return given(picked, resolved, guest.here), resolved

    async def _shown(
        self, guest: Guest, asked: Sequence[Asked], fields: Mapping[str, str], customer: str
    ) -> tuple[list[Asked], dict[str, str]]:
        shown, written = await self._picked(guest, asked, fields, customer), dict(fields)
        for one in _each(shown):
            if one.kind == "reference" and not one.choices:
                written |= await self._written(guest, one, fields.get(one.name, ""))
        return [one.dated(guest.here) for one in shown], written | _dates_to_type(shown, fields, guest.here)

    async def _picked(
        self, guest: Guest, asked: Sequence[Asked], fields: Mapping[str, str], customer: str
    ) -> list[Asked]:
        """The fields of a form with what can be picked, and with what stands in them already."""
        lists = await self._lists(guest, asked, customer)
        return _with_choices(asked, lists, await self._beside(guest, asked, lists, fields))

    async def _lists(self, guest: Guest, asked: Sequence[Asked], customer: str) -> dict[Meant, Choices]:
        """What can be picked, by what is meant."""
        most: dict[Meant, int] = {}
        for one in _each(asked):
            if one.refers:
                meant = one.refers, one.status
                most[meant] = max(most.get(meant, 0), _TICKED if one.kind == _SEVERAL else _LISTED)
        return {meant: await self._choices(guest, meant, customer, most[meant]) for meant in most}

    async def _choices(self, guest: Guest, meant: Meant, customer: str, most: int) -> Choices:
        """All there are to pick from, where they are few: people, what one customer has, and what cannot be typed."""
        kind, status = meant
        lists = self.desk.catalogue.lists.get(kind)
        if lists is None or not guest.may(lists):
            return ()
        fields = lists.input.model_fields
        of_customer = _of_customer(customer) if "customer_id" in fields else {}
        if kind != "person" and not of_customer and "text" in fields:
            return ()
        orders = get_args(fields["order"].annotation) if "order" in fields else ()
        # What is to be paid has a date, all else need not.
        order = "due" if status and "due" in orders else "name" if "name" in orders else None
        given = {"limit": _LISTED, **_narrowed(status), **({"order": order} if order else {}), **of_customer}
        found: list[AsTold] = []
        while len(found) < most:
            page = await self.desk.perform(guest, lists, given)
            found += page["data"]
            if not page["hasMore"]:
                return [(record["id"], _offered(record, status, guest.here)) for record in found]
            given |= {"startingAfter": found[-1]["id"]}
        return ()

    async def _beside(
        self, guest: Guest, asked: Sequence[Asked], lists: Mapping[Meant, Choices], fields: Mapping[str, str]
    ) -> dict[str, Choices]:
        """What each field names that nobody could pick any more: who has left, what is archived."""
        beside: dict[str, Choices] = {}
        for one in _each(asked):
            if one.refers and (listed := {record for record, _ in lists[one.refers, one.status]}):
                named = [record for record in _named(one, one.refers, fields) if record not in listed]
                beside[one.name] = [(record, await self._called(guest, one.refers, record)) for record in named]
        return beside

    async def find(self, guest: Guest, kind: str, typed: str, narrowed: Mapping[str, str] = _NOTHING) -> str:
        """The id of the one record that was typed, alone or with what is told beside it; ValueError if none is clear.

        Where none is meant that is in this state, or of this customer, another may be: why that cannot be, whoever
        takes it knows best.
        """
        lists = self.desk.catalogue.lists.get(kind)
        words = typed.partition(_BESIDE)[0].split()[:MOST_WORDS]
        if lists is None or not guest.may(lists) or not words:
            raise ValueError("is not known here; type more of it")
        asked = {"limit": _LISTED, "text": " ".join(words)[:LONGEST_TEXT].strip()}
        known = {name: value for name, value in narrowed.items() if name in _names(lists)}
        try:
            page = await self.desk.perform(guest, lists, asked | known)
            if known and not page["data"]:
                page = await self.desk.perform(guest, lists, asked)
        except Invalid:
            raise ValueError("is not known here; type more of it") from None
        hits = {hit["id"]: (title_of(hit), _told_apart(hit)) for hit in page["data"]}
        same = {one: called for one, called in hits.items() if typed.casefold() in map(str.casefold, called)} or hits
        if len(same) == 1:
            return str(next(iter(same)))
        if not same:
            raise ValueError("was not found; look whether it is written so")
        names = "; ".join(apart for _, apart in list(same.values())[:_NAMED])
        raise ValueError(
            f"could be one of several: {names}{' and more' if len(same) > _NAMED else ''}. Type more of it"
        )

    async def _written(self, guest: Guest, one: Asked, text: str) -> dict[str, str]:
        """A record by what people call it, and beside it which one that is; what is no id stays as it was typed."""
        if not one.refers or not is_id(text, one.refers):
            return {one.name: text}
        called = await self._called(guest, one.refers, text)
        return {one.name: called, one.as_shown: f"{text} {called}"}

    async def _called(self, guest: Guest, kind: str, identity: str) -> str:
        """What people call a record."""
        gets = self.desk.catalogue.gets.get(kind)
        if gets is None:
            return _NAMELESS
        if not guest.may(gets):
            return _NOT_SHOWN
        try:
            return title_of(await self.desk.get(guest, identity))
        except NotFound:
            return _NOT_SHOWN


def _dates_to_type(asked: Sequence[Asked], fields: Mapping[str, str], here: Here) -> dict[str, str]:
    """The dates among the fields of a form as people type them, wherever they came from."""
    dates = {one.name: here.date_to_type(here.read_date(fields[one.name])) for one in _dates(asked, fields)}
    timed = (one for one in _each(asked) if one.kind == "wall" and fields.get(one.name))
    return dates | {one.name: here.time_to_type(here.read_time(fields[one.name])) for one in timed}


def _dates(asked: Sequence[Asked], fields: Mapping[str, str]) -> list[Asked]:
    return [one for one in _each(asked) if one.kind == "date" and fields.get(one.name)]


def unchanged(asked: Sequence[Asked], fields: Mapping[str, str]) -> dict[str, str]:
    """The fields with the id of each record that is called as it was shown.

    Its name alone would not tell which one it is: another may be called the same, and it may be archived by now.
    """
    kept = dict(fields)
    for one in _each(asked):
        record, _, called = kept.pop(one.as_shown, "").partition(" ")
        if one.refers and is_id(record, one.refers) and kept.get(one.name, "").strip() == called.strip():
            kept[one.name] = record
    return kept


def _customer(fields: Mapping[str, str], record: AsTold | None) -> str:
    """Of which customer what belongs to one is picked: the one that is filled in, or that of the record."""
    return str(fields.get(_CUSTOMER) or (record or {}).get(_CUSTOMER) or "")


def _with_choices(asked: Sequence[Asked], lists: Mapping[Meant, Choices], beside: Mapping[str, Choices]) -> list[Asked]:
    """The fields with what can be picked; several that cannot be picked are not asked for and stay as they are."""
    shown = []
    for one in asked:
        choices = lists.get((one.refers or "", one.status), ())
        if one.kind == _SEVERAL and not choices:
            continue
        if one.kind != _SEVERAL and len(choices) > _LISTED:
            choices = ()
        if choices:
            choices = [*choices, *beside[one.name]]
        lines = tuple(tuple(_with_choices(line, lists, beside)) for line in one.lines)
        shown.append(replace(one, choices=choices or one.choices, lines=lines))
    return shown


def _named(one: Asked, kind: str, fields: Mapping[str, str]) -> list[str]:
    """The ids that stand in a field: of several, those that are ticked."""
    if one.kind == _SEVERAL:
        ticked = (name.removeprefix(f"{one.name} ") for name in fields if name.startswith(f"{one.name} "))
        return [record for record in ticked if is_id(record, kind)][:_LISTED]
    text = fields.get(one.name, "")
    return [text] if is_id(text, kind) else []


def title_of(record: AsTold) -> str:
    """What people call a record."""
    named = [record.get("number") or record.get("code"), record.get("title") or record.get("name")]
    if not named[1]:
        # What is bought is called after whom it is bought from.
        named = [record.get("supplierName"), record.get("supplierNumber") or named[0]]
    return " ".join(str(part) for part in named if part) or str(record.get("customerName") or record["id"])


def detail_of(record: AsTold, here: Here) -> str:
    """Whose a record is; and what is to be paid of it, and when, if that is known."""
    return _BESIDE.join(filter(None, (record.get("customerName"), _to_pay(record, here))))


def _told_apart(record: AsTold) -> str:
    """What people call a record, and by what it is told from others that are called the same."""
    beside = record.get("customerName") or record.get("phone") or record.get("email")
    return f"{title_of(record)}{_BESIDE}{beside}" if beside else title_of(record)


def _to_pay(record: AsTold, here: Here) -> str:
    if not record.get("due") or not record["dueOn"]:
        return ""
    return f"{here.money(record['due'])} {record['currency']}, due {date_words(record['dueOn'])}"


def _offered(record: AsTold, status: str | None, here: Here) -> str:
    """What a record is called where it is picked; of what is to be paid, how much comes before what it is for."""
    told = _to_pay(record, here) if status else ""
    return _BESIDE.join(filter(None, (record["number"], told, record["title"]))) if told else title_of(record)


def _narrowed(status: str | None) -> dict[str, str]:
    return {"status": status} if status else {}


def _of_customer(customer: str) -> dict[str, str]:
    return {_CUSTOMER: customer} if is_id(customer, "customer") else {}


def _names(lists: Operation) -> set[str]:
    """What a list can be narrowed by."""
    return {field.alias or name for name, field in lists.input.model_fields.items()}


def _each(asked: Sequence[Asked]) -> Iterator[Asked]:
    """Every field, also those of rows."""
    return (part for field in asked for part in (field, *chain.from_iterable(field.lines)))
