"""A record's page tells what became of the mails about it."""

import pytest

from cast import Cast
from mainstay.business.people.operations import invite_again, invite_person
from mainstay.identity.mails import mail
from mainstay.ledger import outbox
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from running import RunningServer
from visiting import link_for, visit, wait_for_mails, words
from waiting import wait_until

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

UNSENT = "The last mail could not be sent: This is not the address of a mail: it has a dot too many before the @."


def invited(cast: Cast) -> tuple[str, str]:
    email = f"{new_id('n').lower()}@new.example"
    return str(cast.perform(invite_person, name="Nina New", email=email, role="office")["id"]), email


def test_an_invitation_that_was_sent_stands_on_the_person_s_page(server: RunningServer, cast: Cast) -> None:
    person, email = invited(cast)
    link_for(server, email)
    visiting = visit(server, cast)
    page = wait_until(lambda: _with(words(visiting.get(f"/people/{person}").text), "Sent"))
    assert f"Messages To Subject Written Status {email} Olivia Owner invites you to Organisation" in page
    assert "could not be sent" not in page
    # Nobody else has to know; and where there was none, nothing is said.
    for_a_member = visit(server, cast, Role.MEMBER).get(f"/people/{person}").text
    assert "Nina New" in for_a_member
    assert "Messages" not in for_a_member
    assert "Messages" not in visiting.get(f"/people/{cast.people[Role.MEMBER]}").text


def test_one_that_can_never_be_sent_is_said_above_all_until_another_is(server: RunningServer, cast: Cast) -> None:
    person, email = invited(cast)
    wait_for_mails(server, email, 1)
    with cast.stage.database.changing(cast.organisation) as rows:
        outbox.put(rows, mail("a..b@new.example", "Come", "Come.", record=person), moment_text(cast.stage.clock()))
    cast.stage.ring()
    visiting = visit(server, cast)
    page = wait_until(lambda: _with(words(visiting.get(f"/people/{person}").text), "Failed"))
    assert f"{UNSENT} Correct the address; if it was the invitation, invite again." in page
    assert page.index("Failed") < page.index("Sent"), "the newest comes first"

    cast.perform(invite_again, personId=person)
    wait_for_mails(server, email, 2)
    assert "could not be sent" not in visiting.get(f"/people/{person}").text


def _with(page: str, word: str) -> str | None:
    return page if word in page else None


def test_a_page_of_a_record_without_words_of_its_own_says_it_too(server: RunningServer, cast: Cast) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        letter = mail("kim@new.example", "Come", "Come.", record=cast.organisation)
        outbox.put(rows, letter, "9999-01-01T00:00:00.000Z")
        rows.run("UPDATE message SET status = 'failed', problem = 'No.' WHERE record_id = :organisation")
    page = words(visit(server, cast).get("/settings").text)
    assert "The last mail about this could not be sent: No." in page
