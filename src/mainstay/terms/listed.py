"""How a list is narrowed, ordered and seen by different people; and the statements that follow from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mainstay.terms.rights import Right

NEWEST = "newest"
# So far lists are counted; of more, it is said that there are more.
COUNTED = 100


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a list: by a column, then by id. Where the column may be null, records without it are left out."""

    column: str
    descending: bool = False
    nullable: bool = False
    # Whether an index is walked in it; what was found by its words is few, and sorted instead.
    walks: bool = True


@dataclass(frozen=True, slots=True)
class Own:
    """What those who may not see everything see, said in one of three ways."""

    # The rows in which this column names them.
    column: str = ""
    # Whoever has this right sees all rows.
    unless: Right = field(kw_only=True)
    # Or the rows with the ids that a statement about `:me` gives: few enough to be sorted.
    within: str = field(default="", kw_only=True)
    # Or the rows that a table grants each person: one row for each who sees a record, with the record's id and copies
    # of what lists are narrowed and ordered by, under the same names. A page starts there, and so stays flat.
    granted: str = field(default="", kw_only=True)
    copies: tuple[str, ...] = field(default=(), kw_only=True)
    # And what those see who lack another right as well.
    narrower: "Own | None" = field(default=None, kw_only=True)

    def holds(self, table: str) -> str:
        """The condition under which the record of a row is theirs."""
        if self.granted:
            mine = f"organisation_id = :organisation AND person_id = :me AND id = {table}.id"
            return f"EXISTS (SELECT 1 FROM {self.granted} WHERE {mine})"
        return f"{table}.id IN ({self.within})" if self.within else f"{self.column} = :me"


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What the records of a list are found by when someone looks for a text: words out of these columns.

    Nothing else that a record is found by gives such words: they are written, and removed, with these columns alone.
    """

    columns: tuple[str, ...]
    words: Callable[..., frozenset[str]]


class Statements(NamedTuple):
    """A page of a list, and how many there are in all."""

    page: str
    counted: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The records of a table, out of which lists are cut."""

    table: str
    source: str
    tenant: str

    def statements(
        self, selected: str, narrowed: Sequence[str], order: Order, own: Own | None, *, behind: bool
    ) -> Statements:
        """Those for what is selected of the records for which all this holds, as far as someone sees them."""
        granted = own is not None and bool(own.granted)
        tenant = f"{self.table}.{self.tenant} = :organisation"
        mine = [f"{self.table}.person_id = :me" if granted else own.holds(self.table)] if own else []
        present = [f"{self.table}.{order.column} IS NOT NULL"] if order.nullable else []
        conditions = [tenant, *mine, *filter(None, narrowed), *present]
        if own is None or not own.granted:
            page = self._page(selected, self.source, conditions, order, behind=behind)
            return Statements(page, self._count(self.source, conditions))
        # What is granted stands in for the table, under its name, until the page is cut; only then is each fetched.
        source = f"{own.granted} AS {self.table}"
        keys = [order.column] if order.column == "id" else [order.column, "id"]
        cut = self._page(", ".join(f"{self.table}.{key}" for key in keys), source, conditions, order, behind=behind)
        direction = " DESC" if order.descending else ""
        page = (
            f"SELECT {selected} FROM ({cut}) AS cut JOIN {self.table} ON {tenant} AND {self.table}.id = cut.id"
            f" ORDER BY {', '.join(f'cut.{key}{direction}' for key in keys)}"
        )
        return Statements(page, self._count(source, conditions))

    def _page(self, selected: str, source: str, narrowed: Sequence[str], order: Order, *, behind: bool) -> str:
        column, sign = f"{self.table}.{order.column}", "<" if order.descending else ">"
        direction = " DESC" if order.descending else ""
        keys = [column] if order.column == "id" else [column, f"{self.table}.id"]
        # No index is in the order of an expression: so neither engine walks one past all that was not found.
        sorted_by = keys if order.walks else [f"{key} || ''" for key in keys]
        conditions = list(narrowed)
        if behind and len(keys) == 1:
            conditions.append(f"{sorted_by[0]} {sign} :after")
        elif behind:
            last = f"SELECT {order.column}, id FROM {self.table} WHERE {self.tenant} = :organisation AND id = :after"
            conditions.append(f"({', '.join(sorted_by)}) {sign} ({last})")
        return (
            f"SELECT {selected} FROM {source} WHERE {' AND '.join(conditions)}"
            f" ORDER BY {', '.join(key + direction for key in sorted_by)} LIMIT :limit"
        )

    def _count(self, source: str, narrowed: Sequence[str]) -> str:
        found = f"SELECT 1 AS one FROM {source} WHERE {' AND '.join(narrowed)} LIMIT :most"
        return f"SELECT count(*) FROM ({found}) AS found"
