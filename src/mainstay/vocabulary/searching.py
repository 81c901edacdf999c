"""Search in the records of one kind, without revealing words that the actor may not see."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mainstay.changes import search, search_words
from mainstay.changes.search import Condition
from mainstay.changes.search_words import RecordWords
from mainstay.infrastructure.database import DatabaseHandle, Value
from mainstay.values.search_words import SearchTerms, exact_number_word, parse_search
from mainstay.vocabulary.list_queries import SearchFields, Visibility
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.record_json import column_names
from mainstay.vocabulary.schemas import Output, StoredRecord


class SearchScope(NamedTuple):
    """Where a search looks: after which record, and whether it wants the newest matches first."""

    after: str | None = None
    is_newest_first: bool = False
    # What else must hold for each record: a statement from `FROM` on.
    rest_query: str = ""


class SearchPlan(NamedTuple):
    """A plan to find records by their words: a condition, or a statement for the ids of the newest ones."""

    condition: Condition
    lists_newest: bool = False
    # Whether it looks up the records of a word; otherwise it checks the words of each record.
    starts_from_words: bool = True
    # Whether it finds all records; otherwise only a page that it fills is right.
    is_complete: bool = True


class ListRequest(NamedTuple):
    """The request for a page: its order, after which record, the visibility, and the conditions."""

    order: str
    after: str | None
    visibility: Visibility | None
    conditions: tuple[str, ...]
    parameters: dict[str, Value]
    # Or the statement for the ids of all matches.
    newest_query: str = ""

    def narrow_by(self, plan: SearchPlan) -> "ListRequest":
        """Return the same request for the records that a search plan finds."""
        parameters = self.parameters | plan.condition.parameters
        if plan.lists_newest:
            return self._replace(newest_query=plan.condition.sql, parameters=parameters)
        return self._replace(conditions=(*self.conditions, plan.condition.sql), parameters=parameters)


def limit_parameters(needed: int) -> dict[str, Value]:
    """Return the parameters for the number of records needed, and of the newest ones with a word to look among."""
    return {"limit": needed, "among": _CANDIDATES_PER_RECORD * needed}


_CANDIDATES_PER_RECORD = 4


@dataclass(frozen=True)
class SearchIndex:
    """The search words of one kind of record, with this id prefix and table."""

    output: type[Output]
    prefix: str
    table: str
    search_fields: tuple[SearchFields, ...]

    def insert(self, db: DatabaseHandle, record: StoredRecord) -> None:
        """Store the search words of a new record."""
        if self.search_fields:
            search_words.insert_words(db, self.prefix, record.id, self.words_of(record))

    def save(self, db: DatabaseHandle, before: StoredRecord, after: StoredRecord, changed: Iterable[str]) -> None:
        """Update the search words of a record if columns have changed that they come from."""
        searched_columns = {column for by in self.search_fields for column in by.columns}
        if not searched_columns.isdisjoint(changed) and (words := self.words_of(after)) != self.words_of(before):
            search_words.update_words(db, self.prefix, after.id, words)

    def refresh(self, db: DatabaseHandle, record: StoredRecord) -> None:
        """Update the search words of a record from its current values."""
        search_words.update_words(db, self.prefix, record.id, self.words_of(record))

    def remove(self, db: DatabaseHandle, record: StoredRecord) -> None:
        """Delete the search words of a record."""
        if self.search_fields:
            search_words.update_words(db, self.prefix, record.id, RecordWords(frozenset()))

    def words_of(self, record: StoredRecord) -> RecordWords:
        """Return the search words of a record."""
        words = (self._extract_words(by, record) for by in self.search_fields)
        hidden = (self._hidden_words(by, record) for by in self.search_fields)
        return RecordWords(frozenset[str]().union(*words), frozenset[str]().union(*hidden))

    def plan_search(
        self,
        db: DatabaseHandle,
        text: str,
        visibility: Visibility | None,
        scope: SearchScope,
        can: Callable[[Permission], bool],
    ) -> Iterator[SearchPlan]:
        """Yield plans to find the records with these words. The last one finds all of them."""
        terms, id_column = parse_search(text), f"{self.table}.id"
        if terms is None:
            yield SearchPlan(Condition("1 = 0", {}), starts_from_words=False)
            return
        visible_words = self._visible_words_condition(db, terms, can)
        is_unrestricted = scope.is_newest_first and not (scope.rest_query or visible_words.sql)
        if is_unrestricted and (newest := search.newest_statement(db, self.prefix, terms, scope.after)):
            yield SearchPlan(newest, lists_newest=True)
            return
        # If few records have a word, they are looked up; if many have each word, each record is checked.
        rarest = search.find_rarest_word(db, self.prefix, terms, own_only=visibility is not None)
        if rarest is not None:
            yield SearchPlan(_combine(search.rarest_word_condition(id_column, self.prefix, rarest), visible_words))
            return
        # People who see many records see many of the newest with a word, so that a page of them is soon full.
        if scope.is_newest_first and scope.rest_query and _sees_many(db, visibility):
            rest = " AND ".join(filter(None, (scope.rest_query, visible_words.sql, id_column)))
            if newest := search.newest_statement(db, self.prefix, terms, scope.after, rest):
                yield SearchPlan(
                    newest._replace(parameters=newest.parameters | visible_words.parameters),
                    lists_newest=True,
                    is_complete=False,
                )
        yield SearchPlan(
            _combine(search.words_condition(id_column, self.prefix, terms), visible_words), starts_from_words=False
        )

    def _visible_words_condition(
        self, db: DatabaseHandle, terms: SearchTerms, can: Callable[[Permission], bool]
    ) -> Condition:
        """Return the condition that the words are visible to the actor: hidden values must not be found either."""
        if not all(map(can, self._permissions_by_column.values())) and search.has_hidden_words(db, self.prefix, terms):
            return search.words_condition(f"{self.table}.id", self.prefix, terms, visible_only=True)
        return Condition("", {})

    def find_by_number(self, db: DatabaseHandle, number: str) -> str | None:
        """Return the id of the only record with this number, with or without its zeros and letters; None if several."""
        word = exact_number_word(number)
        found = search.find_with_words(db, self.prefix, [word]) if word else []
        return found[0] if len(found) == 1 else None

    def _extract_words(
        self, fields: SearchFields, record: StoredRecord, excluded: Collection[str] = ()
    ) -> frozenset[str]:
        return fields.extract_words(
            *(None if column in excluded else self._value_of(record, column) for column in fields.columns)
        )

    def _hidden_words(self, fields: SearchFields, record: StoredRecord) -> frozenset[str]:
        """Return the words of a record that are only in columns which not everyone sees."""
        if not any(
            self._value_of(record, column) for column in self._permissions_by_column if column in fields.columns
        ):
            return frozenset()
        return self._extract_words(fields, record) - self._extract_words(
            fields, record, excluded=self._permissions_by_column
        )

    @cached_property
    def _permissions_by_column(self) -> dict[str, Permission]:
        """The permission for each search column that not everyone sees."""
        columns = {
            column: self.output.model_fields[column].metadata
            for fields in self.search_fields
            for column in fields.columns
        }
        return {
            column: mark.permission
            for column, marks in columns.items()
            for mark in marks
            if isinstance(mark, RequiresPermission)
        }

    def _value_of(self, record: StoredRecord, column: str) -> Value:
        return record.row[column_names(self.output).index(column)]


def _combine(first: Condition, second: Condition) -> Condition:
    return Condition(" AND ".join(filter(None, (first.sql, second.sql))), first.parameters | second.parameters)


def choose_visibility(db: DatabaseHandle, visibility: Visibility | None) -> Visibility | None:
    """Return the visibility for a list: if people see few records, these are looked up; otherwise each is checked."""
    if visibility is None or not visibility.ids_query:
        return visibility
    return visibility.checked_per_row if any(db.one(sql) for sql in visibility.count_statements) else visibility


def _sees_many(db: DatabaseHandle, visibility: Visibility | None) -> bool:
    if visibility and visibility.grant_table:
        return any(db.one(sql) for sql in visibility.count_statements)
    # If they see few, the ids are looked up; if they see many, each row is checked.
    return visibility is None or bool(visibility.row_condition and not visibility.ids_query)
