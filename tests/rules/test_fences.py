"""Row-level security: PostgreSQL itself shows an organisation only its own rows."""

from dataclasses import replace

import psycopg
import pytest

from mainstay.business.people.roles import remove_person
from mainstay.business.records.file_links import request_upload
from mainstay.composition import open_performer
from mainstay.identity.keys import update_key
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.row_security import EXEMPT_TABLES
from mainstay.settings import read_settings
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from rules.examples import DryRun, SampleRecords, open_dry_run
from support.cast import Cast
from support.customers import make_job
from support.engines import PostgresServer
from support.stored_state import actor_with_key

# Read before the organisation is known: by the hash of a secret, by the id in a sealed link, or by the worker.
WITHOUT_ROW_SECURITY = {"api_key", "outbox", "session", "one_time_link", "oauth_code", "oauth_token", "calendar_link"}
TENANT_COLUMNS = {
    "organisation": "id",
    "person": "organisation_id",
    "event": "organisation_id",
    "audit": "organisation_id",
    "audit_record": "organisation_id",
    "replay": "organisation_id",
    "undo": "organisation_id",
    "confirmation": "organisation_id",
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
    "equipment": "organisation_id",
    "site": "organisation_id",
    "job": "organisation_id",
    "own_customer": "organisation_id",
    "own_job": "organisation_id",
    "note": "organisation_id",
    "saved_view": "organisation_id",
    "conversation": "organisation_id",
    "conversation_turn": "organisation_id",
    "conversation_step": "organisation_id",
    "assistant_usage": "organisation_id",
    "document": "organisation_id",
    "upload": "organisation_id",
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
# These have row security too, and are empty here: other doors fill them, or they are about the next days.
EMPTY_TABLES = {"import_run", "import_cells", "import_change", "untold_visit"}
EACH_TABLE = pytest.mark.parametrize(("table", "column"), TENANT_COLUMNS.items())


@pytest.fixture(scope="module")
def postgresql_dry_run(postgresql: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> DryRun:
    """Organisations on PostgreSQL."""
    settings = replace(read_settings({}), data=tmp_path_factory.mktemp("fences"), database=postgresql.new_database())
    dry_run = open_dry_run(open_performer(settings))
    for samples in (dry_run.open, dry_run.foreign):
        # What has a word that not everyone is shown is looked up by its words at once.
        make_job(samples.cast, samples.work_samples.customer, customerOrderNumber="4711")
        request_confirmation(samples.cast)
        request_file(samples)
    return dry_run


def request_confirmation(cast: Cast) -> None:
    """Ask for something with a key whose person has to confirm it."""
    key = cast.make_key()
    cast.perform(update_key, keyId=actor_with_key(cast, key).credential, confirmsInOffice=True)
    answer = cast.answer(remove_person, actor_with_key(cast, key), personId=cast.people[Role.ADMIN], confirmed=True)
    assert answer.awaits_confirmation


def request_file(samples: SampleRecords) -> None:
    """Ask for an address to send a file to."""
    agent = samples.cast.actor(Role.OWNER, door=Door.AGENT)
    samples.cast.perform(request_upload, agent, recordId=samples.work_samples.job, name="Plan.pdf")


def organisation_of(samples: SampleRecords) -> str:
    return samples.cast.organisation


def test_the_application_s_role_is_bound_by_row_security(postgresql_dry_run: DryRun) -> None:
    with postgresql_dry_run.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        found = db.one(
            "SELECT CAST(rolsuper AS int), CAST(rolbypassrls AS int) FROM pg_roles WHERE rolname = current_user"
        )
    assert found == (0, 0)


def test_every_table_of_organisations_has_row_security_or_is_named_as_exempt(postgresql_dry_run: DryRun) -> None:
    with postgresql_dry_run.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        tables = db.all(
            "SELECT c.relname, CAST(c.relrowsecurity AS int), CAST(c.relforcerowsecurity AS int),"
            " (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) FROM pg_class c"
            " WHERE c.relkind = 'r' AND c.relnamespace = CAST('public' AS regnamespace)"
            " AND (c.relname = 'organisation' OR EXISTS (SELECT 1 FROM pg_attribute a"
            " WHERE a.attrelid = c.oid AND a.attname = 'organisation_id'))"
        )
    assert EXEMPT_TABLES.keys() == WITHOUT_ROW_SECURITY
    secured_tables = TENANT_COLUMNS.keys() | EMPTY_TABLES
    assert {str(name) for name, *_ in tables} == secured_tables | WITHOUT_ROW_SECURITY
    assert {str(name): [1, 1, 1] for name in secured_tables} == {
        str(name): flags for name, *flags in tables if name not in WITHOUT_ROW_SECURITY
    }
    assert {str(name) for name, *flags in tables if flags == [0, 0, 0]} == WITHOUT_ROW_SECURITY


def test_what_is_called_empty_is_empty(postgresql_dry_run: DryRun) -> None:
    # What has rows here is tried with the others.
    with postgresql_dry_run.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert {table for table in EMPTY_TABLES if db.one(f"SELECT 1 FROM {table} LIMIT 1")} == set()


@EACH_TABLE
def test_a_statement_that_forgot_the_organisation_sees_own_rows_only(
    postgresql_dry_run: DryRun, table: str, column: str
) -> None:
    for samples in (postgresql_dry_run.open, postgresql_dry_run.foreign):
        with postgresql_dry_run.performer.database.read_transaction(organisation_of(samples)) as db:
            found = {row[0] for row in db.all(f"SELECT {column} FROM {table}")}
        assert found == {organisation_of(samples)}


@EACH_TABLE
def test_a_statement_that_names_another_organisation_sees_nothing(
    postgresql_dry_run: DryRun, table: str, column: str
) -> None:
    with postgresql_dry_run.performer.database.read_transaction(organisation_of(postgresql_dry_run.open)) as db:
        found = db.all(
            f"SELECT 1 FROM {table} WHERE {column} = :other", other=organisation_of(postgresql_dry_run.foreign)
        )
    assert found == []


# The audit trail cannot be changed at all.
@pytest.mark.parametrize("table", sorted(TENANT_COLUMNS.keys() - {"audit"}))
def test_a_change_that_forgot_the_organisation_reaches_own_rows_only(postgresql_dry_run: DryRun, table: str) -> None:
    column = TENANT_COLUMNS[table]
    with postgresql_dry_run.performer.database.write_transaction(organisation_of(postgresql_dry_run.open)) as db:
        seen = db.one(f"SELECT count(*) FROM {table} WHERE {column} = :organisation")
        changed = db.run(f"UPDATE {table} SET {column} = {column}")
    assert (changed,) == seen


def test_a_row_cannot_be_put_into_another_organisation(postgresql_dry_run: DryRun) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
        postgresql_dry_run.performer.database.write_transaction(organisation_of(postgresql_dry_run.open)) as db,
    ):
        db.run(
            "INSERT INTO replay (organisation_id, credential, key, fingerprint, answer, created_at)"
            " VALUES (:other, 'x', 'x', 'x', 'x', 'x')",
            other=organisation_of(postgresql_dry_run.foreign),
        )


def test_a_row_cannot_be_moved_into_another_organisation(postgresql_dry_run: DryRun) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
        postgresql_dry_run.performer.database.write_transaction(organisation_of(postgresql_dry_run.open)) as db,
    ):
        db.run("UPDATE replay SET organisation_id = :other", other=organisation_of(postgresql_dry_run.foreign))


@EACH_TABLE
def test_a_transaction_that_names_no_organisation_sees_nothing(
    postgresql_dry_run: DryRun, table: str, column: str
) -> None:
    with postgresql_dry_run.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.all(f"SELECT {column} FROM {table}")
        db.run("SET LOCAL mainstay.organisation = ''")
        assert db.all(f"SELECT {column} FROM {table}") == []
