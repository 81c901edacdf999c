"""How records of one kind are read and written: one place for whose they are, what is shown, and in which order.

Every statement about such a record starts here, so that nobody's sight can be forgotten in one of them, and the columns
of a row always are those of the model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel

from mainstay.backing.database import Row, Value
from mainstay.kernel.context import Context
from mainstay.ledger import search as words
from mainstay.ledger.search import Narrowed, Span
from mainstay.terms.refusal import Fault, Invalid, NotFound
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Kept, ListInput, Page, Shown
from mainstay.terms.wire import column_names
from mainstay.values.ids import is_id, new_id
from mainstay.values.search import looked_for

K = TypeVar("K", bound=Kept)

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
    # The column of the number by which people know one, where it has one: whoever names a record may use it.
    number: str | None = None
    # By the field of the list's input: what it narrows to, for all values or for each; and what holds where it was
    # left out.
    filters: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    otherwise: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Order] = field(default_factory=lambda: {NEWEST: Order("id", descending=True)})
    # Where the list's input has a `text`: what it looks for.
    found_by: tuple[FoundBy, ...] = ()
    tenant: str = "organisation_id"
    # Adds the columns that are derived from those that are written.
    derived: Callable[[dict[str, Any]], dict[str, Any]] = dict
    _pages: dict[tuple[object, ...], "_Statements"] = field(default_factory=dict)
    _ones: dict[tuple[str, Own | None], str] = field(default_factory=dict)

    @property
    def shown(self) -> type[Shown]:
        """What is shown of a record."""
        return self.kept.shown

    def fetch(self, ctx: Context, identity: str | None) -> K:
        """The record of this id, or of this number, as its rules see it, if the one who asks may see it."""
        named = "id"
        if self.number and identity and not is_id(identity, self.prefix):
            named, identity = self.number, identity.strip().upper()
        row = ctx.rows.one(self._one(named, self._sight(ctx)), id=identity)
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
        own, after, with_facts = self._sight(ctx), given.starting_after, ctx.envelope.actions
        narrowed = tuple(self._narrowed(name, value) for name, value in asked.items())
        walks = not (own and own.within)
        if self.found_by and (text := getattr(given, "text", None)):
            plain = not (narrowed or where or self.otherwise or own) and order == NEWEST and not with_facts
            found = self._found(ctx, text, own, Span(given.limit + 1, after) if plain else None)
            where, bound = " AND ".join(filter(None, (where, found.condition))), bound | found.bound
            walks = walks and own is not None
        key = (narrowed, order, after is not None, own, with_facts, where)
        known = self._pages.get(key)
        if known is None:
            held = [condition for name, condition in self.otherwise.items() if name not in asked]
            way = replace(self.orders[order], walks=walks)
            conditions = [self.listed, where, *narrowed, *held]
            known = self._statements(conditions, way, own, behind=after is not None, facts=with_facts)
            self._pages[key] = known
        rows = ctx.rows.all(known.page, after=after, limit=given.limit + 1, **bound, **asked)
        if after is not None and not rows and self.orders[order].column != "id":
            self._check_place(ctx, after)
        page = Page.cut(self.shown, rows, given.limit, self.keep if with_facts else None)
        if not with_facts:
            return page
        whole = after is None and not page.has_more
        counted = None if whole else ctx.rows.one(known.counted, most=COUNTED, **bound, **asked)
        return replace(page, count=int(counted[0] or 0) if counted else len(rows))

    def count(self, ctx: Context, condition: str, **bound: Value) -> int:
        """How many records there are for which a condition holds, as far as they are counted, and seen by who asks."""
        own = self._sight(ctx)
        key = ("count", own, condition)
        known = self._pages.get(key)
        if known is None:
            any_order = next(iter(self.orders.values()))
            known = self._statements([condition], replace(any_order, nullable=False), own, behind=False, facts=False)
            self._pages[key] = known
        row = ctx.rows.one(known.counted, most=COUNTED, **bound)
        return int(row[0] or 0) if row else 0

    def search(self, ctx: Context, text: str, most: int) -> list[K]:
        """The newest records that are found by a text, whatever state they are in, as far as whoever asks sees them."""
        if not self.found_by:
            return []
        own = self._sight(ctx)
        found = self._found(ctx, text, own, None if own else Span(most, None))
        key = ("search", own, found.condition)
        known = self._pages.get(key)
        if known is None:
            way = replace(self.orders[NEWEST], walks=bool(own and not own.within))
            known = self._pages[key] = self._statements([found.condition], way, own, behind=False, facts=True)
        rows = ctx.rows.all(known.page, limit=most, **found.bound)
        return [self.keep(row) for row in rows]

    def insert(self, ctx: Context, values: Mapping[str, Any], identity: str | None = None) -> K:
        """A new record."""
        row = ctx.pen.insert(self.table, identity or new_id(self.prefix), self._columns(values), self._selected)
        record = self.keep(row)
        for by in self.found_by:
            words.write(ctx.rows, self.prefix, record.id, self._words(by, record))
        return record

    def save(self, ctx: Context, record: K, changes: Mapping[str, Any]) -> K:
        """Write the changed fields; the record as it is then, or the very same one where nothing is different."""
        row = ctx.pen.save(self.table, record.id, self._columns(changes), self._selected, self.tenant)
        if row is None:
            return record
        after = self.keep(row)
        for by in self.found_by:
            if not changes.keys().isdisjoint(by.columns):
                words.rewrite(ctx.rows, self.prefix, after.id, self._words(by, record), self._words(by, after))
        if self.own and (copied := [name for name in self.own.copies if name in changes]):
            copies = ", ".join(f"{name} = :{name}" for name in copied)
            sql = f"UPDATE {self.own.granted} SET {copies} WHERE organisation_id = :organisation AND id = :id"
            ctx.rows.run(sql, id=after.id, **{name: _stored(changes[name]) for name in copied})
        return after

    def reword(self, ctx: Context, identity: str) -> None:
        """Let a record be found by what is known of it now; what it is called after may have changed elsewhere."""
        record = self.find(ctx, f"{self.table}.id = :id", id=identity)
        if record:
            found_by = [self._words(by, record) for by in self.found_by]
            words.renew(ctx.rows, self.prefix, identity, frozenset().union(*found_by))

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

    def _one(self, named: str, own: Own | None) -> str:
        """The statement for one record, by its id or its number, for those who see so much."""
        known = self._ones.get((named, own))
        if known is None:
            narrowed = f" AND {self.table}.{named} = :id" if self.id_field else ""
            mine = f" AND {own.holds(self.table)}" if own else ""
            known = self._ones[named, own] = f"{self._everything}{narrowed}{mine}"
        return known

    def _narrowed(self, name: str, value: Any) -> str:
        condition = self.filters[name]
        return condition if isinstance(condition, str) else condition[value]

    def _statements(
        self, narrowed: Sequence[str], order: Order, own: Own | None, *, behind: bool, facts: bool
    ) -> _Statements:
        granted = own is not None and bool(own.granted)
        tenant = f"{self.table}.{self.tenant} = :organisation"
        mine = [f"{self.table}.person_id = :me" if granted else own.holds(self.table)] if own else []
        present = [f"{self.table}.{order.column} IS NOT NULL"] if order.nullable else []
        conditions = [tenant, *mine, *filter(None, narrowed), *present]
        selected = self._selected if facts else self._shown_columns
        if own is None or not own.granted:
            page = self._page(selected, self.source, conditions, order, behind=behind)
            return _Statements(page, self._count(self.source, conditions))
        # What is granted stands in for the table, under its name, until the page is cut; only then is each fetched.
        source, keys = (
            f"{own.granted} AS {self.table}",
            [order.column] if order.column == "id" else [order.column, "id"],
        )
        cut = self._page(", ".join(f"{self.table}.{key}" for key in keys), source, conditions, order, behind=behind)
        direction = " DESC" if order.descending else ""
        page = (
            f"SELECT {selected} FROM ({cut}) AS cut JOIN {self.table} ON {tenant} AND {self.table}.id = cut.id"
            f" ORDER BY {', '.join(f'cut.{key}{direction}' for key in keys)}"
        )
        return _Statements(page, self._count(source, conditions))

    def _page(self, selected: str, source: str, narrowed: Sequence[str], order: Order, *, behind: bool) -> str:
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
            f"SELECT {selected} FROM {source} WHERE {' AND '.join(conditions)}"
            f" ORDER BY {', '.join(key + direction for key in sorted_by)} LIMIT :limit"
        )

    def _check_place(self, ctx: Context, after: str) -> None:
        """Refuse an id that nobody has: by itself it is a place in no order but its own, so nothing lies behind it."""
        known = f"SELECT 1 FROM {self.table} WHERE {self.tenant} = :organisation AND id = :after"
        if ctx.rows.one(known, after=after) is None:
            raise Invalid([Fault("startingAfter", "is of no record here; begin again without it")])

    def _count(self, source: str, narrowed: Sequence[str]) -> str:
        found = f"SELECT 1 AS one FROM {source} WHERE {' AND '.join(narrowed)} LIMIT :most"
        return f"SELECT count(*) FROM ({found}) AS found"

    def _found(self, ctx: Context, text: str, own: Own | None, span: Span | None) -> Narrowed:
        """What narrows a page to the records with such words, and the words."""
        sought = looked_for(text)
        if sought is None:
            return Narrowed("1 = 0", {})
        # Among the few that someone sees, each is asked for its words; among all, the words say which.
        if own:
            return words.having(f"{self.table}.id", self.prefix, sought)
        return words.driven(ctx.rows, f"{self.table}.id", self.prefix, sought, span)

    def _words(self, by: FoundBy, record: K) -> frozenset[str]:
        names = column_names(self.shown)
        return by.words(*(record.row[names.index(column)] for column in by.columns))

    def _sight(self, ctx: Context) -> Own | None:
        """What limits the one who asks; None where nothing does."""
        own = self.own
        if own is None or ctx.actor.may(own.unless):
            return None
        while own.narrower and not ctx.actor.may(own.narrower.unless):
            own = own.narrower
        return own

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
    # By a table: calling the enum costs ten times as much.
    return {member.value: member for member in kind}.__getitem__ if _is_enum(kind) else None


def _is_enum(kind: Any) -> TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)
