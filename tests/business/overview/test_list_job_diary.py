"""The diary of a job: what happened on it and to what belongs to it, and who sees what of it."""

from dataclasses import replace
from typing import Any

import pytest

from mainstay.business.jobs.operations import change_job_status, update_job
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.business.overview.job_diary import list_job_diary
from mainstay.business.records.attachments import list_documents, remove_document
from mainstay.business.records.history import get_history
from mainstay.business.records.notes import add_note, list_notes
from mainstay.business.schedule.operations import cancel_visit
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.attachments import add_file
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import make_assigned_job, make_time_entry, make_visit
from support.invoices import issue_invoice, make_invoice
from support.quotes import issue_quote, make_quote
from support.recorded_statements import RecordingDatabase


def read_diary(cast: Cast, job: str, role: Role = Role.OFFICE, **given: object) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = cast.perform(list_job_diary, role, jobId=job, **given)["data"]
    return entries


def summarise(entries: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(entry["kind"], entry["text"] or entry["called"]) for entry in entries]


def count_statements(cast: Cast, *operations: tuple[Operation, dict[str, object]]) -> int:
    """Count the statements of several operations of someone in the office."""
    database = RecordingDatabase(cast.performer.database)
    recording = replace(cast, performer=replace(cast.performer, database=database))
    actor = recording.actor(Role.OFFICE, door=Door.OFFICE)
    database.statements.clear()
    for operation, given in operations:
        recording.perform(operation, actor, **given)
    return len(database.statements)


def test_what_is_added_on_a_visit_is_in_the_diary_of_its_job(cast: Cast) -> None:
    job = make_assigned_job(cast)["id"]
    visit = make_visit(cast, job, cast.people[Role.MEMBER])
    note = cast.perform(add_note, Role.MEMBER, recordId=visit, text="The pump is loud.")["id"]
    photo = add_file(cast, visit, Role.MEMBER)
    entries = read_diary(cast, job)
    assert summarise(entries[:2]) == [(photo["kind"], photo["name"]), ("note", "The pump is loud.")]
    assert (entries[0]["recordId"], entries[1]["recordId"]) == (photo["id"], note)
    assert entries[1]["by"]["person"]["id"] == cast.people[Role.MEMBER]
    assert [entry["kind"] for entry in entries[2:]] == ["visit", "job"]
    # Each change is there once, though it touched the job as well.
    assert len({entry["id"] for entry in entries}) == len(entries) == 4


def test_documents_hours_and_emails_of_the_job_are_in_it(cast: Cast) -> None:
    job = make_assigned_job(cast, customerId=make_customer(cast, email="ann@calder.example"))
    of_job = {"jobId": job["id"], "customerId": job["customerId"]}
    make_time_entry(cast, jobId=job["id"], minutes=90)
    issue_quote(cast, make_quote(cast, **of_job), deliver="email")
    issue_invoice(cast, make_invoice(cast, **of_job), deliver="none")
    kinds = [entry["kind"] for entry in read_diary(cast, job["id"])]
    assert {*kinds} == {"job", "hours", "document", "email"}
    (email,) = read_diary(cast, job["id"], show="emails")
    assert (email["email"]["recipient"], email["by"], email["operation"]) == ("ann@calder.example", None, None)
    assert "Q-0001" in email["called"]
    documents = read_diary(cast, job["id"], show="documents")
    assert [entry["operation"] for entry in documents] == ["send_invoice", "draft_invoice", "send_quote", "draft_quote"]
    assert [entry["operation"] for entry in read_diary(cast, job["id"], show="hours")] == ["log_hours"]


def test_it_is_filtered_by_what_was_added(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    cast.perform(add_note, recordId=job, text="Ring twice.")
    added = add_file(cast, job)
    shown = {name: summarise(read_diary(cast, job, show=name)) for name in ("photos", "notes", "hours", "documents")}
    as_photo, as_file = (
        ([("photo", added["name"])], []) if added["kind"] == "photo" else ([], [("file", added["name"])])
    )
    assert shown == {"photos": as_photo, "notes": [("note", "Ring twice.")], "hours": [], "documents": as_file}


def test_page_after_page_each_entry_comes_once(cast: Cast) -> None:
    job = make_assigned_job(cast, customerId=make_customer(cast, email="ann@calder.example"))
    for number in range(3):
        cast.perform(add_note, recordId=job["id"], text=f"Note {number}")
    issue_quote(cast, make_quote(cast, jobId=job["id"], customerId=job["customerId"]), deliver="email")
    whole = [entry["id"] for entry in read_diary(cast, job["id"])]
    for size in (1, 2):
        read: list[str] = []
        while page := read_diary(cast, job["id"], limit=size, startingAfter=read[-1] if read else None):
            read += [entry["id"] for entry in page]
        assert read == whole


def test_an_entry_of_another_diary_is_no_place_to_start(cast: Cast) -> None:
    job, other = make_job(cast, make_customer(cast))["id"], make_job(cast, make_customer(cast))["id"]
    for start in (read_diary(cast, other)[0]["id"], "out_01M7T05NMC1FZ1CSEKS7ESRR8D"):
        with pytest.raises(Invalid, match="was not found"):
            read_diary(cast, job, startingAfter=start)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_notes_and_files_for_the_field_and_its_own_changes(cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), role)["id"]
    own, others = make_visit(cast, job, cast.people[role]), make_visit(cast, job, cast.people[Role.OFFICE])
    for record, text in ((job, "Ring twice."), (own, "Take the ladder."), (others, "Only for the other visit.")):
        cast.perform(add_note, recordId=record, text=text)
    cast.perform(add_note, recordId=job, text="Pays late.", visibility="office")
    add_file(cast, job, Role.OFFICE, visibility="office")
    cast.perform(add_note, role, recordId=job, text="Mine.")
    make_invoice(cast, jobId=job)
    texts = [text for _, text in summarise(read_diary(cast, job, role))]
    assert texts == ["Mine.", "Take the ladder.", "Ring twice."]
    assert "Pays late." in [text for _, text in summarise(read_diary(cast, job))]
    assert read_diary(cast, job, role, show="emails") == read_diary(cast, job, role, show="documents") == []


def test_a_reason_is_shown_with_the_change_and_among_the_notes(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    cast.perform(change_job_status, jobId=job, status="onHold", reason="Waits for parts.")
    for role in (Role.OFFICE, Role.MEMBER):
        entry = read_diary(cast, job, role)[0]
        assert (entry["kind"], entry["operation"], entry["text"]) == ("job", "change_job_status", "Waits for parts.")
        (noted,) = read_diary(cast, job, role, show="notes")
        assert (noted["id"], noted["kind"], noted["text"]) == (entry["id"], "note", "Waits for parts.")


def test_a_removed_file_is_gone_and_its_removal_is_told(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    added = add_file(cast, job)
    cast.perform(remove_document, documentId=added["id"], confirmed=True)
    assert [entry["operation"] for entry in read_diary(cast, job)] == ["remove_document", "create_job"]


def test_it_says_what_an_app_did_and_what_can_be_undone(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    cast.perform(update_job, cast.actor(Role.OFFICE, door=Door.OFFICE), jobId=job, title="Replace the pump")
    entry = read_diary(cast, job)[0]
    assert (entry["operation"], entry["changed"], entry["undoable"]) == ("update_job", ["title"], True)


def test_a_job_that_one_does_not_see_has_no_diary(cast: Cast, other_cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))
    with pytest.raises(NotFound):
        read_diary(cast, job["id"], Role.MEMBER)
    with pytest.raises(NotFound):
        read_diary(other_cast, job["id"])
    assert read_diary(cast, job["number"]) == read_diary(cast, job["id"])


def test_a_long_diary_is_read_with_as_many_statements_as_a_short_one(cast: Cast) -> None:
    job = make_assigned_job(cast, customerId=make_customer(cast, email="ann@calder.example"))
    of_job = {"jobId": job["id"], "customerId": job["customerId"]}
    counts = []
    for _ in range(2):
        visit = make_visit(cast, job["id"], cast.people[Role.SUBCONTRACTOR])
        cast.perform(cancel_visit, visitId=visit)
        make_time_entry(cast, jobId=job["id"], minutes=90)
        issue_quote(cast, make_quote(cast, **of_job), deliver="email")
        for record in (job["id"], visit):
            cast.perform(add_note, recordId=record, text="Ring twice.")
            add_file(cast, record)
        counts.append(count_statements(cast, (list_job_diary, {"jobId": job["id"]})))
    # Nor with more than the lists of which it takes the place on the job's page.
    by_record = [(one, {"recordId": job["id"]}) for one in (list_notes, list_documents, get_history)]
    assert counts[0] == counts[1] <= count_statements(cast, *by_record, (list_messages, {"about": job["id"]}))
