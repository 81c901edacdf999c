"""What became of the mails about a record, told where the record is."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from cast import Cast
from evidence import contents
from mainstay.backing.database import EVERY
from mainstay.business.organisation.messages import list_messages
from mainstay.identity.mails import mail
from mainstay.ledger import outbox, outbox_queue
from mainstay.ledger.outbox import Lane, Letter
from mainstay.ledger.outbox_queue import RETRIES, Work
from mainstay.terms.refusal import Forbidden
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text


def put(cast: Cast, subject: str, record: str | None) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.put(rows, mail("kim@new.example", subject, "Hello", record=record), moment_text(cast.stage.clock()))


def take(cast: Cast, at: datetime | None = None) -> Work:
    with cast.stage.database.changing(EVERY) as rows:
        [work] = outbox_queue.take(rows, Lane.EMAILS, at or cast.stage.clock())
    return work


def told(cast: Cast, record: str) -> list[tuple[str, str, str | None]]:
    found: list[dict[str, Any]] = cast.perform(list_messages, about=record)["data"]
    assert {one["recipient"] for one in found} <= {"kim@new.example"}
    return [(one["subject"], one["status"], one["problem"]) for one in found]


def test_a_mail_about_a_record_is_queued_and_then_sent(alone: Cast) -> None:
    record = alone.people[Role.MEMBER]
    put(alone, "First", record)
    assert told(alone, record) == [("First", "queued", None)]
    work = take(alone)
    with alone.stage.database.changing(alone.organisation) as rows:
        outbox_queue.finish(rows, work)
    put(alone, "Second", record)
    put(alone, "Of another", alone.people[Role.OFFICE])
    assert told(alone, record) == [("Second", "queued", None), ("First", "sent", None)]
    # What it says is never kept there, nor the link in it.
    assert "Hello" not in str(contents(alone.stage.database)["message"])


def test_one_that_can_never_be_sent_says_why(alone: Cast) -> None:
    record = alone.people[Role.MEMBER]
    put(alone, "First", record)
    work = take(alone)
    with alone.stage.database.changing(EVERY) as rows:
        outbox_queue.park(rows, work, alone.stage.clock(), "ValueError: a dot", "It has a dot too many.")
    assert told(alone, record) == [("First", "failed", "It has a dot too many.")]


def test_one_that_was_tried_until_it_was_given_up_says_so_and_nothing_of_the_machinery(alone: Cast) -> None:
    record = alone.people[Role.MEMBER]
    put(alone, "First", record)
    now = alone.stage.clock()
    for attempts in range(1, len(RETRIES) + 2):
        assert told(alone, record) == [("First", "queued", None)]
        now += timedelta(days=1)
        work = take(alone, now)
        assert work.attempts == attempts
        with alone.stage.database.changing(EVERY) as rows:
            outbox_queue.postpone(rows, work, now, "ConnectionRefusedError: [Errno 111]")
    [(_, status, problem)] = told(alone, record)
    assert (status, problem) == ("failed", "The mail server did not take it, though it was tried for two days.")


def test_a_letter_about_no_record_leaves_no_message(alone: Cast) -> None:
    put(alone, "First", None)
    with alone.stage.database.changing(alone.organisation) as rows:
        outbox.put(rows, Letter("fax", {}), moment_text(alone.stage.clock()))
    assert contents(alone.stage.database)["message"] == []


def test_members_are_not_told(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_messages, Role.MEMBER, about=cast.people[Role.MEMBER])
    cast.perform(list_messages, Role.OFFICE, about=cast.people[Role.MEMBER])


def test_another_organisation_is_told_nothing(cast: Cast, stranger: Cast) -> None:
    put(cast, "First", cast.people[Role.MEMBER])
    assert told(stranger, cast.people[Role.MEMBER]) == []
