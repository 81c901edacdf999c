"""The delivery state of the emails about a record, shown with the record."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from mainstay.business.organisation.sent_emails import list_messages
from mainstay.changes import outbox, outbox_queue
from mainstay.changes.outbox import Lane, OutboxTask
from mainstay.changes.outbox_queue import RETRIES, LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.outbox_tasks import make_email_task
from support.stored_state import read_all_rows


def add_mail(cast: Cast, subject: str, record: str | None) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        outbox.add_task(
            db,
            make_email_task("kim@new.example", subject, "Hello", record_id=record),
            moment_text(cast.performer.clock()),
        )


def take_mail(cast: Cast, at: datetime | None = None) -> LeasedTask:
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        [work] = outbox_queue.take_tasks(db, Lane.EMAILS, at or cast.performer.clock())
    return work


def list_states(cast: Cast, record: str) -> list[tuple[str, str, str | None]]:
    found: list[dict[str, Any]] = cast.perform(list_messages, about=record)["data"]
    assert {one["recipient"] for one in found} <= {"kim@new.example"}
    return [(one["subject"], one["status"], one["problem"]) for one in found]


def test_a_mail_about_a_record_is_queued_and_then_sent(only_cast: Cast) -> None:
    record = only_cast.people[Role.MEMBER]
    add_mail(only_cast, "First", record)
    assert list_states(only_cast, record) == [("First", "queued", None)]
    work = take_mail(only_cast)
    with only_cast.performer.database.write_transaction(only_cast.organisation) as db:
        outbox_queue.finish_task(db, work)
    add_mail(only_cast, "Second", record)
    add_mail(only_cast, "Of another", only_cast.people[Role.OFFICE])
    assert list_states(only_cast, record) == [("Second", "queued", None), ("First", "sent", None)]
    # What it says is never kept there, nor the link in it.
    assert "Hello" not in str(read_all_rows(only_cast.performer.database)["message"])


def test_one_that_can_never_be_sent_says_why(only_cast: Cast) -> None:
    record = only_cast.people[Role.MEMBER]
    add_mail(only_cast, "First", record)
    work = take_mail(only_cast)
    with only_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        outbox_queue.park_task(db, work, only_cast.performer.clock(), "ValueError: a dot", "It has a dot too many.")
    assert list_states(only_cast, record) == [("First", "failed", "It has a dot too many.")]


def test_one_that_was_tried_until_it_was_given_up_says_so_and_nothing_of_the_machinery(only_cast: Cast) -> None:
    record = only_cast.people[Role.MEMBER]
    add_mail(only_cast, "First", record)
    now = only_cast.performer.clock()
    for attempts in range(1, len(RETRIES) + 2):
        assert list_states(only_cast, record) == [("First", "queued", None)]
        now += timedelta(days=1)
        work = take_mail(only_cast, now)
        assert work.attempts == attempts
        with only_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            outbox_queue.postpone_task(db, work, now, "ConnectionRefusedError: [Errno 111]")
    [(_, status, problem)] = list_states(only_cast, record)
    assert (status, problem) == ("failed", "The mail server did not accept it within two days.")


def test_a_letter_about_no_record_leaves_no_message(only_cast: Cast) -> None:
    add_mail(only_cast, "First", None)
    with only_cast.performer.database.write_transaction(only_cast.organisation) as db:
        outbox.add_task(db, OutboxTask("fax", {}), moment_text(only_cast.performer.clock()))
    assert read_all_rows(only_cast.performer.database)["message"] == []


def test_members_are_not_told(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_messages, Role.MEMBER, about=cast.people[Role.MEMBER])
    cast.perform(list_messages, Role.OFFICE, about=cast.people[Role.MEMBER])


def test_another_organisation_is_told_nothing(cast: Cast, other_cast: Cast) -> None:
    add_mail(cast, "First", cast.people[Role.MEMBER])
    assert list_states(other_cast, cast.people[Role.MEMBER]) == []
