"""How records of one kind are read and written: one place for whose they are, what is shown, and in which order.

Every statement about such a record starts here, so that nobody's sight can be forgotten in one of them, and the columns
of a row always are those of the model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel

from mainstay.backing.database import Row, Value
from mainstay.kernel.context import Context
from mainstay.ledger import search
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Kept, ListInput, Page, Shown
from mainstay.terms.wire import column_names
from mainstay.values.ids import new_id
from mainstay.values.search import looked_for

K = TypeVar("K", bound=Kept)

NEWEST = "newest"
# So far lists are counted; of more, it is said that there are more.
COUNTED = 100


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a list: by a column that is never null, then by id."""

    column: str
    descending: bool = False
    # Whether an index is walked in it; what was found by its words is few, and sorted instead.
    walks: bool = True


@dataclass(frozen=True, slots=True)
class Own:
    """What those who may not see everything see: the rows in which this column names them."""

    column: str
    # Whoever has this right sees all rows.
    unless: Right


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What the records of a list are found by when someone looks for a text: words out of these columns."""

    columns: tuple[str, ...]
    words: Callable[..., frozenset[str]]


class _Statements(NamedTuple):
    """A page of a list, and how many there are in all."""

    page: str
    counted: str


@dataclass(frozen=True)
class Listing(Generic[K]):
    """The records of one kind."""

    kept: type[K]
    # The table, and what is joined to it; columns of other tables are named in `columns`.
    source: str
    # What people call one, and the prefix of its ids.
    what: str
    prefix: str
    # The field of an input that names one; None where an organisation has only one.
    id_field: str | None
    columns: Mapping[str, str] = field(default_factory=dict)
    # What the rules need to know and nobody is shown.
    facts: Mapping[str, str] = field(default_factory=dict)
    # What holds for every record that is listed.
    listed: str = ""
    own: Own | None = None
    # By the field of the list's input: what it narrows to, for all values or for each; and what holds where it was
    # left out.
    filters: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    otherwise: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Order] = field(default_factory=lambda: {NEWEST: Order("id", descending=True)})
    # Where the list's input has a `text`: what it looks for.
    found_by: FoundBy | None = None
    tenant: str = "organisation_id"
    # Adds the columns that are derived from those that are written.
    derived: Callable[[dict[str, Any]], dict[str, Any]] = dict
    _pages: dict[tuple[object, ...], "_Statements"] = field(default_factory=dict)

    @property
    def shown(self) -> type[Shown]:
        """What is shown of a record."""
        return self.kept.shown

    def fetch(self, ctx: Context, identity: str | None) -> K:
        """The record of this id as its rules see it, if the one who asks may see it."""
        row = ctx.rows.one(self._one[self._sees_all(ctx)], id=identity)
        if row is None:
            raise NotFound(self.what)
        return self.keep(row)

    def find(self, ctx: Context, condition: str, **given: Value) -> K | None:
        """The first record for which a condition holds, whoever asks: for rules, not for showing."""
        row = ctx.rows.one(f"{self._everything} AND {condition} LIMIT 1", **given)
        return None if row is None else self.keep(row)

    def page(self, ctx: Context, given: ListInput, where: str = "", **bound: Value) -> Page[Any]:
        """One page, narrowed and ordered as the input says; `where` narrows it further, by values that are bound."""
        asked = {name: value for name in self.filters if (value := getattr(given, name)) is not None}
        order: str = getattr(given, "order", None) or next(iter(self.orders))
        after = given.starting_after
        with_facts = ctx.envelope.actions
        words: dict[str, Value] = {}
        if self.found_by and (text := getattr(given, "text", None)):
            where, words = self._found(where, text)
            bound |= words
        narrowed = tuple(self._narrowed(name, value) for name, value in asked.items())
        key = (narrowed, order, after is not None, self._sees_all(ctx), with_facts, where)
        known = self._pages.get(key)
        if known is None:
            held = [condition for name, condition in self.otherwise.items() if name not in asked]
            conditions = self._conditions([self.listed, where, *narrowed, *held], everyone=key[3] is True)
            way = replace(self.orders[order], walks=not words)
            paged = self._page(conditions, way, behind=after is not None, facts=with_facts)
            known = self._pages[key] = _Statements(paged, self._count(conditions))
        rows = ctx.rows.all(known.page, after=after, limit=given.limit + 1, **bound, **asked)
        page = Page.cut(self.shown, rows, given.limit, self.keep if with_facts else None)
        if not with_facts:
            return page
        whole = after is None and not page.has_more
        counted = None if whole else ctx.rows.one(known.counted, most=COUNTED, **bound, **asked)
        return replace(page, count=int(counted[0] or 0) if counted else len(rows))

    def insert(self, ctx: Context, values: Mapping[str, Any], identity: str | None = None) -> K:
        """A new record."""
        row = ctx.pen.insert(self.table, identity or new_id(self.prefix), self._columns(values), self._selected)
        record = self.keep(row)
        if self.found_by:
            search.write(ctx.rows, record.id, self._words(self.found_by, record))
        return record

    def save(self, ctx: Context, record: K, changes: Mapping[str, Any]) -> K:
        """Write the changed fields; the record as it is then, or the very same one where nothing is different."""
        row = ctx.pen.save(self.table, record.id, self._columns(changes), self._selected, self.tenant)
        if row is None:
            return record
        after = self.keep(row)
        if self.found_by and not changes.keys().isdisjoint(self.found_by.columns):
            search.rewrite(ctx.rows, after.id, self._words(self.found_by, after))
        return after

    def keep(self, row: Row) -> K:
        """A record from the columns of what is shown, and of the facts behind them."""
        return self._keep(row)

    @cached_property
    def table(self) -> str:
        """The table in which the records are."""
        return self.source.split()[0]

    @cached_property
    def _width(self) -> int:
        return len(column_names(self.shown))

    @cached_property
    def _shown_columns(self) -> str:
        return ", ".join(self.columns.get(name, f"{self.table}.{name}") for name in column_names(self.shown))

    @cached_property
    def _selected(self) -> str:
        return ", ".join([self._shown_columns, *self.facts.values()])

    @cached_property
    def _everything(self) -> str:
        return f"SELECT {self._selected} FROM {self.source} WHERE {self.table}.{self.tenant} = :organisation"

    @cached_property
    def _one(self) -> dict[bool, str]:
        """The statement for one record: for those who see everything, and for those who see their own."""
        narrowed = f"{self._everything} AND {self.table}.id = :id" if self.id_field else self._everything
        return {True: narrowed, False: f"{narrowed} AND {self.own.column} = :me" if self.own else narrowed}

    def _narrowed(self, name: str, value: Any) -> str:
        condition = self.filters[name]
        return condition if isinstance(condition, str) else condition[value]

    def _conditions(self, narrowed: Sequence[str], *, everyone: bool) -> list[str]:
        own = f"{self.own.column} = :me" if self.own and not everyone else ""
        return [f"{self.table}.{self.tenant} = :organisation", *filter(None, (*narrowed, own))]

    def _page(self, narrowed: Sequence[str], order: Order, *, behind: bool, facts: bool) -> str:
        column, sign = f"{self.table}.{order.column}", "<" if order.descending else ">"
        direction = " DESC" if order.descending else ""
        keys = [column] if order.column == "id" else [column, f"{self.table}.id"]
        # No index is in the order of an expression: so neither engine walks one past all that was not found.
        sorted_by = keys if order.walks else [f"{key} || ''" for key in keys]
        conditions = list(narrowed)
        if behind and len(keys) == 1:
            conditions.append(f"{column} {sign} :after")
        elif behind:
            last = f"SELECT {order.column}, id FROM {self.table} WHERE {self.tenant} = :organisation AND id = :after"
            conditions.append(f"({', '.join(keys)}) {sign} ({last})")
        return (
            f"SELECT {self._selected if facts else self._shown_columns} FROM {self.source}"
            f" WHERE {' AND '.join(conditions)}"
            f" ORDER BY {', '.join(key + direction for key in sorted_by)} LIMIT :limit"
        )

    def _count(self, narrowed: Sequence[str]) -> str:
        found = f"SELECT 1 AS one FROM {self.source} WHERE {' AND '.join(narrowed)} LIMIT :most"
        return f"SELECT count(*) FROM ({found}) AS found"

    def _found(self, where: str, text: str) -> tuple[str, dict[str, Value]]:
        """What narrows a page to the records with such words, and the words."""
        sought = looked_for(text)
        if sought is None:
            return "1 = 0", {}
        condition, bound = search.narrowed(f"{self.table}.id", sought)
        return " AND ".join(filter(None, (where, condition))), bound

    def _words(self, by: FoundBy, record: K) -> frozenset[str]:
        names = column_names(self.shown)
        return by.words(*(record.row[names.index(column)] for column in by.columns))

    def _sees_all(self, ctx: Context) -> bool:
        return self.own is None or ctx.actor.may(self.own.unless)

    def _columns(self, values: Mapping[str, Any]) -> dict[str, Value]:
        return {name: _stored(value) for name, value in self.derived(dict(values)).items()}

    @cached_property
    def _keep(self) -> Callable[[Row], K]:
        """What makes a record of a row, written out for it: `lambda row: kept(row[:9], row[0], turn5(row[5]))`."""
        places = [*column_names(self.shown), *self.facts]
        hints = get_type_hints(self.kept)
        names: dict[str, Any] = {"kept": self.kept}
        given = [f"row[:{self._width}]"]
        for of in fields(self.kept)[1:]:
            place, turn = places.index(of.name), _turn(hints[of.name])
            names[f"turn{place}"] = turn
            given.append(f"turn{place}(row[{place}])" if turn else f"row[{place}]")
        made: Callable[[Row], K] = eval(f"lambda row: kept({', '.join(given)})", names)
        return made


def _stored(value: Any) -> Value:
    """A value as it is kept: lists and records within a record as JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump_json(by_alias=True)
    if isinstance(value, (list, dict)):
        return orjson.dumps(value).decode()
    return value if not isinstance(value, bool) else int(value)


def _turn(kind: Any) -> Callable[[Any], Any] | None:
    """What turns a value as it is kept into what rules see, if it must be turned."""
    inner = [part for part in get_args(kind) if part is not type(None)]
    if len(inner) == 1 and get_origin(kind) not in {list, dict, Literal}:
        turn = _turn(inner[0])
        return turn and (lambda value: None if value is None else turn(value))
    if kind is bool:
        return bool
    if get_origin(kind) in {list, dict}:
        return orjson.loads
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else None
