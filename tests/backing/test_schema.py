"""The schema, asked of the database: the same tables on both engines, each after those that it names."""

import pytest

from installations import Installations
from mainstay.backing.schema import Table, read_tables
from mainstay.settings import Settings
from mainstay.staging import connect, open_stage


def tables_of(settings: Settings) -> list[Table]:
    open_stage(settings).database.close()
    database = connect(settings)
    try:
        with database.surveying() as rows:
            return read_tables(rows, database.engine)
    finally:
        database.close()


def test_what_is_named_comes_before_what_names_it(fresh_settings: Settings) -> None:
    tables = tables_of(fresh_settings)

    names = [table.name for table in tables]
    assert {"organisation", "schema_step", "job", "turnstile", "audit_record"} < set(names)
    assert not [name for name in names if name.startswith("sqlite_")]
    for place, table in enumerate(tables):
        for reference in table.references:
            assert reference.table in names[:place], table.name
            assert set(reference.columns) <= set(table.columns)
    job = next(table for table in tables if table.name == "job")
    assert job.key == ("organisation_id", "id")
    assert (("organisation_id", "customer_id"), "customer", ("organisation_id", "id")) in job.references


def test_both_engines_have_the_same_tables(
    installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> None:
    told = []
    for engine in ("sqlite", "postgresql"):
        tables = tables_of(installations.empty(engine, tmp_path_factory.mktemp(engine)))
        told.append({(t.name, frozenset(t.columns), t.key, frozenset(t.references)) for t in tables})
    assert told[0] == told[1]
