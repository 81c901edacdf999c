from datetime import UTC, datetime, timedelta

import pytest

from cast import EMAILS, Cast
from evidence import contents
from mainstay.backing.database import EVERY
from mainstay.business.people.standing import remove_person
from mainstay.identity import sessions
from mainstay.identity.sessions import IDLE, LONGEST, Session
from mainstay.kernel.perform import Stage
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from visiting import somebody

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def account_of(cast: Cast, email: str) -> str:
    with cast.stage.database.reading(EVERY) as rows:
        row = rows.one("SELECT id FROM account WHERE email = :email", email=email)
    assert row
    return str(row[0])


@pytest.fixture
def account(cast: Cast) -> str:
    return account_of(cast, somebody(cast).email)


def begin(stage: Stage, account: str, now: datetime = NOW) -> str:
    with stage.database.changing(EVERY) as rows:
        return sessions.begin(rows, account, None, "Firefox", now)


def find(stage: Stage, secret: str, now: datetime) -> Session | None:
    with stage.database.reading(EVERY) as rows:
        return sessions.find(rows, secret, now)


def found(stage: Stage, secret: str) -> Session:
    session = find(stage, secret, NOW)
    assert session
    return session


def test_a_session_is_known_by_its_secret(stage: Stage, account: str) -> None:
    session = found(stage, begin(stage, account))
    assert (session.account, session.browser, session.organisation) == (account, "Firefox", None)


def test_the_secret_is_long_and_kept_nowhere(stage: Stage, account: str) -> None:
    secret = begin(stage, account)
    assert len(secret) == 43
    assert secret not in repr(contents(stage.database))


def test_a_secret_that_was_never_given_opens_nothing(stage: Stage, account: str) -> None:
    secret = begin(stage, account)
    assert find(stage, secret[:-1], NOW) is None
    assert find(stage, "", NOW) is None


def test_a_session_ends_after_twelve_hours_without_use(stage: Stage, account: str) -> None:
    secret = begin(stage, account)
    assert find(stage, secret, NOW + IDLE - SECOND)
    assert find(stage, secret, NOW + IDLE) is None


def test_use_keeps_a_session_alive_but_not_beyond_seven_days(stage: Stage, account: str) -> None:
    secret = begin(stage, account)
    session = found(stage, secret)
    last = NOW + LONGEST - SECOND
    with stage.database.changing(EVERY) as rows:
        sessions.see(rows, session.id, last)
    assert find(stage, secret, last)
    assert find(stage, secret, NOW + LONGEST) is None


def test_being_seen_is_written_down_at_most_once_a_minute(stage: Stage, account: str) -> None:
    session = found(stage, begin(stage, account))
    assert not session.is_stale(NOW + timedelta(minutes=1))
    assert session.is_stale(NOW + timedelta(minutes=1, seconds=1))


def test_a_session_is_ended_by_its_own_account_only(stage: Stage, cast: Cast, account: str) -> None:
    secret = begin(stage, account)
    other = account_of(cast, EMAILS[Role.ADMIN])
    with stage.database.changing(EVERY) as rows:
        sessions.end(rows, other, found(stage, secret).id)
    assert find(stage, secret, NOW)
    with stage.database.changing(EVERY) as rows:
        sessions.end(rows, account, found(stage, secret).id)
    assert find(stage, secret, NOW) is None


def test_all_sessions_of_an_account_end_but_one(stage: Stage, account: str) -> None:
    first, second, third = (begin(stage, account) for _ in range(3))
    with stage.database.changing(EVERY) as rows:
        sessions.end_all(rows, account, but=found(stage, second).id)
    assert [bool(find(stage, secret, NOW)) for secret in (first, second, third)] == [False, True, False]


def test_sessions_are_listed_with_the_latest_used_first(stage: Stage, account: str) -> None:
    begin(stage, account, NOW - IDLE)
    early, late = begin(stage, account, NOW - 2 * SECOND), begin(stage, account, NOW - SECOND)
    with stage.database.reading(EVERY) as rows:
        listed = sessions.of_account(rows, account, NOW)
    assert [session.id for session in listed] == [found(stage, late).id, found(stage, early).id]


def test_sessions_that_live_no_longer_are_removed(stage: Stage, account: str) -> None:
    dead, alive = begin(stage, account, NOW - IDLE), begin(stage, account, NOW)
    with stage.database.changing(EVERY) as rows:
        sessions.forget_old(rows, NOW)
    assert find(stage, dead, NOW - SECOND) is None
    assert find(stage, alive, NOW)


def test_an_account_is_where_its_person_is_active(stage: Stage, cast: Cast) -> None:
    person = somebody(cast, Role.OFFICE, "Olga Office")
    account = account_of(cast, person.email)
    with stage.database.reading(EVERY) as rows:
        (place,) = sessions.memberships(rows, account)
    assert (place.organisation, place.person, place.role) == (cast.organisation, person.id, Role.OFFICE)
    assert (place.person_name, place.subscribed) == ("Olga Office", True)
    cast.perform(remove_person, personId=person.id, confirmed=True)
    with stage.database.reading(EVERY) as rows:
        assert sessions.memberships(rows, account) == []


def test_where_one_works_is_among_however_many_there_are(cast: Cast) -> None:
    with cast.stage.database.changing(EVERY, keep=False) as rows:
        row = rows.one("SELECT account_id FROM person WHERE id = :id", id=cast.people[Role.OFFICE])
        assert row
        for number in range(1001):
            place = new_id("org")
            rows.run(
                "INSERT INTO organisation (id, name, country, currency, time_zone, subscription, created_at,"
                " created_by, updated_at, updated_by, version)"
                " VALUES (:id, :name, 'GB', 'GBP', 'UTC', 'active', '', '{}', '', '{}', 1)",
                id=place,
                name=f"A {number:04}",
            )
            rows.run(
                "INSERT INTO person (organisation_id, id, account_id, name, email, email_folded, role, status, skills,"
                " created_at, created_by, updated_at, updated_by, version)"
                " VALUES (:place, :id, :account, 'O', 'o@o', 'o@o', 'office', 'active', '[]', '', '{}', '', '{}', 1)",
                place=place,
                id=new_id("person"),
                account=row[0],
            )
        places = [one.organisation for one in sessions.memberships(rows, str(row[0]), cast.organisation)]
    assert cast.organisation in places
