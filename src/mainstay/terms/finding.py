"""What records of one kind are found by: their words, and those of them that give nothing away to whoever asks."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mainstay.backing.database import Handle, Value
from mainstay.ledger import search, words
from mainstay.ledger.search import Condition
from mainstay.ledger.words import Words
from mainstay.terms.listed import FoundBy, Own
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Shown
from mainstay.terms.wire import column_names
from mainstay.values.search import Sought, looked_for, marked_number


class Reach(NamedTuple):
    """What a page is looked for among: records behind one, and whether they are the newest of all that will do."""

    after: str | None = None
    newest: bool = False
    # What else must hold of each: a statement without what it selects.
    rest: str = ""


class Way(NamedTuple):
    """A way to the records with such words: a condition on them, or the statement for the ids of the newest."""

    found: Condition
    newest: bool = False
    # Whether the words say which records are looked at at all; else each is asked for its words.
    driven: bool = True
    # Whether it leaves none out; else only a page that it fills is right.
    whole: bool = True


class Asking(NamedTuple):
    """What a page is asked for by: its order, behind which record, whose sight, and what holds of each record."""

    order: str
    after: str | None
    own: Own | None
    conditions: tuple[str, ...]
    bound: dict[str, Value]
    # Or the statement for the ids of all that will do.
    newest: str = ""

    def by(self, way: Way) -> "Asking":
        """The same of the records that are found in a way."""
        bound = self.bound | way.found.bound
        if way.newest:
            return self._replace(newest=way.found.condition, bound=bound)
        return self._replace(conditions=(*self.conditions, way.found.condition), bound=bound)


def limited(needed: int) -> dict[str, Value]:
    """How many records are needed, and among how many of the newest with a word they are looked for."""
    return {"limit": needed, "among": _FOR_EACH * needed}


_FOR_EACH = 4


@dataclass(frozen=True)
class Finding:
    """The words of one kind of record, whose ids have this prefix and whose table this name."""

    shown: type[Shown]
    prefix: str
    table: str
    found_by: tuple[FoundBy, ...]

    def insert(self, rows: Handle, record: Kept) -> None:
        """Let a new record be found."""
        if self.found_by:
            words.begin(rows, self.prefix, record.id, self.said(record))

    def save(self, rows: Handle, before: Kept, after: Kept, changed: Iterable[str]) -> None:
        """Let a record whose columns have changed be found by what they say now."""
        told = {column for by in self.found_by for column in by.columns}
        if not told.isdisjoint(changed) and (said := self.said(after)) != self.said(before):
            words.renew(rows, self.prefix, after.id, said)

    def renew(self, rows: Handle, record: Kept) -> None:
        """Let a record be found by what is known of it now, whatever it was found by before."""
        words.renew(rows, self.prefix, record.id, self.said(record))

    def remove(self, rows: Handle, record: Kept) -> None:
        """Let a record be found no longer."""
        if self.found_by:
            words.renew(rows, self.prefix, record.id, Words(frozenset()))

    def said(self, record: Kept) -> Words:
        """The words that a record is to be found by."""
        every = (self._words(by, record) for by in self.found_by)
        hidden = (self._hidden_words(by, record) for by in self.found_by)
        return Words(frozenset[str]().union(*every), frozenset[str]().union(*hidden))

    def ways(
        self, rows: Handle, text: str, own: Own | None, span: Reach, may: Callable[[Right], bool]
    ) -> Iterator[Way]:
        """The ways to the records with such words; the last one leaves none out."""
        sought, identity = looked_for(text), f"{self.table}.id"
        if sought is None:
            yield Way(Condition("1 = 0", {}), driven=False)
            return
        openly = self._openly(rows, sought, may)
        plain = span.newest and not (span.rest or openly.condition)
        if plain and (newest := search.newest(rows, self.prefix, sought, span.after)):
            yield Way(newest, newest=True)
            return
        # What few records have says which; where many have it, each is asked for its words.
        driver = search.driver(rows, self.prefix, sought, own=own is not None)
        if driver is not None:
            yield Way(_both(search.driven(identity, self.prefix, driver), openly))
            return
        # Whoever sees many sees many of the newest with a word, so that a page of them is soon found.
        if span.newest and span.rest and _sees_many(rows, own):
            rest = " AND ".join(filter(None, (span.rest, openly.condition, identity)))
            if newest := search.newest(rows, self.prefix, sought, span.after, rest):
                yield Way(newest._replace(bound=newest.bound | openly.bound), newest=True, whole=False)
        yield Way(_both(search.having(identity, self.prefix, sought), openly), driven=False)

    def _openly(self, rows: Handle, sought: Sought, may: Callable[[Right], bool]) -> Condition:
        """What someone is not shown does not give itself away by what it is found by either."""
        if not all(map(may, self._needed.values())) and search.is_hidden(rows, self.prefix, sought):
            return search.having(f"{self.table}.id", self.prefix, sought, openly=True)
        return Condition("", {})

    def numbered(self, rows: Handle, number: str) -> str | None:
        """The id of the one record whose number this is, without its zeros or letters; None if several could be."""
        marked = marked_number(number)
        found = search.with_any(rows, self.prefix, [marked]) if marked else []
        return found[0] if len(found) == 1 else None

    def _words(self, by: FoundBy, record: Kept, but: Collection[str] = ()) -> frozenset[str]:
        return by.words(*(None if column in but else self._told(record, column) for column in by.columns))

    def _hidden_words(self, by: FoundBy, record: Kept) -> frozenset[str]:
        """The words that stand in nothing of a record that everyone is shown."""
        if not any(self._told(record, column) for column in self._needed if column in by.columns):
            return frozenset()
        return self._words(by, record) - self._words(by, record, but=self._needed)

    @cached_property
    def _needed(self) -> dict[str, Right]:
        """The columns that records are found by and not everyone is shown, and what one needs for each."""
        columns = {column: self.shown.model_fields[column].metadata for by in self.found_by for column in by.columns}
        return {column: needs.right for column, marks in columns.items() for needs in marks if isinstance(needs, Needs)}

    def _told(self, record: Kept, column: str) -> Value:
        return record.row[column_names(self.shown).index(column)]


def _both(one: Condition, other: Condition) -> Condition:
    return Condition(" AND ".join(filter(None, (one.condition, other.condition))), one.bound | other.bound)


def sight_of_many(rows: Handle, own: Own | None) -> Own | None:
    """What limits someone in a list: what is theirs is looked up if it is little, and else asked of each record."""
    if own is None or not own.within:
        return own
    return own.asked_of_each if any(rows.one(sql) for sql in own.many) else own


def _sees_many(rows: Handle, own: Own | None) -> bool:
    if own and own.granted:
        return any(rows.one(sql) for sql in own.many)
    # Of few, the ids are looked up; of many, each row is asked.
    return own is None or bool(own.each and not own.within)
