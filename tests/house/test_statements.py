"""Every statement says whose rows it is about, except a few that are named here."""

import re
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest

from house.examples import Trial
from mainstay.backing.database import EVERY
from mainstay.backing.files import Files
from mainstay.catalogue import CATALOGUE, UPKEEP
from mainstay.doors.cli.operator import Operator
from mainstay.identity.authenticate import actor_of_key
from mainstay.identity.links import LinkMaker
from mainstay.kernel.context import Envelope
from mainstay.terms.actor import Actor, Door, operator
from mainstay.terms.refusal import NotFound, Refusal
from mainstay.terms.rights import Access, Role
from mainstay.values.ids import new_id
from mainstay.webhooks.cycle import Cycle
from mainstay.webhooks.sending import Attempt
from mainstay.webhooks.signature import Signer
from recording import RecordingDatabase, Statement

COLUMNS = {
    "sqlite": "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND c.name = 'organisation_id'",
    "postgresql": "SELECT table_name FROM information_schema.columns"
    " WHERE table_schema = 'public' AND column_name = 'organisation_id'",
}

# A one-time link is found by its id, which nobody can guess, before it is known whom it is for.
LINK = (
    "SELECT id, email, organisation_id, person_id, account_id FROM one_time_link"
    " WHERE id = :id AND kind = :kind AND expires_at > :now"
)


# Signing in and new passwords concern the account, which may be a person of several organisations.
OF_THE_ACCOUNT = {
    "DELETE FROM one_time_link WHERE account_id = :account",
    "DELETE FROM session WHERE account_id = :account AND id <> :but",
    (
        "INSERT INTO session (hash, id, account_id, organisation_id, browser, created_at, seen_at)"
        " VALUES (:hash, :id, :account, :chosen, :browser, :at, :at)"
    ),
    (
        "INSERT INTO one_time_link (id, kind, email, email_folded, organisation_id, person_id, account_id, expires_at)"
        " VALUES (:id, :kind, :email, :folded, :place, :person, :account, :until)"
    ),
}


def tenant_tables(trial: Trial) -> set[str]:
    with trial.stage.database.reading(EVERY) as rows:
        return {str(name) for (name,) in rows.all(COLUMNS[trial.database.engine])} | {"organisation"}


def unbound(statements: Iterable[Statement], tables: set[str]) -> set[str]:
    """The statements about rows of organisations that do not say of which."""
    about = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:{'|'.join(sorted(tables))})\b")
    plain = {" ".join(statement.sql.split()) for statement in statements}
    return {sql for sql in plain if about.search(sql) and not re.search(r":organisation\b", sql)}


@pytest.fixture(scope="module")
def everything(trial: Trial) -> list[Statement]:
    """The statements of every operation, performed by everyone."""
    trial.database.statements.clear()
    exhibit = trial.open
    actors: list[Actor] = [exhibit.cast.actor(role) for role in Role]
    actors += [exhibit.through_key(Role.OWNER, Access.WRITE), operator(exhibit.cast.organisation)]
    for actor in actors:
        for operation in CATALOGUE.operations:
            request = Envelope(new_id("req"), replay_key=new_id("once"))
            given = exhibit.input(operation, actor.role)
            try:
                trial.stage.perform(operation, actor, orjson.dumps(given), request)
                if "confirmed" in given:
                    trial.stage.perform(operation, actor, orjson.dumps(given | {"confirmed": False}), request)
            except Refusal:
                pass
    return [*trial.database.statements]


def test_a_table_of_rows_of_organisations_is_known_by_its_column(trial: Trial) -> None:
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
    assert tables <= tenant_tables(trial)


def test_every_operation_binds_every_statement_to_its_organisation(trial: Trial, everything: list[Statement]) -> None:
    assert len(everything) > 200
    assert unbound(everything, tenant_tables(trial)) == {LINK, *OF_THE_ACCOUNT}


# What reaches further than one row that it names: up to which rows. Beside each, a test has a row that must stay as it
# is, and sees that it does: whoever adds one here adds that.
_OF_CUSTOMER = "organisation_id = :organisation AND customer_id = :before"
_AGE_OF_IMPORT = "made_at <= :before AND (status NOT IN ('importing', 'undoing') OR made_at <= :long_before)"
_OLD_IMPORTS = f"(organisation_id, run_id) IN (SELECT organisation_id, id FROM import_run WHERE {_AGE_OF_IMPORT})"
_DEVICES = "SELECT hash FROM device WHERE account_id = :account ORDER BY created_at DESC, hash LIMIT :most"
_ACCOUNT_OF = (
    "SELECT person.account_id FROM person WHERE person.organisation_id = :organisation AND person.id = :person"
)
_LATE_WEBHOOKS = "SELECT organisation_id, id FROM webhook WHERE due_at > :latest"
_UNDELIVERED = "status IN ('waiting', 'sending')"
_LANES = "lane IN ('events', 'emails', 'prints', 'days')"
WIDE = {
    "DELETE allocation WHERE organisation_id = :organisation AND payment_id = :payment AND invoice_id = :invoice",
    "DELETE billed_source WHERE organisation_id = :organisation AND source_id = :source",
    "DELETE calendar_link WHERE organisation_id = :organisation AND person_id = :person",
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
    "DELETE search_fresh WHERE organisation_id = :organisation AND kind = :of_kind AND record_id = :record",
    "DELETE session WHERE account_id = :account AND id <> :but",
    f"DELETE session WHERE organisation_id = :organisation AND account_id = ({_ACCOUNT_OF})",
    "DELETE session WHERE seen_at <= :idle OR created_at <= :oldest",
    "UPDATE account_statement WHERE organisation_id = :organisation AND customer_id = :before",
    (
        "UPDATE customer_key WHERE organisation_id = :organisation AND key = :key AND customer_id ="
        " (SELECT next.customer_id FROM customer_key AS next WHERE next.organisation_id = :organisation"
        " AND next.key = :key ORDER BY next.customer_id LIMIT 1)"
    ),
    "UPDATE api_key WHERE organisation_id = :organisation AND person_id = :person AND revoked_at IS NULL",
    "UPDATE connection WHERE organisation_id = :organisation AND person_id = :person AND ended_at IS NULL",
    *(
        f"UPDATE {table} WHERE {_OF_CUSTOMER}"
        for table in ("contact", "credit_note", "invoice", "job", "own_job", "payment", "quote", "site")
    ),
    "UPDATE customer WHERE organisation_id = :organisation AND merged_into_id = :before",
    f"UPDATE delivery WHERE due_at IS NOT NULL AND (organisation_id, webhook_id) IN ({_LATE_WEBHOOKS})",
    f"UPDATE delivery WHERE organisation_id = :organisation AND webhook_id = :webhook AND {_UNDELIVERED}",
    "UPDATE number_series WHERE organisation_id = :organisation AND kind = :kind",
    "UPDATE organisation WHERE day_begins_at > :latest",
    f"UPDATE outbox WHERE {_LANES} AND turn IN (0, 1, 2) AND due_at > :latest",
    "UPDATE time_entry WHERE organisation_id = :organisation AND id IN (:these)",
    "UPDATE webhook WHERE due_at > :latest",
}
_CHANGES = re.compile(r"(UPDATE|DELETE)(?: FROM)? (\w+) ")
_NAMES_ONE = re.compile(r"(?:^|AND )(?:\w+\.)?(?:id|hash) = :\w+")
_SEVERAL = re.compile(r":these_\w+(?:, :these_\w+)*")


def wide(statements: Iterable[Statement]) -> set[str]:
    """What of these changes or deletes rows by something else than what names a single one, and by what."""
    found = set()
    for sql in {" ".join(statement.sql.split()) for statement in statements}:
        outermost, changes = _outermost(sql), _CHANGES.match(sql)
        end = outermost.find(" RETURNING ")
        condition = outermost.find(" WHERE ") + len(" WHERE ")
        if changes and not _NAMES_ONE.search(outermost[condition : end if end > 0 else None]):
            reached = _SEVERAL.sub(":these", sql[condition : end if end > 0 else None])
            found.add(f"{changes[1]} {changes[2]} WHERE {reached}")
    return found


def _outermost(sql: str) -> str:
    """A statement in which what stands in brackets is blank."""
    depth, letters = 0, []
    for letter in sql:
        depth -= letter == ")"
        letters.append(" " if depth else letter)
        depth += letter == "("
    return "".join(letters)


def test_what_reaches_further_than_one_row_is_known(trial: Trial, everything: list[Statement]) -> None:
    upkeep = RecordingDatabase(trial.stage.database, keep=False)
    with upkeep.changing(EVERY) as rows:
        for remove in UPKEEP:
            remove(rows, trial.stage.clock())
    assert wide([*everything, *upkeep.statements]) == WIDE


def test_every_operation_stays_within_one_organisation_s_transaction(trial: Trial, everything: list[Statement]) -> None:
    assert {statement.organisation for statement in everything} == {trial.open.cast.organisation}


def test_values_are_bound_and_never_written_into_a_statement(trial: Trial, everything: list[Statement]) -> None:
    exhibit = trial.open
    values = [exhibit.cast.organisation, exhibit.key, *exhibit.cast.people.values(), "nina@new.example", "Nina New"]
    found = {value for value in values for statement in everything if value in statement.sql}
    assert found == set()


def test_a_key_is_looked_up_across_organisations_by_its_hash_alone(trial: Trial) -> None:
    trial.database.statements.clear()
    with trial.stage.database.reading(EVERY) as rows:
        actor_of_key(rows, trial.open.keys[Role.OWNER, Access.READ], Door.API)
    (only,) = unbound(trial.database.statements, tenant_tables(trial))
    assert only.endswith("AND api_key.hash = :hash")


# The dispatcher looks across organisations for those whose turn it is, and for what is on its way.
TURNS = (
    "SELECT organisation_id, id FROM webhook"
    " WHERE status = 'active' AND due_at <= :at AND trusted = :trusted ORDER BY served_at LIMIT :most"
)
FLIGHTS = (
    "SELECT d.organisation_id, d.webhook_id, w.trusted, d.id, d.attempts FROM delivery d"
    " JOIN webhook w ON w.organisation_id = d.organisation_id AND w.id = d.webhook_id"
    " WHERE d.status = 'sending' AND d.due_at > :at"
)


def test_the_dispatcher_looks_across_organisations_and_touches_one_at_a_time(trial: Trial) -> None:
    exhibit, now = trial.open, trial.stage.clock()
    with trial.database.changing(EVERY) as rows:
        given = {"owner": exhibit.cast.organisation, "at": "2000"}
        for table, identity in (("webhook", exhibit.webhook), ("delivery", exhibit.delivery)):
            rows.run(
                f"UPDATE {table} SET due_at = :at WHERE organisation_id = :owner AND id = :id", id=identity, **given
            )
        trial.database.statements.clear()
        taken = Cycle(rows, now, lambda: 0.0).run([], [], take=True)
        results = [Attempt(sending, now, 1, status=500) for sending in taken]
        Cycle(rows, now, lambda: 0.0).run(results, taken, take=True)
    assert exhibit.delivery in {sending.delivery for sending in taken}
    found = unbound(trial.database.statements, tenant_tables(trial))
    assert {sql for sql in found if "organisation_id = :owner" not in sql} == {TURNS, FLIGHTS}
    assert len(found) > 8


def operator_of(trial: Trial) -> Operator:
    here = "http://127.0.0.1:8000"
    return Operator(
        trial.stage, lambda: Signer(b"secret"), here, Files(Path("nowhere")), lambda: LinkMaker(b"secret", here)
    )


def test_the_operator_looks_up_organisations_keys_and_webhooks_across_them(trial: Trial) -> None:
    trial.database.statements.clear()
    hands = operator_of(trial)
    hands.in_organisation(trial.open.cast.organisation)
    hands.organisation_of_key(trial.open.key)
    hands.organisation_of_webhook(trial.open.webhook)
    hands.person(trial.open.cast.organisation, "Adam Admin")
    assert len(unbound(trial.database.statements, tenant_tables(trial))) == 3


def test_the_operator_finds_nobody_of_another_organisation(trial: Trial) -> None:
    hands = operator_of(trial)
    with pytest.raises(NotFound):
        hands.person(trial.open.cast.organisation, trial.foreign.cast.people[Role.OWNER])


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
