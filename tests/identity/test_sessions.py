from datetime import UTC, datetime, timedelta

import pytest

from mainstay.business.people.roles import remove_person
from mainstay.identity import sessions
from mainstay.identity.sessions import MAX_AGE, MAX_IDLE, MAX_REMEMBERED_AGE, NewSession, Session
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from support.browser_session import add_new_person
from support.cast import EMAILS, Cast
from support.stored_state import read_all_rows

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def account_of(cast: Cast, email: str) -> str:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        row = db.one("SELECT id FROM account WHERE email = :email", email=email)
    assert row
    return str(row[0])


@pytest.fixture
def account(cast: Cast) -> str:
    return account_of(cast, add_new_person(cast).email)


def begin_session(performer: Performer, account: str, now: datetime = NOW, *, keep: bool = False) -> str:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        return sessions.begin_session(db, NewSession(account, None, "Firefox", keep), now)


def find_session(performer: Performer, secret: str, now: datetime) -> Session | None:
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return sessions.find(db, secret, now)


def get_session(performer: Performer, secret: str) -> Session:
    session = find_session(performer, secret, NOW)
    assert session
    return session


def test_a_session_is_known_by_its_secret(performer: Performer, account: str) -> None:
    session = get_session(performer, begin_session(performer, account))
    assert (session.account, session.browser, session.organisation) == (account, "Firefox", None)


def test_the_secret_is_long_and_kept_nowhere(performer: Performer, account: str) -> None:
    secret = begin_session(performer, account)
    assert len(secret) == 43
    assert secret not in repr(read_all_rows(performer.database))


def test_a_secret_that_was_never_given_opens_nothing(performer: Performer, account: str) -> None:
    secret = begin_session(performer, account)
    assert find_session(performer, secret[:-1], NOW) is None
    assert find_session(performer, "", NOW) is None


def test_a_session_ends_after_twelve_hours_without_use(performer: Performer, account: str) -> None:
    secret = begin_session(performer, account)
    assert find_session(performer, secret, NOW + MAX_IDLE - SECOND)
    assert find_session(performer, secret, NOW + MAX_IDLE) is None


def test_use_keeps_a_session_alive_but_not_beyond_seven_days(performer: Performer, account: str) -> None:
    secret = begin_session(performer, account)
    session = get_session(performer, secret)
    last = NOW + MAX_AGE - SECOND
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        sessions.mark_seen(db, session.id, last)
    assert find_session(performer, secret, last)
    assert find_session(performer, secret, NOW + MAX_AGE) is None


def test_a_device_that_is_kept_signed_in_lasts_ninety_days_also_without_use(performer: Performer, account: str) -> None:
    secret, other = (begin_session(performer, account, keep=keep) for keep in (True, False))
    for later, is_signed_in in ((MAX_REMEMBERED_AGE - SECOND, True), (MAX_REMEMBERED_AGE, False)):
        with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
            sessions.delete_old(db, NOW + later)
        found = find_session(performer, secret, NOW + later)
        assert bool(found) is is_signed_in
        assert find_session(performer, other, NOW + later) is None
    assert get_session(performer, begin_session(performer, account, keep=True)).expires_at == "2026-05-30T09:00:00.000Z"


def test_being_seen_is_written_down_at_most_once_a_minute(performer: Performer, account: str) -> None:
    session = get_session(performer, begin_session(performer, account))
    assert not session.is_seen_at_outdated(NOW + timedelta(minutes=1))
    assert session.is_seen_at_outdated(NOW + timedelta(minutes=1, seconds=1))


def test_a_session_is_ended_by_its_own_account_only(performer: Performer, cast: Cast, account: str) -> None:
    secret = begin_session(performer, account)
    other = account_of(cast, EMAILS[Role.ADMIN])
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        sessions.end_session(db, other, get_session(performer, secret).id)
    assert find_session(performer, secret, NOW)
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        sessions.end_session(db, account, get_session(performer, secret).id)
    assert find_session(performer, secret, NOW) is None


def test_all_sessions_of_an_account_end_but_one(performer: Performer, account: str) -> None:
    first, second, third = (begin_session(performer, account) for _ in range(3))
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        sessions.end_sessions(db, account, except_session_id=get_session(performer, second).id)
    assert [bool(find_session(performer, secret, NOW)) for secret in (first, second, third)] == [False, True, False]


def test_sessions_are_listed_with_the_latest_used_first(performer: Performer, account: str) -> None:
    begin_session(performer, account, NOW - MAX_IDLE)
    early, late = begin_session(performer, account, NOW - 2 * SECOND), begin_session(performer, account, NOW - SECOND)
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        listed = sessions.list_sessions(db, account, NOW)
    assert [session.id for session in listed] == [get_session(performer, late).id, get_session(performer, early).id]


def test_sessions_that_live_no_longer_are_removed(performer: Performer, account: str) -> None:
    ages = (MAX_REMEMBERED_AGE, MAX_IDLE, timedelta())
    old, expired, alive = (begin_session(performer, account, NOW - age) for age in ages)
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        sessions.delete_old(db, NOW)
        # One that has expired is known as such, unlike one that was ended.
        assert [sessions.is_known(db, secret) for secret in (old, expired, alive)] == [False, True, True]
        sessions.end_sessions(db, account)
        assert not sessions.is_known(db, expired)


def test_an_account_is_where_its_person_is_active(performer: Performer, cast: Cast) -> None:
    person = add_new_person(cast, Role.OFFICE, "Olga Office")
    account = account_of(cast, person.email)
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        (place,) = sessions.list_memberships(db, account)
    assert (place.organisation, place.person, place.role) == (cast.organisation, person.id, Role.OFFICE)
    assert (place.person_name, place.subscribed) == ("Olga Office", True)
    cast.perform(remove_person, personId=person.id, confirmed=True)
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        assert sessions.list_memberships(db, account) == []


def test_where_one_works_is_among_however_many_there_are(cast: Cast) -> None:
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS, keep=False) as db:
        row = db.one("SELECT account_id FROM person WHERE id = :id", id=cast.people[Role.OFFICE])
        assert row
        for number in range(1001):
            place = new_id("org")
            db.run(
                "INSERT INTO organisation (id, name, country, currency, time_zone, subscription, created_at,"
                " created_by, updated_at, updated_by, version)"
                " VALUES (:id, :name, 'GB', 'GBP', 'UTC', 'active', '', '{}', '', '{}', 1)",
                id=place,
                name=f"A {number:04}",
            )
            db.run(
                "INSERT INTO person (organisation_id, id, account_id, name, email, email_folded, role, status, skills,"
                " created_at, created_by, updated_at, updated_by, version)"
                " VALUES (:place, :id, :account, 'O', 'o@o', 'o@o', 'office', 'active', '[]', '', '{}', '', '{}', 1)",
                place=place,
                id=new_id("person"),
                account=row[0],
            )
        places = [one.organisation for one in sessions.list_memberships(db, str(row[0]), cast.organisation)]
    assert cast.organisation in places
