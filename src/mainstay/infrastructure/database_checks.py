"""Invariants of the database itself: its pages, its schema, and the references between its rows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from mainstay.infrastructure.database import DatabaseUnavailable, ScanHandle
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation
from mainstay.infrastructure.migrations.apply import HOW_TO_UPDATE, build_schema, is_too_old, newest_step, steps_for
from mainstay.infrastructure.schema import ForeignKey, SchemaTable, read_tables
from mainstay.infrastructure.schema_objects import SchemaObject, read_schema_objects


def find_damaged_pages(context: CheckContext) -> Iterator[Violation]:
    """Find damage in the file of the embedded database; a PostgreSQL server checks its own files."""
    if context.engine != "sqlite":
        return
    try:
        for (message,) in context.db.stream("PRAGMA integrity_check"):
            if message != "ok":
                yield Violation("the database file", str(message))
    except DatabaseUnavailable as damaged:
        yield Violation("the database file", str(damaged))


def find_unknown_steps(context: CheckContext) -> Iterator[Violation]:
    """Find migration steps that were applied but are unknown, or are known but were not applied."""
    if has_no_tables(context):
        yield Violation("the database", "has no tables of Mainstay; `mainstay migrate` makes them")
        return
    if is_too_old(newest := newest_step(context.db), context.engine):
        yield Violation("the schema", f"has step {newest}, which is older than this Mainstay knows. {HOW_TO_UPDATE}")
        return
    known = {step.number: step.name for step in steps_for(context.engine)}
    baseline = min(known)
    found = context.db.all("SELECT number, name FROM schema_step WHERE number >= :baseline", baseline=baseline)
    applied = {int(number or 0): str(name) for number, name in found}
    for number in sorted(known.keys() | applied.keys()):
        if number not in applied:
            yield Violation(f"step {known[number]}", "is not applied; `mainstay migrate` applies it")
        # An older version came to the number of the baseline by a step of another name.
        elif number > baseline and known.get(number) != applied[number]:
            yield Violation(f"step {applied[number]}", "was applied, and this Mainstay does not know it")


def has_no_tables(context: CheckContext) -> bool:
    """Return whether the tables of Mainstay do not exist yet."""
    return not any(table.name == "schema_step" for table in read_tables(context.db, context.engine))


def find_missing_columns(context: CheckContext) -> Iterator[Violation]:
    """Find missing tables and columns: checks that read them would fail."""
    existing = {table.name: table.columns for table in read_tables(context.db, context.engine)}
    with suppress(DatabaseUnavailable):
        yield from _compare_columns(_expected_schema(context).tables, existing)


def _compare_columns(
    expected: Mapping[str, Sequence[str]], existing: Mapping[str, Sequence[str]]
) -> Iterator[Violation]:
    for name, columns in expected.items():
        if name not in existing:
            yield Violation(f"table {name}", "is not there")
        for column in columns if name in existing else ():
            if column not in existing[name]:
                yield Violation(f"column {name}.{column}", "is not there")


def find_changed_objects(context: CheckContext) -> Iterator[Violation]:
    """Find indexes, triggers, constraints and policies that differ from what the migrations create."""
    try:
        expected, existing = _expected_schema(context), read_schema_objects(context.db)
    except DatabaseUnavailable as error:
        yield Violation("the schema", f"cannot be compared with what the migrations make. {error}")
        return
    for schema_object, definition in expected.objects.items():
        where = f"{schema_object.kind} {schema_object.name}"
        if schema_object not in existing:
            yield Violation(where, f"is not there. The migrations make it: {definition}")
        elif existing[schema_object] != definition:
            yield Violation(where, f"is not as the migrations make it: {definition}")
    for schema_object in existing.keys() - expected.objects.keys():
        # Other tables and their objects may belong to somebody else.
        if schema_object.table in expected.tables:
            yield Violation(
                f"{schema_object.kind} {schema_object.name}",
                f"of the table {schema_object.table} is made by no migration. Remove it",
            )


class _ExpectedSchema(NamedTuple):
    """The schema that the migrations create."""

    tables: Mapping[str, tuple[str, ...]]
    objects: Mapping[SchemaObject, str]


# Cached by engine and newest step: creating the schema takes longer than comparing it.
_EXPECTED_SCHEMAS: dict[tuple[str, int], _ExpectedSchema] = {}


def _expected_schema(context: CheckContext) -> _ExpectedSchema:
    key = context.engine, steps_for(context.engine)[-1].number
    if key not in _EXPECTED_SCHEMAS:
        with context.temporary_schema() as db:
            build_schema(db)
            tables = {table.name: table.columns for table in read_tables(db, context.engine)}
            _EXPECTED_SCHEMAS[key] = _ExpectedSchema(tables, read_schema_objects(db))
    return _EXPECTED_SCHEMAS[key]


def find_dangling_references(context: CheckContext) -> Iterator[Violation]:
    """Find rows whose foreign keys refer to a missing row, without relying on the engine's own checks."""
    for table in read_tables(context.db, context.engine):
        for reference in table.foreign_keys:
            yield from _find_missing_targets(context.db, table, reference)


def _find_missing_targets(db: ScanHandle, table: SchemaTable, reference: ForeignKey) -> Iterator[Violation]:
    key = ", ".join(f"own.{column}" for column in table.key)
    is_set = " AND ".join(f"own.{column} IS NOT NULL" for column in reference.columns)
    matches = " AND ".join(
        f"other.{named} = own.{column}"
        for column, named in zip(reference.columns, reference.referenced_columns, strict=True)
    )
    sql = (
        f"SELECT {key} FROM {table.name} AS own WHERE {is_set}"
        f" AND NOT EXISTS (SELECT 1 FROM {reference.table} AS other WHERE {matches})"
    )
    for row in db.stream(sql):
        where = f"{table.name} {' '.join(map(str, row))}"
        yield Violation(where, f"names a row of {reference.table} that is not there ({', '.join(reference.columns)})")


INVARIANTS = (
    Invariant(
        "storage", "The database file is not damaged", find_damaged_pages, is_installation_wide=True, stops_check=True
    ),
    Invariant(
        "schema",
        "The schema is the one this version knows",
        find_unknown_steps,
        is_installation_wide=True,
        stops_check=True,
    ),
    Invariant(
        "columns", "Every table has its columns", find_missing_columns, is_installation_wide=True, stops_check=True
    ),
    Invariant(
        "objects",
        "Indexes, triggers and constraints are those that the migrations make",
        find_changed_objects,
        is_installation_wide=True,
    ),
    Invariant("foreign_keys", "What rows name is there", find_dangling_references, is_installation_wide=True),
)
