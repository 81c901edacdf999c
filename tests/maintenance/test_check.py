"""`check` finds and names everything that is wrong with the stored data, and changes nothing."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
import pytest

from mainstay.business.customers.operations import update_customer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.bills import list_bills
from mainstay.catalogue import INVARIANTS
from mainstay.composition import connect, open_files
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.invariants import CheckContext, Invariant, Violation
from mainstay.maintenance.check import check_invariants
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Role
from support.backups import SampleInstallation, query_all
from support.command_line import CommandResult, run_command
from support.customers import make_job, run_all_tasks


def run_check(keepsake: SampleInstallation) -> Any:
    """Run the command; return its outcome, checked against its exit code."""
    ended = run_command(keepsake.settings, "check", "--json")
    outcome = orjson.loads(ended.output)
    assert (ended.code, bool(ended.errors)) == ((0, False) if outcome["sound"] else (1, True))
    return outcome


def flaws_by_invariant(outcome: Any) -> dict[str, list[tuple[str, str]]]:
    """Return each invariant that does not hold, with what it found and where."""
    return {
        invariant["name"]: [(flaw["where"], flaw["problem"]) for flaw in invariant["flaws"]]
        for invariant in outcome["proofs"]
        if invariant["flaws"]
    }


def test_what_was_made_by_operations_is_sound(sample_installation: SampleInstallation) -> None:
    outcome = run_check(sample_installation)

    assert flaws_by_invariant(outcome) == {}
    assert [proof["name"] for proof in outcome["proofs"]] == [proof.name for proof in INVARIANTS]
    result = run_command(sample_installation.settings, "check")
    assert (result.code, result.errors) == (0, "")
    seconds, *lines = result.output.splitlines()
    assert seconds.startswith("checkSeconds: ")
    assert lines == [f"holds  {proof.rule}" for proof in INVARIANTS]


class Fault(NamedTuple):
    """Statements that break an invariant, and a part of the message about it."""

    invariant: str
    message: str
    statements: tuple[str, ...]


FIRST_JOB = "(SELECT min(id) FROM job)"
# As when there are many.
SETTLED = (
    "INSERT INTO search_record SELECT organisation_id, kind, record_id, words, NULL FROM search_fresh",
    "INSERT INTO search_word SELECT organisation_id, kind, word, record_id FROM search_fresh_word",
    "DELETE FROM search_fresh",
)
STRAY = "INSERT INTO search_word SELECT organisation_id, kind, 'stray', record_id FROM search_fresh WHERE kind = 'job'"
SECOND_JOB = f"(SELECT min(id) FROM job WHERE id > {FIRST_JOB})"

FAULTS = [
    Fault("schema", "does not know it", ("INSERT INTO schema_step VALUES (9999, '9999_later', '2026')",)),
    Fault("schema", "is not applied", ("DELETE FROM schema_step",)),
    Fault(
        "foreign_keys", "a row of customer that", (f"UPDATE job SET customer_id = 'customer_x' WHERE id = {FIRST_JOB}",)
    ),
    Fault("audit_chain", "does not fit the chain", ("UPDATE audit SET given = '{}' WHERE sequence = 2",)),
    Fault("audit_chain", "does not fit the chain", ("DELETE FROM audit WHERE sequence = 2",)),
    Fault("clock", "has an entry of 2999-", ("UPDATE audit SET at = '2999-01-01T00:00:00.000Z' WHERE sequence = 2",)),
    Fault("doers", "is listed with another actor", ("UPDATE audit SET person_id = NULL WHERE person_id IS NOT NULL",)),
    Fault("doers", "is listed with another actor", ("UPDATE audit SET acted_by = 'house' WHERE sequence = 2",)),
    Fault("doers", "is listed with another actor", ("UPDATE audit SET client_id = 'key_x' WHERE sequence = 2",)),
    Fault("histories", "is not in the history", ("DELETE FROM audit_record WHERE sequence = 1",)),
    Fault(
        "stray_histories",
        "entry 999999 of the audit trail",
        (
            (
                "INSERT INTO audit_record (organisation_id, record_id, sequence)"
                " SELECT organisation_id, record_id, 999999 FROM audit_record WHERE sequence = 3"
            ),
        ),
    ),
    Fault("event_numbers", "were numbered up to", ("DELETE FROM event WHERE sequence = 2",)),
    Fault("event_numbers", "were numbered up to", ("UPDATE organisation SET event_sequence = event_sequence - 1",)),
    Fault("outbox", "cannot be read", ("UPDATE outbox SET payload = '{' WHERE kind = 'fax'",)),
    Fault("outbox", "cannot be read", ("UPDATE outbox SET payload = '[]' WHERE kind = 'fax'",)),
    Fault("parked_work", "(fax) is parked", ("UPDATE outbox SET problem = NULL WHERE due_at IS NULL",)),
    Fault("mails", "to ian@cast.example has no task", ("DELETE FROM outbox WHERE kind = 'mail'",)),
    Fault("records", "there is no such contact", ("UPDATE site SET contact_id = NULL", "DELETE FROM contact")),
    Fault("search_words", "is not found by", ("UPDATE search_fresh SET words = '[]' WHERE kind = 'job'",)),
    Fault("search_words", "is not found by", SETTLED[1:]),
    Fault("search_words", "is found by words that no record has", (STRAY,)),
    Fault("search_words", "is not found by", (*SETTLED, "DELETE FROM search_word WHERE word = 'job'")),
    Fault("search_words", "is not found by", ("UPDATE customer SET name = 'Another'",)),
    Fault("own_records", "but has changed since", ("UPDATE own_job SET status = 'closed'",)),
    Fault("own_records", "but has changed since", ("UPDATE own_customer SET name_folded = 'x'",)),
    Fault(
        "duplicate_keys",
        "cannot be found as a duplicate",
        ("DELETE FROM customer_key WHERE key = (SELECT min(key) FROM customer_key)",),
    ),
    Fault("duplicate_firsts", "has 0 first customers", ("UPDATE customer_key SET repeats = 1",)),
    Fault(
        "sign_ins",
        "belongs to several active people",
        ("UPDATE person SET account_id = (SELECT min(account_id) FROM person) WHERE status = 'active'",),
    ),
    Fault("numbers_of_job", "there is no record", (f"DELETE FROM job WHERE id = {SECOND_JOB}",)),
    Fault("numbers_of_job", "would be given again", ("UPDATE number_series SET next = 3 WHERE kind = 'job'",)),
    Fault("numbers_of_job", "there is no record", ("UPDATE number_series SET next = next + 1 WHERE kind = 'job'",)),
    Fault(
        "numbers_of_job",
        "has the same number as another one",
        (f"UPDATE job SET number = 'J-1' WHERE id = {SECOND_JOB}",),
    ),
    Fault("numbers_of_job", "does not end with digits", (f"UPDATE job SET number = 'J-' WHERE id = {FIRST_JOB}",)),
    Fault("numbers_of_quote", "there is no record", ("DELETE FROM quote WHERE id = (SELECT min(id) FROM quote)",)),
    Fault("stages", "stores the stage paid but is at", (f"UPDATE job SET stage = 'paid' WHERE id = {FIRST_JOB}",)),
    Fault("stages", "stores the stage", (f"UPDATE job SET next_action = 'Sing' WHERE id = {FIRST_JOB}",)),
    Fault("assigned_people", "exactly the people assigned", ("UPDATE own_job SET assigned = 0",)),
    Fault("own_customers", "who can see one of its jobs", ("DELETE FROM own_customer",)),
    Fault("own_customers", "who cannot see any of its jobs", ("DELETE FROM own_job",)),
    Fault("planned_visits", "planned visits but has", ("UPDATE job SET planned_visits = planned_visits + 1",)),
    Fault("next_visits", "stores 2000 as its next visit but", ("UPDATE job SET next_visit_at = '2000'",)),
    Fault("planned_people", "who has a visit", ("UPDATE own_job SET planned = 0",)),
    Fault("planned_people", "who has no visit", ("UPDATE visit SET person_id = NULL",)),
    Fault("running_timers", "running timers but has", ("UPDATE job SET running_timers = running_timers + 1",)),
    Fault("stored_bytes", "is recorded as storing", ("UPDATE organisation SET storage_bytes = storage_bytes + 1",)),
    Fault("kits", "other parts", ("UPDATE kit_part SET quantity = quantity + 1",)),
    Fault("totals_of_quotes", "but its lines add up to", ("UPDATE quote SET net = net + 1, total = total + 1",)),
    Fault("totals_of_quotes", "can't be added up", ("UPDATE quote SET lines = '[{}]'",)),
    Fault(
        "numbers_of_invoice", "there is no record", ("UPDATE number_series SET next = next + 1 WHERE kind = 'invoice'",)
    ),
    Fault(
        "numbers_of_creditNote", "there is no record", ("UPDATE number_series SET next = 9 WHERE kind = 'creditNote'",)
    ),
    Fault(
        "numbers_apart",
        "has the same number as a credit note",
        ("UPDATE credit_note SET number = 'INV-0001' WHERE id = (SELECT min(id) FROM credit_note)",),
    ),
    Fault("totals_of_invoices", "its lines add up to", ("UPDATE invoice SET net = net + 1, tax = tax - 1",)),
    Fault("totals_of_credit_notes", "its lines add up to", ("UPDATE credit_note SET net = net + 1, tax = tax - 1",)),
    Fault("paid", "is stored with", ("UPDATE allocation SET amount = amount + 1",)),
    Fault("credited", "is stored with", ("UPDATE credit_note SET tax = tax + 1, total = total + 1",)),
    Fault("standings", "is stored as", ("UPDATE invoice SET standing = 'sent' WHERE standing <> 'sent'",)),
    Fault("standings", "is stored as", ("UPDATE invoice SET owing = 1 - owing",)),
    Fault("on_account", "on account, but of", ("UPDATE payment SET amount = amount + 1",)),
    Fault("billed_hours", "but on no invoice", ("DELETE FROM billed_source WHERE kind = 'timeEntry'",)),
    Fault("billed_hours", "not marked as billed", ("UPDATE time_entry SET billed = 0 WHERE billed = 1",)),
    Fault(
        "billable_materials",
        "wrongly stored as billable",
        ("UPDATE material SET billable = 1 - billable WHERE billed = 0 AND value > 0",),
    ),
    Fault("papers", "has the same file as", ("UPDATE invoice SET pdf_sha256 = 'aa'",)),
    Fault("rows", "is not as Mainstay last wrote it", ("UPDATE customer SET notes = 'They pay late'",)),
    Fault("rows", "is missing, but was not deleted", ("DELETE FROM note",)),
    Fault(
        "rows",
        "Mainstay did not write it",
        ("UPDATE note SET id = 'note_01JCDZ8Q4X0V9M2T6W3B7K5N1R' WHERE id = (SELECT min(id) FROM note)",),
    ),
    Fault(
        "sources",
        "but none of its lines bills it",
        ("UPDATE billed_source SET invoice_id = (SELECT max(id) FROM invoice)",),
    ),
    Fault("allocations", "lists other invoices", ("UPDATE allocation SET amount = amount + 1",)),
    Fault(
        "billed_materials",
        "not marked as billed",
        (
            (
                "INSERT INTO billed_source (organisation_id, source_id, kind, invoice_id)"
                " SELECT organisation_id, (SELECT min(id) FROM material), 'orderLine', id FROM invoice"
                " WHERE id = (SELECT min(id) FROM invoice)"
            ),
        ),
    ),
    Fault("owed", "is stored with", ("UPDATE job SET owed = owed + 1",)),
    Fault("quoting", "is stored as quoting 1", ("UPDATE job SET quoting = 1 WHERE quoting = 0",)),
    Fault("quoting", "is stored as quoting 0", ("UPDATE job SET quoting = 0 WHERE quoting = 1",)),
]
# Those about files, of the database or kept, are planted by hand, below; those about the schema in `test_corruptions`.
BY_HAND = {"storage", "files", "columns", "objects"}


def test_for_each_proof_there_is_a_fault() -> None:
    assert {fault.invariant for fault in FAULTS} | BY_HAND == {proof.name for proof in INVARIANTS}


def is_fault_found(fault: Fault, found: dict[str, list[tuple[str, str]]]) -> bool:
    return any(fault.message in f"{where} {problem}" for where, problem in found.get(fault.invariant, []))


# Each by itself on one engine; on the other, one fault of each invariant, all at once.
@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.invariant}-{fault.message}")
def test_a_planted_fault_is_found(sample_installation: SampleInstallation, fault: Fault) -> None:
    sample_installation.corrupt(*fault.statements)

    found = flaws_by_invariant(run_check(sample_installation))

    assert is_fault_found(fault, found), found


def test_many_planted_faults_are_found_at_once(sample_installation: SampleInstallation) -> None:
    planted = {fault.invariant: fault for fault in reversed(FAULTS) if fault.invariant != "schema"}
    for fault in planted.values():
        sample_installation.corrupt(*fault.statements)

    found = flaws_by_invariant(run_check(sample_installation))

    assert [fault for fault in planted.values() if not is_fault_found(fault, found)] == []


def test_a_kept_file_that_is_gone_or_altered_is_found(sample_installation: SampleInstallation) -> None:
    (logo,), (content,) = (
        query_all(sample_installation.settings, f"SELECT DISTINCT {column}")
        for column in ("logo FROM organisation", "content FROM document")
    )
    files = open_files(sample_installation.settings)
    files.fetch_path(logo[0]).unlink()
    files.fetch_path(content[0]).write_bytes(b"a plan of a house")

    found = flaws_by_invariant(run_check(sample_installation))

    assert set(found) == {"files"}
    organisation = sample_installation.samples.cast.organisation
    gone = (f"organisation {organisation}", f"has the file {logo[0]}, which cannot be read: No such file or directory")
    assert gone in found["files"]
    altered = {where for where, problem in found["files"] if "another hash" in problem}
    assert len(altered) == len(query_all(sample_installation.settings, "SELECT id FROM document"))


@pytest.mark.only_on("sqlite")
def test_a_damaged_database_is_found(sample_installation: SampleInstallation) -> None:
    path = DataFolder(sample_installation.settings.data).database
    ((page,),) = query_all(sample_installation.settings, "SELECT max(pageno) FROM dbstat WHERE name = 'event'")
    content = bytearray(path.read_bytes())
    content[(int(page) - 1) * 4096 : int(page) * 4096] = bytes(4096)
    path.write_bytes(content)

    outcome = run_check(sample_installation)

    assert set(flaws_by_invariant(outcome)) == {"storage"}
    assert len(outcome["proofs"]) == 1, "nothing else can be looked at"


@pytest.mark.only_on("sqlite")
def test_where_nothing_is_nothing_is_made(sample_installation: SampleInstallation) -> None:
    elsewhere = sample_installation.settings.data / "elsewhere"
    refusal = run_command(sample_installation.settings, "check", "--data", str(elsewhere)).error
    assert refusal == f"There is no database in {elsewhere} (MAINSTAY_DATA)."
    assert not elsewhere.exists()


def test_an_older_schema_is_told_of_and_left_as_it_is(sample_installation: SampleInstallation) -> None:
    sample_installation.corrupt("DELETE FROM schema_step WHERE number >= 30")

    outcome = run_check(sample_installation)

    assert set(flaws_by_invariant(outcome)) == {"schema"}
    assert outcome["proofs"][-1]["name"] == "schema"
    assert flaws_by_invariant(run_check(sample_installation)) == flaws_by_invariant(outcome)


def test_people_of_one_sign_in_are_named_but_for_those_who_have_left(sample_installation: SampleInstallation) -> None:
    owner, admin, member = (
        sample_installation.samples.cast.people[role] for role in (Role.OWNER, Role.ADMIN, Role.MEMBER)
    )
    theirs = f"(SELECT account_id FROM person WHERE id = '{owner}')"
    sample_installation.corrupt(
        f"UPDATE person SET account_id = {theirs} WHERE id IN ('{admin}', '{member}')",
        f"UPDATE person SET status = 'left' WHERE id = '{member}'",
    )
    people = sorted([(owner, "Olivia Owner"), (admin, "Adam Admin")])
    named = " and ".join(f"{name} ({record_id})" for record_id, name in people)
    message = f"belongs to several active people: {named}. Remove all but one of them"
    assert flaws_by_invariant(run_check(sample_installation))["sign_ins"] == [("sign-in olivia@cast.example", message)]


def test_numbers_that_were_raised_leave_a_gap_that_is_none(sample_installation: SampleInstallation) -> None:
    with sample_installation.open_samples() as exhibit:
        exhibit.cast.perform(update_settings, jobNumbers={"next": 500, "prefix": "A26-", "digits": 2})
    assert flaws_by_invariant(run_check(sample_installation)) == {}
    with sample_installation.open_samples() as exhibit:
        assert make_job(exhibit.cast, exhibit.work_samples.customer)["number"] == "A26-500"
        make_job(exhibit.cast, exhibit.work_samples.customer)
        exhibit.cast.perform(update_settings, jobNumbers={"next": 600})
    assert flaws_by_invariant(run_check(sample_installation)) == {}
    sample_installation.corrupt("UPDATE number_series SET next = 700 WHERE kind = 'job'")
    assert flaws_by_invariant(run_check(sample_installation)) == {
        "numbers_of_job": [("job 502 to 699", "was given as a number, but there is no record")]
    }


def test_words_that_the_worker_is_still_to_write_are_not_missed(sample_installation: SampleInstallation) -> None:
    sample_installation.corrupt("DELETE FROM outbox")
    sample_installation.corrupt("DELETE FROM message")
    with sample_installation.open_samples() as exhibit:
        for operation, given in (
            (update_customer, {"customerId": exhibit.work_samples.customer}),
            (save_supplier, {"supplierId": exhibit.cast.perform(list_bills)["data"][0]["supplierId"]}),
        ):
            exhibit.cast.perform(operation, name="Otherwise", **given)
            assert flaws_by_invariant(run_check(sample_installation)) == {}
            run_all_tasks(exhibit.cast)
            assert flaws_by_invariant(run_check(sample_installation)) == {}


def test_all_proofs_look_at_the_same_moment(sample_installation: SampleInstallation) -> None:
    database = connect(sample_installation.settings)
    with sample_installation.open_samples() as exhibit:

        def meanwhile(_books: CheckContext) -> Iterator[Violation]:
            make_job(exhibit.cast, exhibit.work_samples.customer)
            sample_installation.corrupt("UPDATE job SET planned_visits = planned_visits + 1")
            yield from ()

        proofs = [
            *INVARIANTS[:4],
            Invariant("meanwhile", "Someone works on", meanwhile, is_installation_wide=True),
            *INVARIANTS[4:],
        ]
        found = list(check_invariants(database, open_files(sample_installation.settings), system_clock(), proofs))
    database.close()

    assert [one.invariant.name for one in found if one.violations] == []
    assert set(flaws_by_invariant(run_check(sample_installation))) == {"planned_visits", "stages", "rows"}


def test_what_is_wrong_is_told_to_people_and_very_much_of_it_is_counted(
    sample_installation: SampleInstallation,
) -> None:
    sample_installation.corrupt("DELETE FROM search_fresh WHERE kind = 'job'")
    result: CommandResult = run_command(sample_installation.settings, "check")
    assert result.code == 1
    assert result.errors == f"1 of {len(INVARIANTS)} checks failed.\n"
    lines = result.output.splitlines()
    at = lines.index("WRONG  Every record can be found by its words")
    assert lines[at + 1].endswith(f"is not found by its words (in {sample_installation.samples.cast.organisation})")

    jobs = ", ".join(
        f"('{sample_installation.samples.cast.organisation}', 'job_x{number}', 1)" for number in range(103)
    )
    sample_installation.corrupt(f"INSERT INTO audit_record (organisation_id, record_id, sequence) VALUES {jobs}")
    lines = run_command(sample_installation.settings, "check").output.splitlines()
    assert "       and 3 more" in lines
