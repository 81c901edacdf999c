"""Whether the database itself is sound: its pages, its schema, and what its rows name."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from mainstay.backing.database import Survey, Unreachable
from mainstay.backing.migrations.apply import build, steps_for
from mainstay.backing.proof import Books, Flaw, Proof
from mainstay.backing.schema import Reference, Table, read_tables
from mainstay.backing.schema_objects import SchemaObject, read_objects


def damaged_pages(books: Books) -> Iterator[Flaw]:
    """What the embedded database finds wrong with its own file; a PostgreSQL server looks after its own."""
    if books.engine != "sqlite":
        return
    try:
        for (told,) in books.rows.each("PRAGMA integrity_check"):
            if told != "ok":
                yield Flaw("the database file", str(told))
    except Unreachable as damaged:
        yield Flaw("the database file", str(damaged))


def unknown_steps(books: Books) -> Iterator[Flaw]:
    """The steps of the schema that were applied and are not known, or are known and were not applied."""
    if is_bare(books):
        yield Flaw("the database", "has no tables of Mainstay; `mainstay migrate` makes them")
        return
    known = {step.number: step.name for step in steps_for(books.engine)}
    applied = {int(number or 0): str(name) for number, name in books.rows.all("SELECT number, name FROM schema_step")}
    for number in sorted(known.keys() | applied.keys()):
        if number not in applied:
            yield Flaw(f"step {known[number]}", "is not applied; `mainstay migrate` applies it")
        elif known.get(number) != applied[number]:
            yield Flaw(f"step {applied[number]}", "was applied, and this Mainstay does not know it")


def is_bare(books: Books) -> bool:
    """Whether there are no tables of Mainstay yet."""
    return not any(table.name == "schema_step" for table in read_tables(books.rows, books.engine))


def missing_columns(books: Books) -> Iterator[Flaw]:
    """The tables and columns that are not there: what reads them cannot be looked at."""
    there = {table.name: table.columns for table in read_tables(books.rows, books.engine)}
    with suppress(Unreachable):
        yield from _missing(_expected(books).tables, there)


def _missing(expected: Mapping[str, Sequence[str]], there: Mapping[str, Sequence[str]]) -> Iterator[Flaw]:
    for name, columns in expected.items():
        if name not in there:
            yield Flaw(f"table {name}", "is not there")
        for column in columns if name in there else ():
            if column not in there[name]:
                yield Flaw(f"column {name}.{column}", "is not there")


def changed_objects(books: Books) -> Iterator[Flaw]:
    """What hangs on the tables and is not as the migrations make it: indexes, triggers, constraints, fences."""
    try:
        expected, there = _expected(books), read_objects(books.rows)
    except Unreachable as fault:
        yield Flaw("the schema", f"cannot be compared with what the migrations make. {fault}")
        return
    for one, definition in expected.objects.items():
        where = f"{one.kind} {one.name}"
        if one not in there:
            yield Flaw(where, f"is not there. The migrations make it: {definition}")
        elif there[one] != definition:
            yield Flaw(where, f"is not as the migrations make it: {definition}")
    for one in there.keys() - expected.objects.keys():
        # Other tables, and what hangs on them, may belong to somebody else.
        if one.table in expected.tables:
            yield Flaw(f"{one.kind} {one.name}", f"of the table {one.table} is made by no migration. Remove it")


class _Expected(NamedTuple):
    """The schema that the migrations make."""

    tables: Mapping[str, tuple[str, ...]]
    objects: Mapping[SchemaObject, str]


# By engine and newest step: it takes longer to make than to compare.
_MADE: dict[tuple[str, int], _Expected] = {}


def _expected(books: Books) -> _Expected:
    of = books.engine, steps_for(books.engine)[-1].number
    if of not in _MADE:
        with books.trying() as rows:
            build(rows)
            tables = {table.name: table.columns for table in read_tables(rows, books.engine)}
            _MADE[of] = _Expected(tables, read_objects(rows))
    return _MADE[of]


def rows_that_name_nothing(books: Books) -> Iterator[Flaw]:
    """The rows whose foreign keys name a row that is not there, whatever the engine believes of them."""
    for table in read_tables(books.rows, books.engine):
        for reference in table.references:
            yield from _without(books.rows, table, reference)


def _without(rows: Survey, table: Table, reference: Reference) -> Iterator[Flaw]:
    key = ", ".join(f"own.{column}" for column in table.key)
    whole = " AND ".join(f"own.{column} IS NOT NULL" for column in reference.columns)
    same = " AND ".join(
        f"other.{named} = own.{column}" for column, named in zip(reference.columns, reference.named, strict=True)
    )
    sql = (
        f"SELECT {key} FROM {table.name} AS own WHERE {whole}"
        f" AND NOT EXISTS (SELECT 1 FROM {reference.table} AS other WHERE {same})"
    )
    for row in rows.each(sql):
        where = f"{table.name} {' '.join(map(str, row))}"
        yield Flaw(where, f"names a row of {reference.table} that is not there ({', '.join(reference.columns)})")


PROOFS = (
    Proof("storage", "The database file is not damaged", damaged_pages, whole=True, decisive=True),
    Proof("schema", "The schema is the one this version knows", unknown_steps, whole=True, decisive=True),
    Proof("columns", "Every table has its columns", missing_columns, whole=True, decisive=True),
    Proof(
        "objects", "Indexes, triggers and constraints are those that the migrations make", changed_objects, whole=True
    ),
    Proof("foreign_keys", "What rows name is there", rows_that_name_nothing, whole=True),
)
