"""A record's page tells what became of the mails about it."""

import pytest

from mainstay.business.people.operations import invite_again, invite_person
from mainstay.changes import outbox
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text, wait_for_emails, wait_for_link
from support.cast import Cast
from support.outbox_tasks import make_email_task
from support.servers import RunningServer
from support.waiting import wait_until

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

UNSENT = "The last email could not be sent: This is not an email address: it has a misplaced dot before the @."


def invite_office_person(cast: Cast) -> tuple[str, str]:
    email = f"{new_id('n').lower()}@new.example"
    return str(cast.perform(invite_person, name="Nina New", email=email, role="office")["id"]), email


def test_an_invitation_that_was_sent_stands_on_the_person_s_page(server: RunningServer, cast: Cast) -> None:
    person, email = invite_office_person(cast)
    wait_for_link(server, email)
    session = sign_in_new_person(server, cast)
    page = wait_until(lambda: _page_if_contains(visible_text(session.get(f"/people/{person}").text), "Sent"))
    assert f"Emails To Subject Created Status {email} Olivia Owner invites you to Organisation" in page
    assert "could not be sent" not in page
    # Nobody else has to know; and where there was none, nothing is said.
    for_a_member = sign_in_new_person(server, cast, Role.MEMBER).get(f"/people/{person}").text
    assert "Nina New" in for_a_member
    assert "Messages" not in for_a_member
    assert "Messages" not in session.get(f"/people/{cast.people[Role.MEMBER]}").text


def test_one_that_can_never_be_sent_is_said_above_all_until_another_is(server: RunningServer, cast: Cast) -> None:
    person, email = invite_office_person(cast)
    wait_for_emails(server, email, 1)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        outbox.add_task(
            db,
            make_email_task("a..b@new.example", "Come", "Come.", record_id=person),
            moment_text(cast.performer.clock()),
        )
    cast.performer.wake_worker()
    session = sign_in_new_person(server, cast)
    page = wait_until(lambda: _page_if_contains(visible_text(session.get(f"/people/{person}").text), "Failed"))
    assert f"{UNSENT} Correct the email address. If it was the invitation, invite them again." in page
    assert page.index("Failed") < page.index("Sent"), "the newest comes first"

    cast.perform(invite_again, personId=person)
    wait_for_emails(server, email, 2)
    assert "could not be sent" not in session.get(f"/people/{person}").text


def _page_if_contains(page: str, word: str) -> str | None:
    return page if word in page else None


def test_a_page_of_a_record_without_words_of_its_own_says_it_too(server: RunningServer, cast: Cast) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        task = make_email_task("kim@new.example", "Come", "Come.", record_id=cast.organisation)
        outbox.add_task(db, task, "9999-01-01T00:00:00.000Z")
        db.run("UPDATE message SET status = 'failed', problem = 'No.' WHERE record_id = :organisation")
    page = visible_text(sign_in_new_person(server, cast).get("/settings").text)
    assert "The last email about this could not be sent: No." in page
