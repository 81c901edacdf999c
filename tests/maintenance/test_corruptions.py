"""`check` names whatever is changed in the database behind the product's back; each case is one statement."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from typing import cast as known_as

import orjson
import pytest

from mainstay.catalogue import INVARIANTS
from mainstay.composition import connect, open_files
from mainstay.infrastructure.database import ALL_ORGANISATIONS, MigratableDatabase, ScanHandle
from mainstay.infrastructure.invariants import Violation
from mainstay.infrastructure.row_hashes import HASHED_TABLES
from mainstay.maintenance.check import check_invariants
from mainstay.values.moments import system_clock
from support.backups import SampleInstallation
from support.command_line import run_command


class Corruption(NamedTuple):
    """One row of a table that is corrupted: its new values, or that it is removed or copied."""

    table: str
    change: str
    which: str = "1 = 1"

    @property
    def name(self) -> str:
        """The name of the case."""
        return f"{self.table}: {self.change[:60]}"


REMOVED = "removed"
COPIED = "copied"
_ISSUED = "status = 'issued'"
_APPROVED = "status = 'approved'"

CORRUPTIONS = [
    # Invoices, credit notes and payments.
    Corruption("invoice", "taxes = '[]'", _ISSUED),
    Corruption("invoice", "snapshot = replace(snapshot, 'name', 'mane')", _ISSUED),
    Corruption("invoice", "issued_on = '2020-01-01'", _ISSUED),
    Corruption("invoice", "due_on = '2099-01-01'", _ISSUED),
    Corruption("invoice", "lines = replace(lines, 'description', 'descripture')", _ISSUED),
    Corruption("invoice", "title = 'Something else'", _ISSUED),
    Corruption("invoice", "notes = 'Pay to another account'", _ISSUED),
    Corruption("invoice", "currency = 'EUR'", _ISSUED),
    Corruption("invoice", "status = 'void'", _ISSUED),
    Corruption("invoice", "reminders = 7", _ISSUED),
    Corruption("invoice", "job_id = NULL", "job_id IS NOT NULL"),
    Corruption(
        "invoice", "customer_id = (SELECT max(id) FROM customer)", "customer_id <> (SELECT max(id) FROM customer)"
    ),
    Corruption("credit_note", "issued_on = '2020-01-01'"),
    Corruption("credit_note", "reason = 'None'"),
    Corruption("credit_note", "taxes = '[]'"),
    Corruption("credit_note", REMOVED),
    Corruption("payment", "on_date = '2020-01-01'"),
    Corruption("payment", "method = 'cash', reference = 'x'"),
    Corruption("payment", "status = 'reversed'", "status = 'recorded'"),
    Corruption("payment", "allocations = '[]'", "allocations <> '[]'"),
    # Hours, the schedule and leave.
    Corruption("time_entry", "minutes = minutes + 60", _APPROVED),
    Corruption("time_entry", "bill_rate = coalesce(bill_rate, 0) + 1", _APPROVED),
    Corruption("time_entry", "cost_rate = coalesce(cost_rate, 0) + 1", _APPROVED),
    Corruption("time_entry", "billable = 1 - billable", _APPROVED),
    Corruption("time_entry", "on_date = '2020-01-01'", _APPROVED),
    Corruption("time_entry", "status = 'approved'", "status IN ('draft', 'submitted')"),
    Corruption("time_entry", REMOVED),
    Corruption("time_entry", COPIED, _APPROVED),
    Corruption("visit", "starts_at = '2020-01-01T00:00:00.000Z'", "starts_at IS NOT NULL"),
    Corruption("visit", "allow_overlap = 1 - allow_overlap"),
    Corruption("visit", COPIED, "starts_at IS NOT NULL"),
    Corruption("time_off", "status = 'declined'"),
    # Purchasing.
    Corruption("bill", "lines = '[]'"),
    Corruption("bill", "total = total + 100, net = net + 100"),
    Corruption("bill", "status = 'paid'", "status <> 'paid'"),
    Corruption("purchase_order", "goods = '[]'", "goods <> '[]'"),
    Corruption("purchase_order", "receipts = '[{}]'"),
    Corruption("purchase_order", "standing = 'received'", "standing <> 'received'"),
    Corruption("purchase_order", "status = 'closed'", "status <> 'closed'"),
    Corruption("material", "cost = cost + 1"),
    Corruption("material", "price = price + 1"),
    Corruption("material", REMOVED),
    # Quotes, jobs and customers.
    Corruption("quote", "status = 'accepted'", "status = 'sent'"),
    Corruption("quote", "valid_until = '2099-01-01'"),
    Corruption("quote", "terms = 'None at all'"),
    Corruption("job", "title = 'Another job'"),
    Corruption("job", "budget = 1"),
    Corruption("job", "billing = 'nonBillable'", "billing <> 'nonBillable'"),
    Corruption("customer", "email = 'thief@example.com'"),
    Corruption("customer", "payment_terms_days = 365"),
    Corruption("customer", "tax_number = 'GB999999973'"),
    Corruption("contact", "email = 'thief@example.com'"),
    Corruption("site", "address = replace(address, '1', '2')", "address LIKE '%1%'"),
    Corruption("note", "body = 'Nothing was said'"),
    Corruption("note", REMOVED),
    Corruption("document", "visibility = 'office'", "visibility <> 'office'"),
    # Prices and settings.
    Corruption("price_item", "sell_price = 1"),
    Corruption("tax_rate", "percent = percent + 1"),
    Corruption("supplier", "account_number = '666'"),
    Corruption("organisation", "books_closed_until = '2020-01-01'"),
    Corruption("organisation", "bank = NULL, payment_terms_days = 99"),
    Corruption("organisation", "subscription = 'inactive'"),
    Corruption("number_series", "prefix = 'X-'"),
    # Who may come in.
    Corruption("person", "role = 'owner'", "role = 'member'"),
    Corruption("person", "status = 'left'", "role = 'office'"),
    Corruption("person", "cost_rate = 1"),
    Corruption("api_key", "access = 'write'", "access = 'read'"),
    Corruption("api_key", "revoked_at = NULL, hash = substr(hash, 2)"),
    Corruption("connection", "access = 'write', ended_at = NULL"),
    Corruption("webhook", "url = 'https://thief.example.com/'"),
    Corruption("calendar_link", "hash = substr(hash, 2)"),
]


class OtherCorruption(NamedTuple):
    """A statement that changes no hashed row, and a part of the message about it."""

    sql: str
    message: str


OTHER_CORRUPTIONS = [
    OtherCorruption(
        "UPDATE billed_source SET invoice_id = (SELECT max(id) FROM invoice)"
        " WHERE invoice_id <> (SELECT max(id) FROM invoice)",
        "marked as billed, but none of its lines bills it",
    ),
    OtherCorruption("UPDATE material SET billed = 1 - billed WHERE id = (SELECT min(id) FROM material)", "billed"),
    OtherCorruption("UPDATE allocation SET amount = amount - 1", "payment "),
    OtherCorruption("UPDATE audit_record SET hash = 'x' WHERE hash IS NOT NULL", "is not in the history"),
    OtherCorruption("UPDATE audit SET row_hashes = '{}' WHERE row_hashes IS NOT NULL", "does not fit the chain"),
    OtherCorruption("DROP TRIGGER audit_is_not_changed", "trigger audit_is_not_changed"),
    OtherCorruption("DROP TRIGGER visit_takes_time", "trigger visit_takes_time"),
    OtherCorruption("DROP INDEX audit_by_moment", "index audit_by_moment"),
    OtherCorruption("DROP VIEW search_fresh_word", "view search_fresh_word"),
    OtherCorruption("ALTER TABLE customer ADD COLUMN secret text", "table customer is not as the migrations make it"),
    OtherCorruption(
        "CREATE TRIGGER thief AFTER INSERT ON payment BEGIN DELETE FROM payment WHERE id = NEW.id; END",
        "trigger thief of the table payment is made by no migration",
    ),
    OtherCorruption("ALTER TABLE supplier DROP COLUMN notes", "column supplier.notes is not there"),
    OtherCorruption("CREATE INDEX other_index ON job (title)", "index other_index of the table job"),
]


@dataclass
class ChangedDatabase:
    """A database as `check` needs it, seen inside a transaction that is rolled back."""

    inner: MigratableDatabase
    db: ScanHandle

    @property
    def engine(self) -> str:
        """The engine of the real database."""
        return self.inner.engine

    @contextmanager
    def scan_transaction(self) -> Iterator[ScanHandle]:
        """Return the handle of the transaction with the change."""
        yield self.db

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


NUMBERED = {"invoice", "job", "quote", "credit_note", "purchase_order"}


class _Rollback(Exception):
    """Ends a case and rolls it back."""


@pytest.fixture(scope="module")
def database(original_installation: SampleInstallation) -> Iterator[MigratableDatabase]:
    """A database with data; each case is rolled back."""
    opened = connect(original_installation.settings)
    yield opened
    opened.close()


@contextmanager
def open_corruption(database: MigratableDatabase) -> Iterator[ScanHandle]:
    """Open a transaction that may change anything without guards, and roll it back."""
    with suppress(_Rollback), database.load_transaction() as db:
        yield db
        raise _Rollback


def find_flaws(database: MigratableDatabase, db: ScanHandle, original: SampleInstallation) -> list[Violation]:
    """Return the flaws that `check` finds."""
    db.organisation = ALL_ORGANISATIONS
    changed_database = known_as("MigratableDatabase", ChangedDatabase(database, db))
    found = check_invariants(changed_database, open_files(original.settings), system_clock(), INVARIANTS)
    return [Violation(flaw["where"], flaw["problem"]) for one in found for flaw in one.violations]


def corrupt(db: ScanHandle, case: Corruption) -> str:
    """Change one row; return what people call it."""
    key = HASHED_TABLES[case.table].key
    name_column = "number" if case.table in NUMBERED else key
    row = db.one(
        f"SELECT {key}, coalesce({name_column}, {key}) FROM {case.table} WHERE {case.which} ORDER BY {key} LIMIT 1"
    )
    assert row, "there must be such a row"
    if case.change == REMOVED:
        db.run(f"DELETE FROM {case.table} WHERE {key} = :key", key=row[0])
        return str(row[0])
    if case.change == COPIED:
        db.run(f"CREATE TEMPORARY TABLE copied AS SELECT * FROM {case.table} WHERE {key} = :key", key=row[0])
        db.run("UPDATE copied SET id = id || 'X'")
        db.run(f"INSERT INTO {case.table} SELECT * FROM copied")
        db.run("DROP TABLE copied")
        return f"{row[0]}X"
    assert db.run(f"UPDATE {case.table} SET {case.change} WHERE {key} = :key", key=row[0])
    return str(row[1])


def test_there_are_at_least_sixty_kinds() -> None:
    assert len({*CORRUPTIONS}) + len({*OTHER_CORRUPTIONS}) >= 60


@pytest.mark.only_on("sqlite")
def test_untouched_it_is_sound(database: MigratableDatabase, original_installation: SampleInstallation) -> None:
    with open_corruption(database) as db:
        assert find_flaws(database, db, original_installation) == []


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("case", CORRUPTIONS, ids=lambda case: case.name)
def test_a_changed_row_is_named(
    database: MigratableDatabase, original_installation: SampleInstallation, case: Corruption
) -> None:
    with open_corruption(database) as db:
        called = corrupt(db, case)
        found = find_flaws(database, db, original_installation)
    assert f"{case.table.replace('_', ' ')} {called}" in {flaw.where for flaw in found}


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("case", OTHER_CORRUPTIONS, ids=lambda case: case.sql[:60])
def test_what_belongs_to_no_row_is_named(
    database: MigratableDatabase, original_installation: SampleInstallation, case: OtherCorruption
) -> None:
    with open_corruption(database) as db:
        db.run(case.sql)
        found = find_flaws(database, db, original_installation)
    assert any(case.message in f"{flaw.where} {flaw.problem}" for flaw in found), found


ON_POSTGRESQL = (
    *(f"UPDATE {case.table} SET {case.change} WHERE {case.which}" for case in CORRUPTIONS if "=" in case.change),
    "DELETE FROM note",
)
GUARDS = (
    ("DROP TRIGGER audit_is_not_emptied ON audit", "trigger audit_is_not_emptied"),
    ("ALTER TABLE time_entry DISABLE TRIGGER USER", "trigger "),
    ("DROP INDEX audit_by_moment", "index audit_by_moment"),
    ("DROP POLICY own_rows ON invoice", "policy invoice.own_rows"),
    ("ALTER TABLE job NO FORCE ROW LEVEL SECURITY", "table job"),
    ("ALTER TABLE payment ALTER COLUMN method DROP NOT NULL", "column payment.method"),
    ("ALTER TABLE invoice DROP CONSTRAINT invoice_check", "constraint invoice_check"),
)


@pytest.mark.only_on("postgresql")
def test_on_postgresql_each_table_s_changes_are_named(sample_installation: SampleInstallation) -> None:
    one_each = {statement.split()[1]: statement for statement in ON_POSTGRESQL}
    sample_installation.corrupt(*one_each.values())
    assert {f"{table.replace('_', ' ')} " for table in one_each if table != "FROM"} <= {
        f"{where.rpartition(' ')[0]} " for where, _ in run_check_command(sample_installation)
    }


@pytest.mark.only_on("postgresql")
def test_on_postgresql_what_is_no_row_is_named(sample_installation: SampleInstallation) -> None:
    sample_installation.corrupt(*(statement for statement, _ in GUARDS))
    found = [f"{where} {problem}" for where, problem in run_check_command(sample_installation)]
    assert [said for _, said in GUARDS if not any(said in one for one in found)] == []


def run_check_command(keepsake: SampleInstallation) -> list[tuple[str, str]]:
    """Run the command; return the flaws it reports."""
    outcome = orjson.loads(run_command(keepsake.settings, "check", "--json").output)
    return [(flaw["where"], flaw["problem"]) for invariant in outcome["proofs"] for flaw in invariant["flaws"]]
