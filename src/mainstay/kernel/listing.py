"""How records of one kind are read and written: one place for whose they are, what is shown, and in which order.

Every statement about such a record starts here, so that nobody's sight can be forgotten in one of them, and the columns
of a row always are those of the model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from mainstay.backing.database import Row, Value
from mainstay.kernel.context import Context
from mainstay.terms.finding import Asking, Finding, Reach, limited, sight_of_many
from mainstay.terms.keeping import keeper, stored
from mainstay.terms.listed import COUNTED, NEWEST, FoundBy, ListOrder, Own, Selection, Statements
from mainstay.terms.refusal import Fault, Invalid, NotFound
from mainstay.terms.shapes import Kept, ListInput, Page, Shown
from mainstay.terms.wire import column_names, different
from mainstay.values.ids import is_id, new_id

K = TypeVar("K", bound=Kept)


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
    orders: Mapping[str, ListOrder] = field(default_factory=lambda: {NEWEST: ListOrder("id", descending=True)})
    # Where the list's input has a `text`: what it looks for.
    found_by: tuple[FoundBy, ...] = ()
    tenant: str = "organisation_id"
    # Adds the columns that are derived from those that are written.
    derived: Callable[[dict[str, Any]], dict[str, Any]] = dict
    # The statements that were needed so far; a listing made of another by `replace` has its own.
    _pages: dict[tuple[object, ...], Statements] = field(default_factory=dict, init=False)
    _ones: dict[tuple[str, Own | None], str] = field(default_factory=dict, init=False)

    @property
    def shown(self) -> type[Shown]:
        """What is shown of a record."""
        return self.kept.shown

    def fetch(self, ctx: Context, identity: str | None) -> K:
        """The record of this id, or of this number, as its rules see it, if the one who asks may see it."""
        named = "id"
        if self.number and identity and not is_id(identity, self.prefix):
            named, identity = self.number, identity.strip().upper()
        own = self._sight(ctx)
        row = ctx.rows.one(self._one(named, own and own.asked_of_each), id=identity)
        if row is None and named != "id" and (meant := self.meant(ctx, identity or "")):
            row = ctx.rows.one(self._one("id", own and own.asked_of_each), id=meant)
        if row is None:
            raise NotFound(self.what)
        return self.keep(row)

    def meant(self, ctx: Context, number: str) -> str | None:
        """The id of the one record that is meant by a number as nobody has it."""
        return self.finding.numbered(ctx.rows, number)

    def fetch_whole(self, ctx: Context, identity: str | None) -> K:
        """The same, where whoever asks sees all of it, and so also what stands beside it: notes and files."""
        return self.fetch(ctx, identity)

    def find(self, ctx: Context, condition: str, **given: Value) -> K | None:
        """The first record for which a condition holds, whoever asks: for rules, not for showing."""
        row = ctx.rows.one(f"{self.everything} AND {condition} LIMIT 1", **given)
        return None if row is None else self.keep(row)

    def page(self, ctx: Context, given: ListInput, where: str = "", *, walks: bool = True, **bound: Value) -> Page[Any]:
        """One page, narrowed and ordered as the input says; `where` narrows it further, by values that are bound.

        Where few are left by that, they are sorted rather than an index walked.
        """
        asking, narrowed, held = self._asking(ctx, given, where, bound)
        own = asking.own
        walks = walks and not (own and own.within)
        if not (self.found_by and (text := getattr(given, "text", None))):
            return self._cut(ctx, given, asking, walks=walks)
        rest = self._from.among(held, own) if held or own else ""
        span = Reach(asking.after, newest=not (narrowed or where), rest=rest) if asking.order == NEWEST else Reach()
        for way in self.finding.ways(ctx.rows, text, own, span, ctx.actor.may):
            page = self._cut(ctx, given, asking.by(way), walks=walks and not way.driven)
            if way.whole or (page.has_more and page.count in {None, COUNTED}):
                break
        return page

    def sums(
        self, ctx: Context, given: ListInput, where: str, columns: Sequence[str], most: int, **bound: Value
    ) -> Row | None:
        """Return how many records a list has and what these columns come to; None if there are more than `most`.

        Not of a list that is narrowed by a text.
        """
        asking, _, _ = self._asking(ctx, given, where, bound)
        summed = self._from.summed(columns, asking.conditions, self.orders[asking.order], asking.own)
        row = ctx.rows.one(summed, limit=most + 1, **asking.bound)
        return row if row is not None and int(row[0] or 0) <= most else None

    def _asking(
        self, ctx: Context, given: ListInput, where: str, bound: dict[str, Value]
    ) -> tuple[Asking, tuple[str, ...], list[str]]:
        """Return what a list is asked for by, and of that what its filters and what holds without them ask."""
        asked = {name: value for name in self.filters if (value := getattr(given, name)) is not None}
        order: str = given.fixed_order() or getattr(given, "order", None) or next(iter(self.orders))
        own = sight_of_many(ctx.rows, self._sight(ctx))
        held = [condition for name, condition in self.otherwise.items() if name not in asked]
        narrowed = tuple(self._narrowed(name, value) for name, value in asked.items())
        conditions = (self.listed, where, *narrowed, *held)
        return Asking(order, given.starting_after, own, conditions, bound | asked), narrowed, held

    def _cut(self, ctx: Context, given: ListInput, asking: Asking, *, walks: bool) -> Page[Any]:
        own, after, with_facts = asking.own, asking.after, ctx.envelope.actions
        known = self._statements(asking, with_facts=with_facts, walks=walks)
        rows = ctx.rows.all(known.page, after=after, **limited(given.limit + 1), **asking.bound)
        # What lies behind a record that someone does not see would tell where that stands.
        if after is not None and self.orders[asking.order].column != "id" and (own or not rows):
            self._check_place(ctx, after, own)
        page = Page.cut(self.shown, rows, given.limit, self.keep if with_facts else None)
        if not with_facts:
            return page
        if after is None and not page.has_more:
            return replace(page, count=len(rows))
        # All of them, so behind no record: behind an id that is greater than any.
        first = f"{self.prefix}_{'Z' * 26}"
        counted = ctx.rows.one(known.counted, after=first, **limited(COUNTED), **asking.bound)
        return replace(page, count=int(counted[0] or 0) if counted else 0)

    def _statements(self, asking: Asking, *, with_facts: bool, walks: bool) -> Statements:
        behind = asking.after is not None
        key = (asking.newest, asking.conditions, asking.order, behind, asking.own, with_facts, walks)
        known = self._pages.get(key)
        if known is None:
            selected = self.selected if with_facts else self._shown_columns
            order = replace(self.orders[asking.order], walks=walks)
            known = self._pages[key] = (
                self._from.newest(selected, asking.newest)
                if asking.newest
                else self._from.statements(selected, asking.conditions, order, asking.own, behind=behind)
            )
        return known

    def search(self, ctx: Context, text: str, most: int) -> list[K]:
        """The newest records that are found by a text, whatever state they are in, as far as whoever asks sees them."""
        if not self.found_by:
            return []
        own = sight_of_many(ctx.rows, self._sight(ctx))
        (way,) = self.finding.ways(ctx.rows, text, own, Reach(newest=own is None), ctx.actor.may)
        asking = Asking(NEWEST, None, own, (), {}).by(way)
        known = self._statements(asking, with_facts=True, walks=not (way.driven or (own and own.within)))
        return [self.keep(row) for row in ctx.rows.all(known.page, **limited(most), **asking.bound)]

    def find_newest(self, ctx: Context, most: int, **narrowed: str) -> list[K]:
        """Return the newest records that are left by filters of the list, as far as whoever asks sees them."""
        own = sight_of_many(ctx.rows, self._sight(ctx))
        conditions = tuple(self._narrowed(name, value) for name, value in narrowed.items())
        known = self._statements(
            Asking(NEWEST, None, own, conditions, dict(narrowed)), with_facts=True, walks=not (own and own.within)
        )
        return [self.keep(row) for row in ctx.rows.all(known.page, **limited(most), **narrowed)]

    def insert(self, ctx: Context, values: Mapping[str, Any], identity: str | None = None) -> K:
        """A new record."""
        row = ctx.pen.insert(self.table, identity or new_id(self.prefix), self._columns(values), self.selected)
        record = self.keep(row)
        self.finding.insert(ctx.rows, record)
        return record

    def save(self, ctx: Context, record: K, changes: Mapping[str, Any]) -> K:
        """Write the changed fields; the record as it is then, or the very same one where nothing is different."""
        columns = self._columns(changes)
        row = ctx.pen.save(self.table, record.id, columns, self.selected, self.tenant)
        if row is None:
            return record
        after = self.keep(row)
        ctx.pen.note(after.id, different(record, after))
        self.finding.save(ctx.rows, record, after, changes)
        if self.own and (copied := {name: columns[name] for name in self.own.copies if name in columns}):
            copies = ", ".join(f"{name} = :{name}" for name in copied)
            sql = f"UPDATE {self.own.granted} SET {copies} WHERE organisation_id = :organisation AND id = :id"
            ctx.rows.run(sql, id=after.id, **copied)
        return after

    def remove(self, ctx: Context, record: K) -> K:
        """Remove a record, and the words that it is found by; the record as it was."""
        self.finding.remove(ctx.rows, record)
        ctx.pen.remove(self.table, record.id, self.tenant)
        return record

    def reword(self, ctx: Context, identity: str) -> None:
        """Let a record be found by what is known of it now; what it is called after may have changed elsewhere."""
        record = self.find(ctx, f"{self.table}.id = :id", id=identity)
        if record:
            self.finding.renew(ctx.rows, record)

    @cached_property
    def keep(self) -> Callable[[Row], K]:
        """What makes a record of the columns of what is shown, and of the facts behind them."""
        return keeper(self.kept, self.facts)

    @cached_property
    def table(self) -> str:
        """The table in which the records are."""
        return self.source.split()[0]

    @cached_property
    def finding(self) -> Finding:
        """What the records are found by."""
        return Finding(self.shown, self.prefix, self.table, self.found_by)

    @cached_property
    def _from(self) -> Selection:
        return Selection(self.table, self.source, self.tenant)

    @cached_property
    def _shown_columns(self) -> str:
        return ", ".join(self.columns.get(name, f"{self.table}.{name}") for name in column_names(self.shown))

    @cached_property
    def selected(self) -> str:
        """The columns that `keep` takes, also of a row that is written (`RETURNING`) where nothing is joined."""
        return ", ".join([self._shown_columns, *self.facts.values()])

    @cached_property
    def everything(self) -> str:
        """The statement for every record of the organisation, as `keep` takes it."""
        return f"SELECT {self.selected} FROM {self.source} WHERE {self.table}.{self.tenant} = :organisation"

    def _one(self, named: str, own: Own | None) -> str:
        """The statement for one record, by its id or its number, for those who see so much."""
        known = self._ones.get((named, own))
        if known is None:
            narrowed = f" AND {self.table}.{named} = :id" if self.id_field else ""
            mine = f" AND {own.holds(self.table)}" if own else ""
            known = self._ones[named, own] = f"{self.everything}{narrowed}{mine}"
        return known

    def _narrowed(self, name: str, value: Any) -> str:
        condition = self.filters[name]
        return condition if isinstance(condition, str) else condition[value]

    def _check_place(self, ctx: Context, after: str, own: Own | None) -> None:
        """Refuse an id that nobody has: by itself it is a place in no order but its own, so nothing lies behind it."""
        if ctx.rows.one(self._one("id", own and own.asked_of_each), id=after) is None:
            raise Invalid([Fault("startingAfter", "is of no record here; begin again without it")])

    def _sight(self, ctx: Context) -> Own | None:
        """What limits the one who asks; None where nothing does."""
        return self.own and self.own.for_those_who(ctx.actor.may)

    def _columns(self, values: Mapping[str, Any]) -> dict[str, Value]:
        return {name: stored(value) for name, value in self.derived(dict(values)).items()}
