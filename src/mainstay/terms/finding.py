"""What records of one kind are found by: their words, and those of them that give nothing away to whoever asks."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from mainstay.backing.database import Handle, Value
from mainstay.ledger import search as words
from mainstay.ledger.search import Narrowed, Span
from mainstay.terms.listed import FoundBy, Own
from mainstay.terms.rights import Needs, Right
from mainstay.terms.shapes import Kept, Shown
from mainstay.terms.wire import column_names
from mainstay.values.search import looked_for, marked_number


@dataclass(frozen=True)
class Finding:
    """The words of one kind of record, whose ids have this prefix and whose table this name."""

    shown: type[Shown]
    prefix: str
    table: str
    found_by: tuple[FoundBy, ...]

    def insert(self, rows: Handle, record: Kept) -> None:
        """Let a new record be found."""
        for by in self.found_by:
            words.write(rows, self.prefix, record.id, self._words(by, record))
            words.write(rows, words.hidden(self.prefix), record.id, self._hidden_words(by, record))

    def save(self, rows: Handle, before: Kept, after: Kept, changed: Iterable[str]) -> None:
        """Let a record whose columns have changed be found by what they say now."""
        for by in self.found_by:
            if not set(by.columns).isdisjoint(changed):
                words.rewrite(rows, self.prefix, after.id, self._words(by, before), self._words(by, after))
                hidden = self._hidden_words(by, before), self._hidden_words(by, after)
                words.rewrite(rows, words.hidden(self.prefix), after.id, *hidden)

    def renew(self, rows: Handle, record: Kept) -> None:
        """Let a record be found by what is known of it now, whatever it was found by before."""
        for kind, said in self.said(record).items():
            words.renew(rows, kind, record.id, said)

    def said(self, record: Kept) -> dict[str, frozenset[str]]:
        """The words that a record is to be found by, under the kind of each."""
        found_by = [self._words(by, record) for by in self.found_by]
        hidden = [self._hidden_words(by, record) for by in self.found_by]
        return {
            self.prefix: frozenset[str]().union(*found_by),
            words.hidden(self.prefix): frozenset[str]().union(*hidden),
        }

    def narrowed(
        self, rows: Handle, text: str, own: Own | None, span: Span, may: Callable[[Right], bool]
    ) -> tuple[Narrowed, bool]:
        """What narrows a page to the records with such words; and whether the words say which are looked at at all."""
        sought, identity = looked_for(text), f"{self.table}.id"
        if sought is None:
            return Narrowed("1 = 0", {}), False
        # What few records have says which; where many have it, each is asked for its words.
        driver = words.driver(rows, self.prefix, sought, span, own=own is not None)
        driven = driver is not None
        if driver is not None:
            found = words.driven(identity, self.prefix, driver, span)
        else:
            found = words.having(identity, self.prefix, sought)
        conditions, bound = [found.condition], found.bound
        if own and own.granted and not driven:
            conditions.append(own.reach(self.table, " AND id < :after" if span.after else ""))
        if not all(map(may, self._needed.values())) and words.is_hidden(rows, self.prefix, sought):
            # What someone is not shown does not give itself away by what it is found by either.
            openly = words.having(identity, self.prefix, sought, openly=True)
            conditions, bound = [*conditions, openly.condition], bound | openly.bound
        return Narrowed(" AND ".join(conditions), bound), driven

    def numbered(self, rows: Handle, number: str) -> str | None:
        """The id of the one record whose number this is, without its zeros or letters; None if several could be."""
        marked = marked_number(number)
        found = words.with_any(rows, self.prefix, [marked]) if marked else []
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
