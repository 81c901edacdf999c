"""Record stores: how the records of one kind are read and written, who sees them, and in which order they are listed.

Every statement about such a record is built here. So no statement can forget what the actor may see, and the columns of
a row are always those of the model.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic.alias_generators import to_camel

from mainstay.infrastructure.database import Row, Value
from mainstay.kernel.context import Context, SavedRecord
from mainstay.values.ids import is_id, new_id
from mainstay.values.message import Message
from mainstay.values.stored_message import load_message
from mainstay.vocabulary.list_queries import (
    COUNT_LIMIT,
    NEWEST,
    ListOrder,
    ListQuery,
    ListSql,
    SearchFields,
    Visibility,
)
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.record_json import column_names, find_changed_fields, find_message_columns
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound
from mainstay.vocabulary.rows import compile_row_reader, rule_column_names, to_stored
from mainstay.vocabulary.schemas import ListInput, Output, PageResult, StoredRecord
from mainstay.vocabulary.searching import ListRequest, SearchIndex, SearchScope, choose_visibility, limit_parameters

K = TypeVar("K", bound=StoredRecord)
V = TypeVar("V", bound=StoredRecord)


def select_related(column: str, reference: str) -> str:
    """Return the SQL for a column of another record, or an expression: `select_related("site.name", "job.site_id")`."""
    table = column.partition(".")[0]
    return f"(SELECT {column} FROM {table} WHERE {table}.organisation_id = :organisation AND {table}.id = {reference})"


@dataclass(frozen=True)
class RecordStore(Generic[K]):
    """Reads and writes the records of one kind."""

    record_type: type[K]
    # The table, and the tables joined to it. `columns` has the SQL for the fields that are not columns of the table, of
    # the output model and of `record_type`, whose other fields only rules need.
    source: str
    # What people call such a record, and the prefix of its ids. By default, both are the name of the table.
    label: str = ""
    prefix: str = ""
    # The field of an input that names a record, by default after the label; None if an organisation has only one record
    # of this kind.
    id_field: str | None = ""
    # The type of that field, if it says more than "The customer's id."
    id_type: Any = None
    # What operations call one of them, if their inputs call it otherwise: `get_price_item` takes an `item_id`.
    own_noun: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    # A condition for every record in a list.
    list_condition: str = ""
    visibility: Visibility | None = None
    # The column of a number that people use instead of the id, such as an invoice number; None if there is no number.
    number_column: str | None = None
    # The filters of a list that compare a column of the same name.
    equal_filters: tuple[str, ...] = ()
    # The column with the date that the filters `from_` and `until` compare.
    dates_column: str = ""
    # The conditions of a list's filters by input field: one for all values, or one for each value.
    filters: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    # The conditions for filters that are left out.
    default_conditions: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, ListOrder] = field(default_factory=lambda: {NEWEST: ListOrder("id", descending=True)})
    # What a search looks in, if the list's input has a field `text`.
    search_fields: tuple[SearchFields, ...] = ()
    tenant_column: str = "organisation_id"
    # Adds the columns that are derived from the written ones.
    derive_columns: Callable[[dict[str, Any]], dict[str, Any]] = dict
    # Caches of statements; a store made of another one by `replace` has its own.
    _list_statement_cache: dict[tuple[object, ...], ListSql] = field(default_factory=dict, init=False)
    _fetch_statement_cache: dict[tuple[str, Visibility | None], str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Fill in what follows from the name of the table, and from the names of the columns."""
        label = self.label or self.table.replace("_", " ")
        equal = {name: f"{self.table}.{name} = :{name}" for name in self.equal_filters}
        date = f"{self.table}.{self.dates_column}"
        dates = {"from_": f"{date} >= :from_", "until": f"{date} <= :until"}
        derived: dict[str, object] = {
            "label": label,
            "prefix": self.prefix or self.table,
            "id_field": f"{label.replace(' ', '_')}_id" if self.id_field == "" else self.id_field,
            "filters": {**equal, **(dates if self.dates_column else {}), **self.filters},
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def noun(self) -> str:
        """What operations call one of them: the site of `site_id`."""
        return self.own_noun or (self.id_field or self.label).removesuffix("_id").replace("_", " ")

    @property
    def id_alias(self) -> str:
        """The JSON name of the input field that names one of them; empty if there is only one of its kind."""
        return to_camel(self.id_field or "")

    def show_as(self, record_type: type[V]) -> "RecordStore[V]":
        """Return the store of the same records with fewer fields, such as for lists that leave out their lines."""
        options = {one.name: getattr(self, one.name) for one in fields(RecordStore) if one.init}
        return RecordStore(**options | {"record_type": record_type})

    @property
    def output(self) -> type[Output]:
        """The output model of the records."""
        return self.record_type.output

    def fetch(self, ctx: Context, record_id: str | None) -> K:
        """Return the record with this id or number, if the actor may see it."""
        column, key = "id", record_id
        if self.number_column and record_id and not is_id(record_id, self.prefix):
            column, key = self.number_column, record_id.strip().upper()
        visibility = self._visibility_of(ctx)
        row = ctx.db.one(self._fetch_statement(column, visibility and visibility.checked_per_row), id=key)
        if row is None and column != "id" and (found_id := self.find_by_number(ctx, key or "")):
            row = ctx.db.one(self._fetch_statement("id", visibility and visibility.checked_per_row), id=found_id)
        if row is None:
            raise NotFound(self.label)
        return self.from_row(self.render_messages(ctx, row) if self._message_columns else row)

    def find_by_number(self, ctx: Context, number: str) -> str | None:
        """Return the id for a number that is not quite exact, such as without its zeros; None if it is ambiguous."""
        return self.search_index.find_by_number(ctx.db, number)

    def render_messages(self, ctx: Context, row: Row) -> Row:
        """Return a row with its stored messages rendered for the reader of the answer."""
        columns = self._message_columns
        if not columns:
            return row
        render = ctx.request.message_format.render
        return tuple(
            render(load_message(str(value))) if number in columns and value is not None else value
            for number, value in enumerate(row)
        )

    def fetch_fully_visible(self, ctx: Context, record_id: str | None) -> K:
        """Return the record if the actor may see all of it, and so its notes and files too."""
        return self.fetch(ctx, record_id)

    def find(self, ctx: Context, condition: str, **parameters: Value) -> K | None:
        """Return the first record that meets a condition, even if the actor may not see it: for rules only."""
        row = ctx.db.one(f"{self.select_all} AND {condition} LIMIT 1", **parameters)
        return None if row is None else self.from_row(row)

    def page(
        self, ctx: Context, given: ListInput, where: str = "", *, uses_index: bool = True, **bound: Value
    ) -> PageResult[Any]:
        """Return one page, with the filters and the order of the input; `where` is a further condition.

        Pass `uses_index=False` if few records meet that condition: they are sorted, instead of walking along an index.
        """
        request, filter_conditions, default_conditions = self._make_list_request(ctx, given, where, bound)
        visibility = request.visibility
        uses_index = uses_index and not (visibility and visibility.ids_query)
        if not (self.search_fields and (text := getattr(given, "text", None))):
            return self._fetch_page(ctx, given, request, uses_index=uses_index)
        rest_query = (
            self._list_query.from_clause(default_conditions, visibility) if default_conditions or visibility else ""
        )
        scope = (
            SearchScope(request.after, is_newest_first=not (filter_conditions or where), rest_query=rest_query)
            if request.order == NEWEST
            else SearchScope()
        )
        for plan in self.search_index.plan_search(ctx.db, text, visibility, scope, ctx.actor.can):
            page = self._fetch_page(
                ctx, given, request.narrow_by(plan), uses_index=uses_index and not plan.starts_from_words
            )
            if plan.is_complete or (page.has_more and page.count in {None, COUNT_LIMIT}):
                break
        return page

    def visible_rows_query(self, ctx: Context, selected: str, condition: str) -> str:
        """Return the query for the records that meet a condition and that the actor may see."""
        visibility = self._visibility_of(ctx)
        visible = f" AND {visibility.checked_per_row.condition_for(self.table)}" if visibility else ""
        return (
            f"SELECT {selected} FROM {self.source} WHERE {self.table}.{self.tenant_column} = :organisation"
            f" AND {condition}{visible}"
        )

    def sum_columns(
        self, ctx: Context, given: ListInput, where: str, columns: Sequence[str], limit: int, **bound: Value
    ) -> Row | None:
        """Return the number of records in a list and the sums of these columns; None if it has more than `limit`.

        It does not work for a list that is narrowed by a search text.
        """
        request, _, _ = self._make_list_request(ctx, given, where, bound)
        statement = self._list_query.sum_statement(
            columns, request.conditions, self.orders[request.order], request.visibility
        )
        row = ctx.db.one(statement, limit=limit + 1, **request.parameters)
        return row if row is not None and int(row[0] or 0) <= limit else None

    def _make_list_request(
        self, ctx: Context, given: ListInput, where: str, bound: dict[str, Value]
    ) -> tuple[ListRequest, tuple[str, ...], list[str]]:
        """Return the request for a list, the conditions of its filters, and the defaults of the filters left out."""
        filter_values = {name: value for name in self.filters if (value := getattr(given, name)) is not None}
        order: str = given.fixed_order() or getattr(given, "order", None) or next(iter(self.orders))
        visibility = choose_visibility(ctx.db, self._visibility_of(ctx))
        default_conditions = [
            condition for name, condition in self.default_conditions.items() if name not in filter_values
        ]
        filter_conditions = tuple(self._filter_condition(name, value) for name, value in filter_values.items())
        conditions = (self.list_condition, where, *filter_conditions, *default_conditions)
        return (
            ListRequest(order, given.starting_after, visibility, conditions, bound | filter_values),
            filter_conditions,
            default_conditions,
        )

    def _fetch_page(self, ctx: Context, given: ListInput, request: ListRequest, *, uses_index: bool) -> PageResult[Any]:
        visibility, after, with_rule_columns = request.visibility, request.after, ctx.request.with_actions
        statements = self._statements_for(request, with_rule_columns=with_rule_columns, uses_index=uses_index)
        rows = ctx.db.all(statements.page_sql, after=after, **limit_parameters(given.limit + 1), **request.parameters)
        # A record that the actor may not see is refused: those after it would reveal its place in the order.
        if after is not None and self.orders[request.order].column != "id" and (visibility or not rows):
            self._check_starting_after(ctx, after, visibility)
        if self._message_columns:
            rows = [self.render_messages(ctx, row) for row in rows]
        page = PageResult.from_rows(self.output, rows, given.limit, self.from_row if with_rule_columns else None)
        if not with_rule_columns:
            return page
        if after is None and not page.has_more:
            return replace(page, count=len(rows))
        # Count from the beginning: with the newest first, every record comes after an id that is greater than any.
        beyond_all = f"{self.prefix}_{'Z' * 26}"
        counted = ctx.db.one(
            statements.count_sql, after=beyond_all, **limit_parameters(COUNT_LIMIT), **request.parameters
        )
        return replace(page, count=int(counted[0] or 0) if counted else 0)

    def _statements_for(self, request: ListRequest, *, with_rule_columns: bool, uses_index: bool) -> ListSql:
        is_next_page = request.after is not None
        key = (
            request.newest_query,
            request.conditions,
            request.order,
            is_next_page,
            request.visibility,
            with_rule_columns,
            uses_index,
        )
        statements = self._list_statement_cache.get(key)
        if statements is None:
            selected = self.selected_columns if with_rule_columns else self._output_columns
            order = replace(self.orders[request.order], uses_index=uses_index)
            statements = self._list_statement_cache[key] = (
                self._list_query.newest_statements(selected, request.newest_query)
                if request.newest_query
                else self._list_query.page_statements(
                    selected, request.conditions, order, request.visibility, is_next_page=is_next_page
                )
            )
        return statements

    def search(self, ctx: Context, text: str, limit: int) -> list[K]:
        """Return the newest records in any state that match a search text and that the actor may see."""
        if not self.search_fields:
            return []
        visibility = choose_visibility(ctx.db, self._visibility_of(ctx))
        (plan,) = self.search_index.plan_search(
            ctx.db, text, visibility, SearchScope(is_newest_first=visibility is None), ctx.actor.can
        )
        request = ListRequest(NEWEST, None, visibility, (), {}).narrow_by(plan)
        statements = self._statements_for(
            request,
            with_rule_columns=True,
            uses_index=not (plan.starts_from_words or (visibility and visibility.ids_query)),
        )
        return [
            self.from_row(row)
            for row in ctx.db.all(statements.page_sql, **limit_parameters(limit), **request.parameters)
        ]

    def find_newest(self, ctx: Context, limit: int, **filter_values: str) -> list[K]:
        """Return the newest records that match these filters of the list and that the actor may see."""
        visibility = choose_visibility(ctx.db, self._visibility_of(ctx))
        conditions = tuple(self._filter_condition(name, value) for name, value in filter_values.items())
        statements = self._statements_for(
            ListRequest(NEWEST, None, visibility, conditions, dict(filter_values)),
            with_rule_columns=True,
            uses_index=not (visibility and visibility.ids_query),
        )
        return [
            self.from_row(row) for row in ctx.db.all(statements.page_sql, **limit_parameters(limit), **filter_values)
        ]

    def insert(self, ctx: Context, values: Mapping[str, Any], record_id: str | None = None) -> K:
        """Insert a record, and return it."""
        row = ctx.writer.insert(
            self.table, record_id or new_id(self.prefix), self._to_columns(values), self.selected_columns
        )
        record = self.from_row(row)
        ctx.saved.append(SavedRecord(None, record))
        self.search_index.insert(ctx.db, record)
        return record

    def save(self, ctx: Context, record: K, changes: Mapping[str, Any]) -> K:
        """Write changed fields and return the record; the same object if nothing is different."""
        columns = self._to_columns(changes)
        row = ctx.writer.save(self.table, record.id, columns, self.selected_columns, self.tenant_column)
        if row is None:
            return record
        after = self.from_row(row)
        ctx.saved.append(SavedRecord(record, after))
        ctx.writer.note_changed_fields(after.id, find_changed_fields(record, after))
        self.search_index.save(ctx.db, record, after, changes)
        if self.visibility and (
            copied := {name: columns[name] for name in self.visibility.copied_columns if name in columns}
        ):
            copies = ", ".join(f"{name} = :{name}" for name in copied)
            sql = (
                f"UPDATE {self.visibility.grant_table} SET {copies} WHERE organisation_id = :organisation AND id = :id"
            )
            ctx.db.run(sql, id=after.id, **copied)
        return after

    def remove(self, ctx: Context, record: K) -> K:
        """Delete a record and its search words; return the record as it was."""
        self.search_index.remove(ctx.db, record)
        ctx.writer.remove(self.table, record.id, self.tenant_column)
        ctx.saved.append(SavedRecord(record, None))
        return record

    def refresh_search(self, ctx: Context, record_id: str) -> None:
        """Update the search words of a record, because another record whose name is among them may have changed."""
        record = self.find(ctx, f"{self.table}.id = :id", id=record_id)
        if record:
            self.search_index.refresh(ctx.db, record)

    @cached_property
    def from_row(self) -> Callable[[Row], K]:
        """The function that makes a record of a row: the columns of the output model, followed by the rule columns."""
        return compile_row_reader(self.record_type)

    @cached_property
    def table(self) -> str:
        """The table of the records."""
        return self.source.split()[0]

    @cached_property
    def search_index(self) -> SearchIndex:
        """The search words of the records."""
        return SearchIndex(self.output, self.prefix, self.table, self.search_fields)

    @cached_property
    def _list_query(self) -> ListQuery:
        return ListQuery(self.table, self.source, self.tenant_column)

    @cached_property
    def _message_columns(self) -> tuple[int, ...]:
        return find_message_columns(self.output)

    @cached_property
    def _output_columns(self) -> str:
        return self._select(column_names(self.output))

    @cached_property
    def selected_columns(self) -> str:
        """The columns that `from_row` takes; if nothing is joined, also for `RETURNING` of a written row."""
        return self._select([*column_names(self.output), *rule_column_names(self.record_type)])

    @cached_property
    def select_all(self) -> str:
        """The statement for all records of the organisation, with the columns that `from_row` takes."""
        return (
            f"SELECT {self.selected_columns} FROM {self.source} WHERE {self.table}.{self.tenant_column} = :organisation"
        )

    def _select(self, names: Sequence[str]) -> str:
        return ", ".join(self.columns.get(name, f"{self.table}.{name}") for name in names)

    def _fetch_statement(self, column: str, visibility: Visibility | None) -> str:
        """Return the statement for one record, by id or number, for people with this visibility."""
        statement = self._fetch_statement_cache.get((column, visibility))
        if statement is None:
            id_condition = f" AND {self.table}.{column} = :id" if self.id_field else ""
            visibility_condition = f" AND {visibility.condition_for(self.table)}" if visibility else ""
            statement = self._fetch_statement_cache[column, visibility] = (
                f"{self.select_all}{id_condition}{visibility_condition}"
            )
        return statement

    def _filter_condition(self, name: str, value: Any) -> str:
        condition = self.filters[name]
        return condition if isinstance(condition, str) else condition[value]

    def _check_starting_after(self, ctx: Context, after: str, visibility: Visibility | None) -> None:
        """Refuse an id that no visible record has: only an order by id could continue after it."""
        if ctx.db.one(self._fetch_statement("id", visibility and visibility.checked_per_row), id=after) is None:
            problem = Message("is not a record of this list; start again without it")
            raise Invalid([Fault("startingAfter", problem)])

    def _visibility_of(self, ctx: Context) -> Visibility | None:
        """Return what limits the actor to some of the records; None if they see all."""
        return self.visibility and self.visibility.restrict_for(ctx.actor.can)

    def _to_columns(self, values: Mapping[str, Any]) -> dict[str, Value]:
        return {name: to_stored(value) for name, value in self.derive_columns(dict(values)).items()}


def record_stores_of(ctx: Context) -> Mapping[str, tuple[RecordStore[StoredRecord], Permission]]:
    """Return the store of each kind of record in the actor's areas, and the permission to read it, by id prefix."""
    return ctx.catalogue.find_record_stores(ctx.actor) if ctx.catalogue else {}


def fetch_any(ctx: Context, record_id: str) -> StoredRecord:
    """Return the record of any kind with this id or number, if the actor may see it."""
    stores = record_stores_of(ctx)
    by_prefix = stores.get(record_id.partition("_")[0])
    for record_store, permission in [by_prefix] if by_prefix else stores.values():
        if ctx.actor.can(permission) and (by_prefix or record_store.number_column):
            with suppress(NotFound):
                record = record_store.fetch_fully_visible(ctx, record_id)
                # Where an organisation has only one record of a kind, fetching any id returns that record.
                if record.id == record_id or record_store.number_column:
                    return record
    raise NotFound("record")
