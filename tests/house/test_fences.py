"""The third fence, on PostgreSQL: the server itself shows an organisation no rows but its own."""

from dataclasses import replace

import psycopg
import pytest

from engines import PostgresServer
from house.examples import Exhibit, Trial, open_trial
from mainstay.backing.database import EVERY
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from trade import a_job

# Read before the organisation is known: by the hash of a secret, by the id in a sealed link, or by the worker.
EXEMPT = {"api_key", "outbox", "session", "one_time_link", "oauth_code", "oauth_token", "calendar_link"}
FENCED = {
    "organisation": "id",
    "person": "organisation_id",
    "event": "organisation_id",
    "audit": "organisation_id",
    "audit_record": "organisation_id",
    "replay": "organisation_id",
    "connection": "organisation_id",
    "webhook": "organisation_id",
    "delivery": "organisation_id",
    "delivery_attempt": "organisation_id",
    "search_word": "organisation_id",
    "search_record": "organisation_id",
    "search_fresh": "organisation_id",
    "message": "organisation_id",
    "number_series": "organisation_id",
    "customer": "organisation_id",
    "contact": "organisation_id",
    "site": "organisation_id",
    "job": "organisation_id",
    "own_customer": "organisation_id",
    "own_job": "organisation_id",
    "note": "organisation_id",
    "document": "organisation_id",
    "visit": "organisation_id",
    "time_off": "organisation_id",
    "time_entry": "organisation_id",
    "tax_rate": "organisation_id",
    "supplier": "organisation_id",
    "quote": "organisation_id",
    "invoice": "organisation_id",
    "billed_source": "organisation_id",
    "credit_note": "organisation_id",
    "payment": "organisation_id",
    "allocation": "organisation_id",
    "price_item": "organisation_id",
    "kit_part": "organisation_id",
    "purchase_order": "organisation_id",
    "account_statement": "organisation_id",
    "customer_key": "organisation_id",
    "bill": "organisation_id",
    "material": "organisation_id",
}
# Fenced as well, and empty here: what is in them is made by other doors, or is about the next days.
EMPTY = {"import_run", "import_cells", "import_change", "untold_visit"}
EACH_TABLE = pytest.mark.parametrize(("table", "column"), FENCED.items())


@pytest.fixture(scope="module")
def fenced(postgresql: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Organisations on PostgreSQL."""
    settings = replace(read_settings({}), data=tmp_path_factory.mktemp("fences"), database=postgresql.new_database())
    trial = open_trial(open_stage(settings))
    for exhibit in (trial.open, trial.foreign):
        # What has a word that not everyone is shown is looked up by its words at once.
        a_job(exhibit.cast, exhibit.business.customer, customerOrderNumber="4711")
    return trial


def own(exhibit: Exhibit) -> str:
    return exhibit.cast.organisation


def test_the_application_s_role_is_bound_by_the_fences(fenced: Trial) -> None:
    with fenced.stage.database.reading(EVERY) as rows:
        found = rows.one(
            "SELECT CAST(rolsuper AS int), CAST(rolbypassrls AS int) FROM pg_roles WHERE rolname = current_user"
        )
    assert found == (0, 0)


def test_every_table_of_organisations_is_fenced_or_named_as_exempt(fenced: Trial) -> None:
    with fenced.stage.database.reading(EVERY) as rows:
        tables = rows.all(
            "SELECT c.relname, CAST(c.relrowsecurity AS int), CAST(c.relforcerowsecurity AS int),"
            " (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) FROM pg_class c"
            " WHERE c.relkind = 'r' AND c.relnamespace = CAST('public' AS regnamespace)"
            " AND (c.relname = 'organisation' OR EXISTS (SELECT 1 FROM pg_attribute a"
            " WHERE a.attrelid = c.oid AND a.attname = 'organisation_id'))"
        )
    fenced_tables = FENCED.keys() | EMPTY
    assert {str(name) for name, *_ in tables} == fenced_tables | EXEMPT
    assert {str(name): [1, 1, 1] for name in fenced_tables} == {
        str(name): fence for name, *fence in tables if name not in EXEMPT
    }
    assert {str(name) for name, *fence in tables if fence == [0, 0, 0]} == EXEMPT


def test_what_is_called_empty_is_empty(fenced: Trial) -> None:
    # What has rows here is tried with the others.
    with fenced.stage.database.reading(EVERY) as rows:
        assert {table for table in EMPTY if rows.one(f"SELECT 1 FROM {table} LIMIT 1")} == set()


@EACH_TABLE
def test_a_statement_that_forgot_the_organisation_sees_own_rows_only(fenced: Trial, table: str, column: str) -> None:
    for exhibit in (fenced.open, fenced.foreign):
        with fenced.stage.database.reading(own(exhibit)) as rows:
            found = {row[0] for row in rows.all(f"SELECT {column} FROM {table}")}
        assert found == {own(exhibit)}


@EACH_TABLE
def test_a_statement_that_names_another_organisation_sees_nothing(fenced: Trial, table: str, column: str) -> None:
    with fenced.stage.database.reading(own(fenced.open)) as rows:
        found = rows.all(f"SELECT 1 FROM {table} WHERE {column} = :other", other=own(fenced.foreign))
    assert found == []


# The audit trail cannot be changed at all.
@pytest.mark.parametrize("table", sorted(FENCED.keys() - {"audit"}))
def test_a_change_that_forgot_the_organisation_reaches_own_rows_only(fenced: Trial, table: str) -> None:
    column = FENCED[table]
    with fenced.stage.database.changing(own(fenced.open)) as rows:
        seen = rows.one(f"SELECT count(*) FROM {table} WHERE {column} = :organisation")
        changed = rows.run(f"UPDATE {table} SET {column} = {column}")
    assert (changed,) == seen


def test_a_row_cannot_be_put_into_another_organisation(fenced: Trial) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
        fenced.stage.database.changing(own(fenced.open)) as rows,
    ):
        rows.run(
            "INSERT INTO replay (organisation_id, credential, key, fingerprint, answer, created_at)"
            " VALUES (:other, 'x', 'x', 'x', 'x', 'x')",
            other=own(fenced.foreign),
        )


def test_a_row_cannot_be_moved_into_another_organisation(fenced: Trial) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
        fenced.stage.database.changing(own(fenced.open)) as rows,
    ):
        rows.run("UPDATE replay SET organisation_id = :other", other=own(fenced.foreign))


@EACH_TABLE
def test_a_transaction_that_names_no_organisation_sees_nothing(fenced: Trial, table: str, column: str) -> None:
    with fenced.stage.database.reading(EVERY) as rows:
        assert rows.all(f"SELECT {column} FROM {table}")
        rows.run("SET LOCAL mainstay.organisation = ''")
        assert rows.all(f"SELECT {column} FROM {table}") == []
