"""The schema, asked of the database: the same tables on both engines, each after those that it names."""

import pytest

from mainstay.composition import connect, open_performer
from mainstay.infrastructure.row_security import EXEMPT_TABLES
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


TENANT = "organisation_id"
# Found by links that do not name their organisation. Decision 101 says what several database servers would need.
UNIQUE_EVERYWHERE = {"invoice_by_id", "quote_by_id", "upload_by_hash"}


def test_the_key_of_each_table_of_organisations_begins_with_the_organisation(fresh_settings: Settings) -> None:
    tables = {table.name: table for table in tables_of(fresh_settings)}
    tenant_tables = {name for name, table in tables.items() if TENANT in table.columns} - EXEMPT_TABLES.keys()
    assert len(tenant_tables) > 50
    assert [name for name in tenant_tables if tables[name].key[:1] != (TENANT,)] == []
    crossing = [
        (name, reference)
        for name in tenant_tables
        for reference in tables[name].foreign_keys
        if reference.table in tenant_tables
        and (reference.columns[0], reference.referenced_columns[0]) != (TENANT, TENANT)
    ]
    assert crossing == []


@pytest.mark.engines("sqlite")
def test_what_is_unique_is_unique_within_an_organisation(fresh_settings: Settings) -> None:
    open_performer(fresh_settings).database.close()
    database = connect(fresh_settings)
    with database.scan_transaction() as db:
        found = {
            str(name): (str(table), str(columns).split(","))
            for table, name, columns in db.all(
                "SELECT t.name, i.name, group_concat(c.name) FROM sqlite_master AS t"
                " JOIN pragma_index_list(t.name) AS i JOIN pragma_index_info(i.name) AS c"
                " WHERE t.type = 'table' AND i.\"unique\" GROUP BY 1, 2"
            )
        }
    tenant_tables = {
        table.name for table in tables_of(fresh_settings) if TENANT in table.columns
    } - EXEMPT_TABLES.keys()
    database.close()
    assert {
        name for name, (table, columns) in found.items() if table in tenant_tables and TENANT not in columns
    } == UNIQUE_EVERYWHERE
