from concurrent.futures import ThreadPoolExecutor

import pytest

from mainstay.business.people.invitations import accept_invitation
from mainstay.business.people.operations import get_person, invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation
from mainstay.identity.sign_in import InvalidLink, check_password, look_up_address
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid, Lapsed, NotFound, Refusal
from support.cast import EMAILS, PASSWORD, Cast
from support.stored_state import read_last_event, read_trail, to_event_record
from support.webhooks import set_columns

NAMED = {"name": "Nina Named", "password": "a password of Nina's"}


@pytest.fixture
def cast(only_cast: Cast) -> Cast:
    """A cast without a worker: a worker would mail each invitation, which ends the link made here."""
    return only_cast


def invite(cast: Cast, email: str | None = None, role: str = "office") -> tuple[str, str, Actor]:
    """Invite someone; return their address, their id and the actor who opens their link."""
    address = email or f"{new_id('n').lower()}@new.example"
    person = cast.perform(invite_person, name="Nina New", email=address, role=role)["id"]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        link = links.create_invitation_link(db, person, address, cast.performer.clock())
    return address, person, actor_with_link(cast, link)


def actor_with_link(cast: Cast, link: str) -> Actor:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return actor_of_invitation(db, link)


def test_someone_new_joins_with_a_password_of_their_own(cast: Cast) -> None:
    email, person, actor = invite(cast)
    joined = cast.perform(accept_invitation, actor, **NAMED)
    assert (joined["id"], joined["status"], joined["name"], joined["role"]) == (
        person,
        "active",
        "Nina Named",
        "office",
    )
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert check_password(look_up_address(db, email), NAMED["password"])


def test_it_is_told_and_written_down_under_their_own_name(cast: Cast) -> None:
    _, person, actor = invite(cast)
    cast.perform(accept_invitation, actor, **NAMED)
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]["id"]) == ("person.joined", person)
    assert event["actor"] == {
        "kind": "person",
        "person": {"id": person, "name": "Nina New"},
        "via": {"door": "office", "client": None},
    }
    entry = read_trail(cast)[-1]
    assert (entry["operation"], entry["actor"]["person"]["id"]) == ("accept_invitation", person)
    assert NAMED["password"] not in repr(entry)


def test_the_event_holds_costs_that_the_one_who_joined_may_not_see(cast: Cast) -> None:
    _, person, actor = invite(cast, role="member")
    cast.perform(update_person, personId=person, costRate="24.50", billRate="62.00")
    joined = cast.perform(accept_invitation, actor, **NAMED)
    assert (joined["costRate"], joined["billRate"]) == (None, None)
    event_record = read_last_event(cast)["data"]["object"]
    assert event_record == to_event_record(cast.perform(get_person, personId=person))
    assert (event_record["costRate"], event_record["billRate"]) == ("24.50", "62.00")


def test_whoever_has_an_account_shows_that_it_is_theirs(cast: Cast, other_cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.OFFICE], confirmed=True)
    _, person, actor = invite(cast, EMAILS[Role.OFFICE])
    with pytest.raises(Invalid, match="password: is not the password of your existing account"):
        cast.perform(accept_invitation, actor, **NAMED)
    assert cast.perform(accept_invitation, actor, name="Orla", password=PASSWORD)["id"] == person
    assert other_cast.perform(get_person, personId=other_cast.people[Role.OFFICE])["name"] == "Orla Office"


def test_a_short_password_is_refused_and_the_link_still_works(cast: Cast) -> None:
    _, _, actor = invite(cast)
    with pytest.raises(Invalid, match="password: has fewer than 10 characters"):
        cast.perform(accept_invitation, actor, name="Nina", password="short")
    assert cast.perform(accept_invitation, actor, **NAMED)["status"] == "active"


def test_a_link_is_accepted_once(cast: Cast) -> None:
    _, _, actor = invite(cast)
    cast.perform(accept_invitation, actor, **NAMED)
    with pytest.raises(InvalidLink):
        cast.perform(accept_invitation, actor, **NAMED)


def test_of_many_at_once_one_accepts_it(cast: Cast) -> None:
    email, person, actor = invite(cast)

    def attempt(_: int) -> bool:
        try:
            cast.perform(accept_invitation, actor, **NAMED)
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(attempt, range(6))) == 1
    assert cast.perform(get_person, personId=person)["status"] == "active"
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert db.one("SELECT count(*) FROM account WHERE email = :email", email=email) == (1,)


def test_only_a_link_accepts_an_invitation(cast: Cast) -> None:
    with pytest.raises(InvalidLink):
        cast.perform(accept_invitation, cast.actor(Role.OWNER, door=Door.OFFICE), **NAMED)


def test_a_link_proves_no_other_mailbox_than_the_one_it_was_sent_to(cast: Cast) -> None:
    # Otherwise people could invite themselves and create the account of another address.
    _, person, actor = invite(cast)
    cast.perform(update_person, personId=person, email="victim@bank.example")
    with pytest.raises(NotFound):
        cast.perform(accept_invitation, actor, **NAMED)
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert look_up_address(db, "victim@bank.example").account is None


def test_a_person_removed_before_they_came_stays_out(cast: Cast) -> None:
    _, person, actor = invite(cast)
    cast.perform(remove_person, personId=person, confirmed=True)
    with pytest.raises(NotFound):
        cast.perform(accept_invitation, actor, **NAMED)


def test_a_link_is_of_its_own_organisation_only(cast: Cast, other_cast: Cast) -> None:
    _, _, actor = invite(cast)
    with pytest.raises(NotFound), other_cast.performer.database.read_transaction(other_cast.organisation) as db:
        actor_of_invitation(db, actor.credential)


def test_nobody_joins_while_the_subscription_is_inactive(cast: Cast) -> None:
    _, _, actor = invite(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(accept_invitation, actor, **NAMED)


def test_whoever_is_here_already_becomes_nobody_else(cast: Cast) -> None:
    email, person, first = invite(cast)
    cast.perform(accept_invitation, first, **NAMED)
    _, other, _ = invite(cast, role="admin")
    # The address of the one who came is free for another then, but not their sign-in.
    cast.perform(update_person, personId=person, email="nina@elsewhere.example")
    # As it could be invited before that was refused.
    set_columns(cast, "person", other, email=email, email_folded=email)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        link = links.create_invitation_link(db, other, email, cast.performer.clock())
    with pytest.raises(Conflict, match="Nina Named already signs in to this organisation"):
        cast.perform(accept_invitation, actor_with_link(cast, link), **NAMED)
    assert cast.perform(get_person, personId=other)["status"] == "invited"
