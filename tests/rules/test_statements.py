"""Every statement names its organisation, except a few that are listed here."""

import re
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest

from mainstay.catalogue import CATALOGUE, UPKEEP
from mainstay.doors.cli.operator import Operator
from mainstay.identity.authenticate import actor_of_key
from mainstay.identity.links import LinkMaker
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import FolderFileStore
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import NotFound, Refusal
from mainstay.webhooks.attempt import Attempt
from mainstay.webhooks.dispatch_cycle import DispatchCycle
from mainstay.webhooks.signature import Signer
from rules.examples import DryRun
from support.recorded_statements import RecordedStatement, RecordingDatabase

TENANT_TABLES_SQL = {
    "sqlite": "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND c.name = 'organisation_id'",
    "postgresql": "SELECT table_name FROM information_schema.columns"
    " WHERE table_schema = 'public' AND column_name = 'organisation_id'",
}

# A one-time link is found by its id, which nobody can guess, before it is known whom it is for.
LINK_SQL = (
    "SELECT id, email, organisation_id, person_id, account_id FROM one_time_link"
    " WHERE id = :id AND kind = :kind AND expires_at > :now"
)


# Signing in and new passwords concern the account, which may be a person of several organisations.
ACCOUNT_SQL = {
    "DELETE FROM one_time_link WHERE account_id = :account",
    "DELETE FROM session WHERE account_id = :account AND id <> :excepted",
    (
        "INSERT INTO session (hash, id, account_id, organisation_id, browser, created_at, seen_at, kept)"
        " VALUES (:hash, :id, :account, :chosen, :browser, :at, :at, :kept)"
    ),
    (
        "INSERT INTO one_time_link (id, kind, email, email_folded, organisation_id, person_id, account_id, expires_at)"
        " VALUES (:id, :kind, :email, :folded, :place, :person, :account, :until)"
    ),
}


def read_tenant_tables(dry_run: DryRun) -> set[str]:
    with dry_run.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return {str(name) for (name,) in db.all(TENANT_TABLES_SQL[dry_run.database.engine])} | {"organisation"}


def find_unbound(statements: Iterable[RecordedStatement], tables: set[str]) -> set[str]:
    """Return the statements about rows of organisations that do not name the organisation."""
    about = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:{'|'.join(sorted(tables))})\b")
    plain = {" ".join(statement.sql.split()) for statement in statements}
    return {sql for sql in plain if about.search(sql) and not re.search(r":organisation\b", sql)}


@pytest.fixture(scope="module")
def all_statements(dry_run: DryRun) -> list[RecordedStatement]:
    """All statements of every operation, performed by every role."""
    dry_run.database.statements.clear()
    samples = dry_run.open
    actors: list[Actor] = [samples.cast.actor(role) for role in Role]
    actors += [samples.actor_with_key(Role.OWNER, Access.WRITE), operator_actor(samples.cast.organisation)]
    for actor in actors:
        for operation in CATALOGUE.operations:
            request_details = RequestDetails(new_id("req"), idempotency_key=new_id("once"))
            given = samples.example_input(operation, actor.role)
            try:
                dry_run.performer.perform(operation, actor, orjson.dumps(given), request_details)
                if "confirmed" in given:
                    dry_run.performer.perform(
                        operation, actor, orjson.dumps(given | {"confirmed": False}), request_details
                    )
            except Refusal:
                pass
    return [*dry_run.database.statements]


def test_a_table_of_rows_of_organisations_is_known_by_its_column(dry_run: DryRun) -> None:
    tables = {
        "search_word",
        "search_record",
        "search_fresh",
        "organisation",
        "person",
        "event",
        "audit",
        "replay",
        "api_key",
        "webhook",
        "delivery",
        "delivery_attempt",
    }
    assert tables <= read_tenant_tables(dry_run)


def test_every_operation_binds_every_statement_to_its_organisation(
    dry_run: DryRun, all_statements: list[RecordedStatement]
) -> None:
    assert len(all_statements) > 200
    assert find_unbound(all_statements, read_tenant_tables(dry_run)) == {LINK_SQL, *ACCOUNT_SQL}


# What reaches further than one row that it names: up to which rows. Beside each, a test has a row that must stay as it
# is, and checks that it does. Add such a row and check with each statement that you add here.
_CUSTOMER_CONDITION = "organisation_id = :organisation AND customer_id = :before"
_AGE_OF_IMPORT = "made_at <= :before AND (status NOT IN ('importing', 'undoing') OR made_at <= :long_before)"
_OLD_IMPORTS = f"(organisation_id, run_id) IN (SELECT organisation_id, id FROM import_run WHERE {_AGE_OF_IMPORT})"
_DEVICES = "SELECT hash FROM device WHERE account_id = :account ORDER BY created_at DESC, hash LIMIT :most"
_ACCOUNT_OF = (
    "SELECT person.account_id FROM person WHERE person.organisation_id = :organisation AND person.id = :person"
)
_LATE_WEBHOOKS = "SELECT organisation_id, id FROM webhook WHERE due_at > :latest"
_UNDELIVERED = "status IN ('waiting', 'sending')"
_LANES = "lane IN ('events', 'emails', 'prints', 'days')"


def _conversation_deletes(chosen: str) -> list[tuple[str, str]]:
    """Return how chosen conversations are deleted with what is in them: by table, with the condition."""
    own = " WHERE organisation_id = :organisation AND"
    conversations = f"SELECT id FROM conversation{own} {chosen}"
    turns = f"SELECT id FROM conversation_turn{own} conversation_id IN ({conversations})"
    deletes = [
        ("conversation_step", f"{own} turn_id IN ({turns})"),
        ("conversation_turn", f"{own} conversation_id IN ({conversations})"),
    ]
    return [*deletes, *([("conversation", f"{own} {chosen}")] if chosen != "id = :id" else [])]


WIDE_CHANGES = {
    "DELETE allocation WHERE organisation_id = :organisation AND payment_id = :payment AND invoice_id = :invoice",
    "DELETE billed_source WHERE organisation_id = :organisation AND source_id = :source",
    "DELETE calendar_link WHERE organisation_id = :organisation AND person_id = :person",
    "DELETE confirmation WHERE expires_at <= :now",
    *(
        f"DELETE {table}{condition}"
        for chosen in ("id = :id", "asked_at < :before")
        for table, condition in _conversation_deletes(chosen)
    ),
    "DELETE assistant_usage WHERE day < :before",
    "DELETE customer_key WHERE organisation_id = :organisation AND key = :key AND customer_id = :customer",
    "DELETE device WHERE account_id = :account",
    f"DELETE device WHERE account_id = :account AND hash NOT IN ({_DEVICES})",
    "DELETE device WHERE created_at <= :since",
    f"DELETE import_cells WHERE {_OLD_IMPORTS}",
    f"DELETE import_change WHERE {_OLD_IMPORTS}",
    f"DELETE import_run WHERE {_AGE_OF_IMPORT}",
    "DELETE oauth_client WHERE approved_at IS NULL AND created_at < :before",
    "DELETE oauth_code WHERE expires_at < :before",
    "DELETE oauth_ticket WHERE expires_at < :before",
    "DELETE oauth_token WHERE expires_at < :before",
    "DELETE one_time_link WHERE account_id = :account",
    "DELETE one_time_link WHERE expires_at <= :now",
    "DELETE replay WHERE created_at <= :before AND (credential <> :house OR created_at <= :long_before)",
    "DELETE return_ticket WHERE expires_at <= :now",
    "DELETE upload WHERE expires_at <= :now",
    "DELETE search_fresh WHERE organisation_id = :organisation AND kind = :of_kind AND record_id = :record",
    "DELETE session WHERE account_id = :account AND id <> :excepted",
    f"DELETE session WHERE organisation_id = :organisation AND account_id = ({_ACCOUNT_OF})",
    "DELETE session WHERE created_at <= :oldest_remembered",
    "DELETE undo WHERE created_at <= :before",
    "UPDATE account_statement WHERE organisation_id = :organisation AND customer_id = :before",
    (
        "UPDATE customer_key WHERE organisation_id = :organisation AND key = :key AND customer_id ="
        " (SELECT next.customer_id FROM customer_key AS next WHERE next.organisation_id = :organisation"
        " AND next.key = :key ORDER BY next.customer_id LIMIT 1)"
    ),
    "UPDATE api_key WHERE organisation_id = :organisation AND person_id = :person AND revoked_at IS NULL",
    "UPDATE connection WHERE organisation_id = :organisation AND person_id = :person AND ended_at IS NULL",
    *(
        f"UPDATE {table} WHERE {_CUSTOMER_CONDITION}"
        for table in ("contact", "credit_note", "invoice", "job", "own_job", "payment", "quote", "site")
    ),
    "UPDATE customer WHERE organisation_id = :organisation AND merged_into_id = :before",
    f"UPDATE delivery WHERE due_at IS NOT NULL AND (organisation_id, webhook_id) IN ({_LATE_WEBHOOKS})",
    f"UPDATE delivery WHERE organisation_id = :organisation AND webhook_id = :webhook AND {_UNDELIVERED}",
    "UPDATE number_series WHERE organisation_id = :organisation AND kind = :kind",
    "UPDATE organisation WHERE day_begins_at > :latest",
    f"UPDATE outbox WHERE {_LANES} AND turn IN (0, 1, 2) AND due_at > :latest",
    "UPDATE time_entry WHERE organisation_id = :organisation AND id IN (:these)",
    "UPDATE undo WHERE organisation_id = :organisation AND sequence = :sequence",
    "UPDATE webhook WHERE due_at > :latest",
}
_CHANGE_PATTERN = re.compile(r"(UPDATE|DELETE)(?: FROM)? (\w+) ")
_SINGLE_ROW_PATTERN = re.compile(r"(?:^|AND )(?:\w+\.)?(?:id|hash) = :\w+")
_LIST_PATTERN = re.compile(r":these_\w+(?:, :these_\w+)*")


def find_wide_changes(statements: Iterable[RecordedStatement]) -> set[str]:
    """Return the changes and deletes whose condition can match several rows, with that condition."""
    found = set()
    for sql in {" ".join(statement.sql.split()) for statement in statements}:
        outermost, changes = _blank_brackets(sql), _CHANGE_PATTERN.match(sql)
        end = outermost.find(" RETURNING ")
        condition = outermost.find(" WHERE ") + len(" WHERE ")
        if changes and not _SINGLE_ROW_PATTERN.search(outermost[condition : end if end > 0 else None]):
            condition_text = _LIST_PATTERN.sub(":these", sql[condition : end if end > 0 else None])
            found.add(f"{changes[1]} {changes[2]} WHERE {condition_text}")
    return found


def _blank_brackets(sql: str) -> str:
    """Blank out everything in brackets."""
    depth, letters = 0, []
    for letter in sql:
        depth -= letter == ")"
        letters.append(" " if depth else letter)
        depth += letter == "("
    return "".join(letters)


def test_what_reaches_further_than_one_row_is_known(dry_run: DryRun, all_statements: list[RecordedStatement]) -> None:
    upkeep = RecordingDatabase(dry_run.performer.database, commits=False)
    with upkeep.write_transaction(ALL_ORGANISATIONS) as db:
        for remove in UPKEEP:
            remove(db, dry_run.performer.clock())
    assert find_wide_changes([*all_statements, *upkeep.statements]) == WIDE_CHANGES


def test_every_operation_stays_within_one_organisation_s_transaction(
    dry_run: DryRun, all_statements: list[RecordedStatement]
) -> None:
    assert {statement.organisation for statement in all_statements} == {dry_run.open.cast.organisation}


def test_values_are_bound_and_never_written_into_a_statement(
    dry_run: DryRun, all_statements: list[RecordedStatement]
) -> None:
    samples = dry_run.open
    values = [samples.cast.organisation, samples.key, *samples.cast.people.values(), "nina@new.example", "Nina New"]
    found = {value for value in values for statement in all_statements if value in statement.sql}
    assert found == set()


def test_a_key_is_looked_up_across_organisations_by_its_hash_alone(dry_run: DryRun) -> None:
    dry_run.database.statements.clear()
    with dry_run.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        actor_of_key(db, dry_run.open.keys[Role.OWNER, Access.READ], Door.API, dry_run.open.cast.performer.clock())
    (only,) = find_unbound(dry_run.database.statements, read_tenant_tables(dry_run))
    assert only.endswith("AND api_key.hash = :hash")


# The dispatcher looks across organisations for those whose turn it is, and for what is on its way.
TURNS_SQL = (
    "SELECT organisation_id, id FROM webhook"
    " WHERE status = 'active' AND due_at <= :at AND trusted = :trusted ORDER BY served_at LIMIT :most"
)
IN_FLIGHT_SQL = (
    "SELECT d.organisation_id, d.webhook_id, w.trusted, d.id, d.attempts FROM delivery d"
    " JOIN webhook w ON w.organisation_id = d.organisation_id AND w.id = d.webhook_id"
    " WHERE d.status = 'sending' AND d.due_at > :at"
)


def test_the_dispatcher_looks_across_organisations_and_touches_one_at_a_time(dry_run: DryRun) -> None:
    samples, now = dry_run.open, dry_run.performer.clock()
    with dry_run.database.write_transaction(ALL_ORGANISATIONS) as db:
        given = {"owner": samples.cast.organisation, "at": "2000"}
        for table, record_id in (("webhook", samples.webhook), ("delivery", samples.delivery)):
            db.run(
                f"UPDATE {table} SET due_at = :at WHERE organisation_id = :owner AND id = :id", id=record_id, **given
            )
        dry_run.database.statements.clear()
        taken = DispatchCycle(db, now, lambda: 0.0).run([], [], take=True)
        results = [Attempt(sending, now, 1, status=500) for sending in taken]
        DispatchCycle(db, now, lambda: 0.0).run(results, taken, take=True)
    assert samples.delivery in {sending.delivery for sending in taken}
    found = find_unbound(dry_run.database.statements, read_tenant_tables(dry_run))
    assert {sql for sql in found if "organisation_id = :owner" not in sql} == {TURNS_SQL, IN_FLIGHT_SQL}
    assert len(found) > 8


def make_operator(dry_run: DryRun) -> Operator:
    here = "http://127.0.0.1:8000"
    return Operator(
        dry_run.performer,
        lambda: Signer(b"secret"),
        here,
        FolderFileStore(Path("nowhere")),
        lambda: LinkMaker(b"secret", here),
    )


def test_the_operator_looks_up_organisations_keys_and_webhooks_across_them(dry_run: DryRun) -> None:
    dry_run.database.statements.clear()
    operator_commands = make_operator(dry_run)
    operator_commands.act_in_organisation(dry_run.open.cast.organisation)
    operator_commands.act_for_key(dry_run.open.key)
    operator_commands.act_for_webhook(dry_run.open.webhook)
    operator_commands.find_person_id(dry_run.open.cast.organisation, "Adam Admin")
    assert len(find_unbound(dry_run.database.statements, read_tenant_tables(dry_run))) == 3


def test_the_operator_finds_nobody_of_another_organisation(dry_run: DryRun) -> None:
    operator_commands = make_operator(dry_run)
    with pytest.raises(NotFound):
        operator_commands.find_person_id(dry_run.open.cast.organisation, dry_run.foreign.cast.people[Role.OWNER])


def test_statements_are_put_together_from_constants_only() -> None:
    # An f-string that becomes SQL takes in names of the same file, never a field of an input.
    suspicious = re.compile(r"\{[^}]*\b(?:given|raw|request|secret|words)\b[^}]*\}")
    sql = re.compile(r'f"[^"]*\b(?:SELECT|INSERT|UPDATE|DELETE)\b[^"]*"')
    source = Path(__file__).parents[2] / "src"
    found = [
        f"{path.name}: {literal}"
        for path in source.rglob("*.py")
        for literal in sql.findall(path.read_text())
        if suspicious.search(literal)
    ]
    assert found == []
