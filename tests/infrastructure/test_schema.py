"""The schema, asked of the database: the same tables on both engines, each after those that it names."""

import pytest

from mainstay.composition import connect, open_performer
from mainstay.infrastructure.schema import SchemaTable, read_tables
from mainstay.settings import Settings
from support.installations import Installations


def tables_of(settings: Settings) -> list[SchemaTable]:
    open_performer(settings).database.close()
    database = connect(settings)
    try:
        with database.scan_transaction() as db:
            return read_tables(db, database.engine)
    finally:
        database.close()


def test_what_is_named_comes_before_what_names_it(fresh_settings: Settings) -> None:
    tables = tables_of(fresh_settings)

    names = [table.name for table in tables]
    assert {"organisation", "schema_step", "job", "turnstile", "audit_record"} < set(names)
    assert not [name for name in names if name.startswith("sqlite_")]
    for place, table in enumerate(tables):
        for reference in table.foreign_keys:
            assert reference.table in names[:place], table.name
            assert set(reference.columns) <= set(table.columns)
    job = next(table for table in tables if table.name == "job")
    assert job.key == ("organisation_id", "id")
    assert (("organisation_id", "customer_id"), "customer", ("organisation_id", "id")) in job.foreign_keys


def test_both_engines_have_the_same_tables(
    installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> None:
    described = []
    for engine in ("sqlite", "postgresql"):
        tables = tables_of(installations.make_empty(engine, tmp_path_factory.mktemp(engine)))
        described.append({(t.name, frozenset(t.columns), t.key, frozenset(t.foreign_keys)) for t in tables})
    assert described[0] == described[1]
