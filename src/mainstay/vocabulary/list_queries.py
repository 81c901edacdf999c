"""How lists are filtered, ordered and limited to what people may see, and the SQL statements for that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mainstay.vocabulary.permissions import Permission

NEWEST = "newest"
# Lists are counted up to this number.
COUNT_LIMIT = 100
# If people see fewer records than this, these are looked up and sorted.
LOOKUP_LIMIT = 400


@dataclass(frozen=True, slots=True)
class ListOrder:
    """An order of a list: by a column, then by id."""

    column: str
    descending: bool = False
    # If the column can be null, the list leaves out records without it: the label of what they lack.
    missing_label: str = ""
    # Whether to walk along an index in this order. The few records that a search found are sorted instead.
    uses_index: bool = True


@dataclass(frozen=True, slots=True)
class Visibility:
    """Which records people see who may not see all of them, given in one of three ways."""

    # They see the rows with their own id in this column.
    column: str = ""
    # With this permission, people see all rows.
    unrestricted_with: Permission = field(kw_only=True)
    # Or they see the rows with the ids that a statement about `:me` returns; and the same as a condition on a row. If
    # these are few, they are looked up and sorted. If they are many, most rows are among them, so each row is checked.
    ids_query: str = field(default="", kw_only=True)
    row_condition: str = field(default="", kw_only=True)
    # A cheaper statement to count first: the rows that link people to these records, which are many if those are many.
    count_query: str = field(default="", kw_only=True)
    # Or a table has one row for each person and record that the person sees, with the id of the record and copies of
    # the columns that filter and order lists, under the same names. A page starts there, so its cost does not grow.
    grant_table: str = field(default="", kw_only=True)
    copied_columns: tuple[str, ...] = field(default=(), kw_only=True)
    # With this permission, people see a part of the other rows too.
    partial_with: Permission | None = field(default=None, kw_only=True)
    # What people see who lack another permission too.
    narrower: "Visibility | None" = field(default=None, kw_only=True)

    def restrict_for(self, can: Callable[[Permission], bool]) -> "Visibility | None":
        """Return what limits people with these permissions; None if nothing does."""
        if can(self.unrestricted_with):
            return None
        return self.narrower.restrict_for(can) or self if self.narrower else self

    def find_redundant_filters(
        self, filters: Mapping[str, object], can: Callable[[Permission], bool]
    ) -> frozenset[str]:
        """Return the filters that change nothing, because people with these permissions see only their own anyway."""
        restricted = self.restrict_for(can)
        if restricted is None or not restricted.column or (restricted.partial_with and can(restricted.partial_with)):
            return frozenset()
        return frozenset(name for name, condition in filters.items() if condition == f"{restricted.column} = :{name}")

    def condition_for(self, table: str) -> str:
        """Return the condition for rows of this table that they see."""
        if self.grant_table:
            is_granted = f"organisation_id = :organisation AND person_id = :me AND id = {table}.id"
            return f"EXISTS (SELECT 1 FROM {self.grant_table} WHERE {is_granted})"
        if self.ids_query:
            return f"{table}.id IN ({self.ids_query})"
        return self.row_condition or f"{self.column} = :me"

    @property
    def count_statements(self) -> list[str]:
        """The statements, the cheapest first; one of them returns a row if they see many records."""
        granted_ids = f"SELECT id FROM {self.grant_table} WHERE organisation_id = :organisation AND person_id = :me"
        queries = dict.fromkeys((self.count_query, self.ids_query))
        id_statements = [granted_ids] if self.grant_table else filter(None, queries)
        return [f"{statement} LIMIT 1 OFFSET {LOOKUP_LIMIT - 1}" for statement in id_statements]

    @property
    def checked_per_row(self) -> "Visibility":
        """The same visibility, with a check of each row instead of a look-up of ids."""
        return replace(self, ids_query="") if self.ids_query else self


@dataclass(frozen=True, slots=True)
class SearchFields:
    """The columns that a search looks in, and the function that takes the search words out of their values.

    No other columns give the same words, because the words are updated only if one of these columns changes.
    """

    columns: tuple[str, ...]
    extract_words: Callable[..., frozenset[str]]


class ListSql(NamedTuple):
    """The statements for a page of a list, and for the number of records in the list."""

    page_sql: str
    count_sql: str


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Builds the statements for lists of the records in a table."""

    table: str
    source: str
    tenant_column: str

    def from_clause(self, narrowing: Sequence[str], visibility: Visibility | None) -> str:
        """Return the statement, from `FROM` on, for the visible records that meet these conditions."""
        return f"FROM {self._source_for(visibility)} WHERE {' AND '.join(self._conditions_for(narrowing, visibility))}"

    def page_statements(
        self,
        selected: str,
        narrowing: Sequence[str],
        order: ListOrder,
        visibility: Visibility | None,
        *,
        is_next_page: bool,
    ) -> ListSql:
        """Return the statements for the selected columns of the visible records that meet these conditions."""
        has_grants = visibility is not None and bool(visibility.grant_table)
        # Without an index this is a condition on an expression, so that no index is used; see `_page_sql`.
        sort_value = f"{self.table}.{order.column}" if order.uses_index else f"({self.table}.{order.column} || '')"
        present = [f"{sort_value} IS NOT NULL"] if order.missing_label else []
        conditions = [*self._conditions_for(narrowing, visibility), *present]
        if not has_grants and order.uses_index:
            page = self._page_sql(selected, self.source, conditions, order, is_next_page=is_next_page)
            return ListSql(page, self._count_sql(self.source, conditions, order))
        # The page is first cut by keys only, and then its records are fetched. The grant table, if there is one, takes
        # the place and the name of the table until then. Sorting also gains: many records may match, a page shows few.
        source = self._source_for(visibility)
        keys = [order.column] if order.column == "id" else [order.column, "id"]
        # `version` is in no index. Without it, an index that has the other columns would be read instead.
        columns = keys if has_grants else [*keys, "version"]
        cut = self._page_sql(
            ", ".join(f"{self.table}.{key}" for key in columns), source, conditions, order, is_next_page=is_next_page
        )
        direction = " DESC" if order.descending else ""
        page = self._fetch_page_sql(selected, cut, [f"cut.{key}{direction}" for key in keys])
        return ListSql(page, self._count_sql(source, conditions, order))

    def sum_statement(
        self, columns: Sequence[str], narrowing: Sequence[str], order: ListOrder, visibility: Visibility | None
    ) -> str:
        """Return the statement for the number of records and the sum of each column, along the index of the order."""
        names = [f"summed_{position}" for position in range(len(columns))]
        selected = ", ".join(f"{column} AS {name}" for column, name in zip(columns, names, strict=True))
        present = [f"{self.table}.{order.column} IS NOT NULL"] if order.missing_label else []
        conditions = [*self._conditions_for(narrowing, visibility), *present]
        sums = ", ".join(f"CAST(coalesce(sum({name}), 0) AS bigint)" for name in names)
        return (
            f"SELECT count(*), {sums} FROM"
            f" ({self._first_rows_sql(selected, self._source_for(visibility), conditions, order)}) AS found"
        )

    def newest_statements(self, selected: str, ids: str) -> ListSql:
        """Return the statements for the newest of these ids, which can repeat and are all visible."""
        distinct_ids = f"SELECT DISTINCT id FROM ({ids}) AS found"
        page = self._fetch_page_sql(selected, f"{distinct_ids} ORDER BY id DESC LIMIT :limit", ["cut.id DESC"])
        return ListSql(page, f"SELECT count(*) FROM ({distinct_ids} LIMIT :limit) AS counted")

    def _fetch_page_sql(self, selected: str, cut: str, keys: Sequence[str]) -> str:
        """Return the statement for the selected columns of the records on a page, in its order."""
        joined = f"({cut}) AS cut JOIN {self.source} ON {self._tenant_condition} AND {self.table}.id = cut.id"
        return f"SELECT {selected} FROM {joined} ORDER BY {', '.join(keys)}"

    @property
    def _tenant_condition(self) -> str:
        return f"{self.table}.{self.tenant_column} = :organisation"

    def _source_for(self, visibility: Visibility | None) -> str:
        return f"{visibility.grant_table} AS {self.table}" if visibility and visibility.grant_table else self.source

    def _conditions_for(self, narrowing: Sequence[str], visibility: Visibility | None) -> list[str]:
        visible = (
            [f"{self.table}.person_id = :me" if visibility.grant_table else visibility.condition_for(self.table)]
            if visibility
            else []
        )
        return [self._tenant_condition, *visible, *filter(None, narrowing)]

    def _page_sql(
        self, selected: str, source: str, narrowing: Sequence[str], order: ListOrder, *, is_next_page: bool
    ) -> str:
        column, sign = f"{self.table}.{order.column}", "<" if order.descending else ">"
        direction = " DESC" if order.descending else ""
        keys = [column] if order.column == "id" else [column, f"{self.table}.id"]
        # No index has the order of an expression, so neither engine walks along one past all that does not match.
        sorted_by = keys if order.uses_index else [f"{key} || ''" for key in keys]
        conditions = list(narrowing)
        if is_next_page and len(keys) == 1:
            conditions.append(f"{sorted_by[0]} {sign} :after")
        elif is_next_page:
            last_values = (
                f"SELECT {order.column}, id FROM {self.table} WHERE {self.tenant_column} ="
                " :organisation AND id = :after"
            )
            conditions.append(f"({', '.join(sorted_by)}) {sign} ({last_values})")
        return (
            f"SELECT {selected} FROM {source} WHERE {' AND '.join(conditions)}"
            f" ORDER BY {', '.join(key + direction for key in sorted_by)} LIMIT :limit"
        )

    def _count_sql(self, source: str, narrowing: Sequence[str], order: ListOrder) -> str:
        """Return the statement that counts along the index of the page, which is known to be a good one."""
        return f"SELECT count(*) FROM ({self._first_rows_sql('1 AS one', source, narrowing, order)}) AS found"

    def _first_rows_sql(self, selected: str, source: str, narrowing: Sequence[str], order: ListOrder) -> str:
        """Return the statement for these columns of the first rows, along the index of the page."""
        direction = " DESC" if order.descending else ""
        keys = [order.column] if order.column == "id" else [order.column, "id"]
        ordering = (
            f" ORDER BY {', '.join(f'{self.table}.{key}{direction}' for key in keys)}" if order.uses_index else ""
        )
        return f"SELECT {selected} FROM {source} WHERE {' AND '.join(narrowing)}{ordering} LIMIT :limit"
