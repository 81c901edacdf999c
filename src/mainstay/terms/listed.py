"""How a list is narrowed, ordered and seen by different people; and the statements that follow from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mainstay.terms.rights import Right

NEWEST = "newest"
# So far lists are counted; of more, it is said that there are more.
COUNTED = 100
# So many of one's own are looked up and sorted at most.
LOOKED_UP = 400


@dataclass(frozen=True, slots=True)
class ListOrder:
    """An order of a list: by a column, then by id."""

    column: str
    descending: bool = False
    # Where the column may be null, records without it are left out: what they have none of, in words.
    without: str = ""
    # Whether an index is walked in it; what was found by its words is few, and sorted instead.
    walks: bool = True


@dataclass(frozen=True, slots=True)
class Own:
    """What those who may not see everything see, said in one of three ways."""

    # The rows in which this column names them.
    column: str = ""
    # Whoever has this right sees all rows.
    unless: Right = field(kw_only=True)
    # Or the rows with the ids that a statement about `:me` gives, and the same as a condition asked of a row. A few are
    # looked up and sorted; of many, nearly every row is one, and so each is asked.
    within: str = field(default="", kw_only=True)
    each: str = field(default="", kw_only=True)
    # What is counted first, where that is cheaper: the rows through which the ids are theirs. Of many there are many.
    through: str = field(default="", kw_only=True)
    # Or the rows that a table grants each person: one row for each who sees a record, with the record's id and copies
    # of what lists are narrowed and ordered by, under the same names. A page starts there, and so stays flat.
    granted: str = field(default="", kw_only=True)
    copies: tuple[str, ...] = field(default=(), kw_only=True)
    # Whoever has this right is told of the other rows as well, though not everything.
    glimpsed: Right | None = field(default=None, kw_only=True)
    # And what those see who lack another right as well.
    narrower: "Own | None" = field(default=None, kw_only=True)

    def for_those_who(self, may: Callable[[Right], bool]) -> "Own | None":
        """What limits those who may do this much; None where nothing does."""
        if may(self.unless):
            return None
        return self.narrower.for_those_who(may) or self if self.narrower else self

    def idle(self, filters: Mapping[str, object], may: Callable[[Right], bool]) -> frozenset[str]:
        """The filters by which those who may do this much could only ask for what they see anyway: their own."""
        own = self.for_those_who(may)
        if own is None or not own.column or (own.glimpsed and may(own.glimpsed)):
            return frozenset()
        return frozenset(name for name, condition in filters.items() if condition == f"{own.column} = :{name}")

    def holds(self, table: str) -> str:
        """The condition under which the record of a row is theirs."""
        if self.granted:
            mine = f"organisation_id = :organisation AND person_id = :me AND id = {table}.id"
            return f"EXISTS (SELECT 1 FROM {self.granted} WHERE {mine})"
        if self.within:
            return f"{table}.id IN ({self.within})"
        return self.each or f"{self.column} = :me"

    @property
    def many(self) -> list[str]:
        """The statements by which it is found out whether they are many, the cheapest first: then one gives a row."""
        mine = f"SELECT id FROM {self.granted} WHERE organisation_id = :organisation AND person_id = :me"
        ids = [mine] if self.granted else filter(None, (self.through, self.within))
        return [f"{each} LIMIT 1 OFFSET {LOOKED_UP - 1}" for each in ids]

    @property
    def asked_of_each(self) -> "Own":
        """The same, where each row is asked whether it is theirs."""
        return replace(self, within="") if self.within else self


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

    def among(self, narrowed: Sequence[str], own: Own | None) -> str:
        """The records for which all this holds, as far as someone sees them: a statement without what it selects."""
        return f"FROM {self._source(own)} WHERE {' AND '.join(self._conditions(narrowed, own))}"

    def statements(
        self, selected: str, narrowed: Sequence[str], order: ListOrder, own: Own | None, *, behind: bool
    ) -> Statements:
        """Those for what is selected of the records for which all this holds, as far as someone sees them."""
        granted = own is not None and bool(own.granted)
        # Asked of an expression where nothing is walked, for the same reason as it is sorted by one.
        told = f"{self.table}.{order.column}" if order.walks else f"({self.table}.{order.column} || '')"
        present = [f"{told} IS NOT NULL"] if order.without else []
        conditions = [*self._conditions(narrowed, own), *present]
        if not granted and order.walks:
            page = self._page(selected, self.source, conditions, order, behind=behind)
            return Statements(page, self._count(self.source, conditions, order))
        # What is granted stands in for the table, under its name, until the page is cut; only then is each fetched. So
        # is what has to be sorted: many may have been found, of which a page shows few.
        source = self._source(own)
        keys = [order.column] if order.column == "id" else [order.column, "id"]
        # With a column that is in no index: one that has all the rest would be read instead of what was found.
        columns = keys if granted else [*keys, "version"]
        cut = self._page(", ".join(f"{self.table}.{key}" for key in columns), source, conditions, order, behind=behind)
        direction = " DESC" if order.descending else ""
        page = self._fetched(selected, cut, [f"cut.{key}{direction}" for key in keys])
        return Statements(page, self._count(source, conditions, order))

    def summed(self, columns: Sequence[str], narrowed: Sequence[str], order: ListOrder, own: Own | None) -> str:
        """Return the statement for how many there are, and for the sum of each column, along the index of the order."""
        names = [f"summed_{place}" for place in range(len(columns))]
        selected = ", ".join(f"{column} AS {name}" for column, name in zip(columns, names, strict=True))
        present = [f"{self.table}.{order.column} IS NOT NULL"] if order.without else []
        conditions = [*self._conditions(narrowed, own), *present]
        sums = ", ".join(f"CAST(coalesce(sum({name}), 0) AS bigint)" for name in names)
        return f"SELECT count(*), {sums} FROM ({self._along(selected, self._source(own), conditions, order)}) AS found"

    def newest(self, selected: str, ids: str) -> Statements:
        """Those for the newest of the records whose ids a statement gives, perhaps twice; it knows who sees them."""
        each = f"SELECT DISTINCT id FROM ({ids}) AS found"
        page = self._fetched(selected, f"{each} ORDER BY id DESC LIMIT :limit", ["cut.id DESC"])
        return Statements(page, f"SELECT count(*) FROM ({each} LIMIT :limit) AS counted")

    def _fetched(self, selected: str, cut: str, keys: Sequence[str]) -> str:
        """What is selected of the records of a page that was cut, in its order."""
        fetched = f"({cut}) AS cut JOIN {self.source} ON {self._tenant} AND {self.table}.id = cut.id"
        return f"SELECT {selected} FROM {fetched} ORDER BY {', '.join(keys)}"

    @property
    def _tenant(self) -> str:
        return f"{self.table}.{self.tenant} = :organisation"

    def _source(self, own: Own | None) -> str:
        return f"{own.granted} AS {self.table}" if own and own.granted else self.source

    def _conditions(self, narrowed: Sequence[str], own: Own | None) -> list[str]:
        mine = [f"{self.table}.person_id = :me" if own.granted else own.holds(self.table)] if own else []
        return [self._tenant, *mine, *filter(None, narrowed)]

    def _page(self, selected: str, source: str, narrowed: Sequence[str], order: ListOrder, *, behind: bool) -> str:
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

    def _count(self, source: str, narrowed: Sequence[str], order: ListOrder) -> str:
        """How many there are: counted along the index that the page walks, which is known to be a good one."""
        return f"SELECT count(*) FROM ({self._along('1 AS one', source, narrowed, order)}) AS found"

    def _along(self, selected: str, source: str, narrowed: Sequence[str], order: ListOrder) -> str:
        """Return the statement for what is selected of the first ones, along the index that the page walks."""
        direction = " DESC" if order.descending else ""
        keys = [order.column] if order.column == "id" else [order.column, "id"]
        walked = f" ORDER BY {', '.join(f'{self.table}.{key}{direction}' for key in keys)}" if order.walks else ""
        return f"SELECT {selected} FROM {source} WHERE {' AND '.join(narrowed)}{walked} LIMIT :limit"
