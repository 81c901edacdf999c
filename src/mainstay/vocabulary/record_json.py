"""Convert rows to JSON with functions that are compiled once from the output models.

A row is converted directly, because making a model of each row would cost ten times as much as the query. The model is
still the only source: the conversion is compiled from it, and a test checks the result against the model's schema.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import takewhile
from types import MappingProxyType
from typing import Any, NamedTuple, NewType, get_args, get_origin

import orjson
from pydantic import BaseModel

from mainstay.infrastructure.database import Row
from mainstay.values.money import amount_text, price_text
from mainstay.vocabulary.agent_json import (
    OUTSIDER_FIELDS,
    AgentFormat,
    JsonRecord,
    compile_localiser,
    find_outsider_fields,
    find_outsider_text,
    find_part_model,
    format_for_agent,
    is_moment,
    local_times_of,
)
from mainstay.vocabulary.permissions import Permission, Permissions, find_withheld_values, is_hidden
from mainstay.vocabulary.schemas import Output, PageResult, Record, RecordResult, StoredRecord

PriceText = NewType("PriceText", str)
# An amount in the currency that the record names, stored in its minor unit.
MoneyText = NewType("MoneyText", str)
# A message, stored by `dump_message`. Stores render it for the reader of the answer.
MessageText = NewType("MessageText", str)

# What an operation returns: records from the database, or an output model.
Result = StoredRecord | RecordResult[Any] | PageResult[Any] | Output
Encoder = Callable[[Sequence[Row]], list[dict[str, object]]]

# Events go to the organisation's own programs, so nothing is hidden in them.
ALL_PERMISSIONS: Permissions = frozenset(Permission)

_NO_FIELDS: Mapping[str, object] = MappingProxyType({})
_NO_MODELS: Mapping[str, type[BaseModel]] = MappingProxyType({})


def to_json(result: Result, permissions: Permissions = ALL_PERMISSIONS) -> bytes:
    """Return a result as JSON, as people with these permissions see it."""
    if isinstance(result, PageResult):
        model: type[Output] = result.model
        envelope: dict[str, object] = {"object": "list", "data": compile_encoder(model, permissions)(result.rows)}
        envelope |= {"hasMore": result.has_more} | make_totals_field(result)
        return orjson.dumps(envelope | make_hidden_field(model, permissions, result.rows))
    if isinstance(result, Output):
        return result.__pydantic_serializer__.to_json(result, by_alias=True)
    return orjson.dumps(to_dict(result, permissions))


def to_json_for_agent(
    result: Result, model: type[Output], permissions: Permissions, agent_format: AgentFormat
) -> bytes:
    """Return a result that is not a stored record as JSON, as an agent with these permissions reads it."""
    if not isinstance(result, PageResult):
        return format_for_agent(to_json(result, permissions), model, agent_format, _NO_MODELS)
    encode = _compile_page_encoder(model, permissions, has_every_field=agent_format.has_full_lists)
    data = encode(agent_format.time_zone, result.rows)
    envelope: dict[str, object] = {"object": "list", "data": data, "hasMore": result.has_more}
    envelope |= make_totals_field(result) | make_hidden_field(model, permissions, result.rows)
    if outsider_text := find_outsider_text(model, data):
        envelope[OUTSIDER_FIELDS] = outsider_text
    return orjson.dumps(envelope)


def make_totals_field(page: PageResult[Any]) -> dict[str, object]:
    """Return the field `totals` of a list, if its sums were asked for."""
    return {} if page.totals is None else {"totals": page.totals.model_dump(by_alias=True)}


def to_dict(result: StoredRecord | RecordResult[Any], permissions: Permissions = ALL_PERMISSIONS) -> dict[str, object]:
    """Return one record as a dictionary for JSON, as people with these permissions see it."""
    model: type[Output] = result.output if isinstance(result, StoredRecord) else result.model
    return compile_encoder(model, permissions)([result.row])[0] | make_hidden_field(model, permissions, [result.row])


def to_answer(
    record: StoredRecord,
    permissions: Permissions,
    office_url: str,
    actions: Sequence[str],
    extra_fields: Mapping[str, object] = _NO_FIELDS,
) -> bytes:
    """Return one record as JSON, with the address of its office page, its available actions and extra fields.

    The extra fields are those that the answer to a change contains besides the record's own.
    """
    answer = _compile_answer_encoder(record.output, permissions)(office_url, actions, *record.row)
    hidden = make_hidden_field(record.output, permissions, [record.row])
    return orjson.dumps(answer | hidden | dict(extra_fields) if hidden or extra_fields else answer)


def to_answer_for_agent(
    record: StoredRecord, permissions: Permissions, office_url: str, actions: Sequence[str], agent_format: AgentFormat
) -> bytes:
    """Return one record that was read as JSON, as an agent reads it."""
    model = record.output
    encode = _compile_agent_answer_encoder(model, permissions)
    answer = encode(agent_format.time_zone, office_url, actions, *record.row)
    extra_fields = make_hidden_field(model, permissions, [record.row])
    if outsider_text := find_outsider_text(model, [answer]):
        extra_fields[OUTSIDER_FIELDS] = outsider_text
    return orjson.dumps(answer | extra_fields if extra_fields else answer)


def make_hidden_field(model: type[Output], permissions: Permissions, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the field `hidden`: the names of the fields that are null in these rows for lack of a permission."""
    always, sometimes = _find_hidden(model, permissions)
    if not always and not sometimes:
        return {}
    hidden = [name for name, position, values in sometimes if any(row[position] in values for row in rows)]
    return {"hidden": [*always, *hidden]} if always or hidden else {}


@cache
def _find_hidden(
    model: type[Output], permissions: Permissions
) -> tuple[tuple[str, ...], tuple[tuple[str, int, tuple[str, ...]], ...]]:
    """Return the fields that are always hidden, and those hidden for some values, with their columns."""
    always, sometimes = [], []
    for position, name in enumerate(column_names(model)):
        field = model.model_fields[name]
        if is_hidden(field.metadata, permissions):
            always.append(field.alias or name)
        elif values := find_withheld_values(field.metadata, permissions):
            sometimes.append((field.alias or name, position, values))
    return tuple(always), tuple(sometimes)


def find_changed_fields(before: StoredRecord, after: StoredRecord) -> list[str]:
    """Return the fields that differ between two versions of a record, except those that every change changes."""
    values = zip(_field_names(after.output), before.row, after.row, strict=True)
    return [name for name, was, is_now in values if was != is_now and name is not None]


@cache
def _field_names(model: type[Output]) -> tuple[str | None, ...]:
    """Return the JSON name of each column; None for those that every change changes."""
    fields = model.model_fields
    return tuple(None if name in _ALWAYS_CHANGED else fields[name].alias or name for name in column_names(model))


@cache
def compile_encoder(model: type[Output], permissions: Permissions) -> Encoder:
    """Compile the function that converts rows of a model to dictionaries for people with these permissions.

    It is generated as source: `[{"object": noun, "id": c0, …} for c0, … in rows]`. A loop over fields and their
    converters would cost five times as much for a page.
    """
    source = _make_source(model, permissions, is_local=False)
    compiled: Encoder = source.compile(f"lambda rows: [{{{source.record}}} for ({source.columns}) in rows]")
    return compiled


@cache
def _compile_page_encoder(
    model: type[Output], permissions: Permissions, *, has_every_field: bool
) -> Callable[[str, Sequence[Row]], list[dict[str, Any]]]:
    """Compile the function that converts the rows of a list for agents: `lambda zone, rows: […]`.

    Unless they want every field, the list leaves out stamps, versions, old names and what is null.
    """
    source = _make_source(model, permissions, is_local=True)
    if has_every_field:
        compiled = source.compile(f"lambda zone, rows: [{{{source.record}}} for ({source.columns}) in rows]")
    else:
        compiled = source.compile_short_list(_find_fields_of_no_interest(model))
    encode: Callable[[str, Sequence[Row]], list[dict[str, Any]]] = compiled
    return encode


def _find_fields_of_no_interest(model: type[Output]) -> frozenset[str]:
    """Return the fields that short lists leave out."""
    stamps = _STAMP_FIELDS - _AUTHOR_FIELDS if model.shows_author else _STAMP_FIELDS
    old_names = frozenset(
        name
        for name, field in model.model_fields.items()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("deprecated")
    )
    return old_names | (stamps if issubclass(model, Record) else frozenset())


@cache
def _compile_answer_encoder(model: type[Output], permissions: Permissions) -> Callable[..., dict[str, object]]:
    """Compile the function that converts a row to an answer: `lambda office, actions, c0, …: {"id": c0, …}`."""
    source = _make_source(model, permissions, is_local=False)
    compiled: Callable[..., dict[str, object]] = source.compile(
        f"lambda office, actions, {source.columns}: {_answer_source(model, source)}"
    )
    return compiled


@cache
def _compile_agent_answer_encoder(model: type[Output], permissions: Permissions) -> Callable[..., JsonRecord]:
    """Compile the same for agents; the function takes a time zone first."""
    source = _make_source(model, permissions, is_local=True)
    compiled: Callable[..., JsonRecord] = source.compile(
        f"lambda zone, office, actions, {source.columns}: {_answer_source(model, source)}"
    )
    return compiled


def _answer_source(model: type[Output], source: "_Source") -> str:
    record = source.record
    # A record with an address of its own, such as a webhook, keeps that.
    if model.office_path and "url" not in model.model_fields:
        record_id = f"c{column_names(model).index('id')}"
        record += ", 'url': office + " + f" + {record_id} + ".join(
            repr(part) for part in model.office_path.split("{id}")
        )
    return f"{{{record}, 'availableActions': actions}}"


class _FieldSource(NamedTuple):
    """The JSON name of a field, the expression of its value, and whether that can be null."""

    alias: str
    expression: str
    can_be_null: bool

    @property
    def entry(self) -> str:
        """Its entry in a dictionary."""
        return f"{self.alias!r}: {self.expression}"


class _Source(NamedTuple):
    """Source for the conversion of a row: its variables, its fields, and the functions that they use."""

    columns: str
    fields: Mapping[str, _FieldSource]
    functions: dict[str, Any]

    @property
    def record(self) -> str:
        """The entries of the dictionary that is made of a row."""
        return ", ".join(field.entry for field in self.fields.values())

    def compile(self, source: str) -> Any:
        """Compile an expression of this source."""
        return eval(source, self.functions)

    def compile_short_list(self, skipped: frozenset[str]) -> Any:
        """Compile the function that converts rows, and leaves out these fields and all that are null.

        Its source tests each field that can be null, which costs half of what a filter of finished records would.
        """
        fields = [field for name, field in self.fields.items() if name not in skipped and field.expression != "None"]
        first = list(takewhile(lambda field: not field.can_be_null, fields))
        steps = [
            f"if (v := {field.expression}) is not None: r[{field.alias!r}] = v"
            if field.can_be_null
            else f"r[{field.alias!r}] = {field.expression}"
            for field in fields[len(first) :]
        ]
        lines = [f"r = {{{', '.join(field.entry for field in first)}}}", *steps, "records.append(r)"]
        body = "".join(f"\n  {line}" for line in lines)
        source = f"def encode(zone, rows):\n records = []\n for ({self.columns}) in rows:{body}\n return records"
        exec(source, self.functions)
        return self.functions["encode"]


def _make_source(model: type[Output], permissions: Permissions, *, is_local: bool) -> _Source:
    """Make the source for the conversion of a row; moments can be local times of the variable `zone`."""
    names, functions = column_names(model), dict(_CONVERTERS)
    currency = f"c{names.index('currency')}" if "currency" in names else ""
    zone = f"(c{names.index('time_zone')} or zone)" if "time_zone" in names else "zone"
    fields = {"object": _FieldSource("object", repr(model.noun), can_be_null=False)}
    for number, name in enumerate(names):
        field = model.model_fields[name]
        column, part = f"c{number}", find_part_model(field.annotation)
        if is_hidden(field.metadata, permissions):
            expression = "None"
        elif is_local and is_moment(field):
            expression = f"{column} and local({zone})[{column}]"
        elif is_local and part and (compile_localiser(part) or find_outsider_fields(part)):
            functions[f"part{number}"] = _make_part_reader(part)
            expression = f"{column} and part{number}({column}, {zone})"
        else:
            expression = _value_expression(field.annotation, column, currency)
        if withheld_values := find_withheld_values(field.metadata, permissions):
            expression = f"None if c{number} in {withheld_values!r} else {expression}"
        can_be_null = bool(withheld_values) or type(None) in get_args(field.annotation)
        fields[name] = _FieldSource(field.alias or name, expression, can_be_null)
    return _Source("".join(f"c{number}, " for number in range(len(names))), fields, functions)


def _make_part_reader(part: type[BaseModel]) -> Callable[[str, str], Any]:
    """Return the function that reads a nested record, or a list of them, with local times."""
    localise = compile_localiser(part)

    def read(text: str, zone: str) -> Any:
        value = orjson.loads(text)
        for record in value if isinstance(value, list) else [value]:
            if localise and record:
                localise(record, zone)
        return value

    return read


@cache
def find_message_columns(model: type[Output]) -> tuple[int, ...]:
    """Return the columns of a row that hold stored messages."""
    return tuple(
        number
        for number, name in enumerate(column_names(model))
        if MessageText in {model.model_fields[name].annotation, *get_args(model.model_fields[name].annotation)}
    )


@cache
def column_names(model: type[Output]) -> tuple[str, ...]:
    """Return the columns of a row in their order: the fields of the model after `object`."""
    return tuple(name for name in model.model_fields if name != "object")


# The fields that every change changes.
_ALWAYS_CHANGED = {"updated_at", "updated_by", "version"}
# Few different prices are in use, and each is in many rows.
_CONVERTERS: dict[str, Any] = {
    "price": lru_cache(4096)(price_text),
    "money": lru_cache(4096)(amount_text),
    "embed": orjson.Fragment,
    "local": local_times_of,
}
# What short lists leave out; some kinds of records say something by their author.
_STAMP_FIELDS = frozenset(Record.model_fields) - {"object", "id"}
_AUTHOR_FIELDS = frozenset({"created_at", "created_by"})


def _value_expression(kind: Any, column: str, currency: str) -> str:
    """Return the source that converts a stored column to its JSON value, in the currency of another column."""
    nullable = type(None) in get_args(kind)
    if nullable:
        kind = get_args(kind)[0]
    if kind is PriceText:
        expression = f"price({column})"
    elif kind is MoneyText:
        expression = f"money({column}, {currency})"
    elif kind is bool:
        expression = f"{column} == 1"
    elif get_origin(kind) in {list, dict} or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        # Nested lists and records are stored as JSON, and are passed on unchanged.
        expression = f"embed({column})"
    else:
        return column
    return f"None if {column} is None else {expression}" if nullable else expression
