from datetime import UTC, datetime, timedelta

import pytest

from mainstay.identity import devices, sign_in
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.person_sign_in import change_password
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer
from mainstay.vocabulary.actor import Door
from support.browser_session import add_new_person
from support.cast import Cast
from support.stored_state import read_all_rows

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def make_account(cast: Cast) -> str:
    email = add_new_person(cast).email
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return str(sign_in.look_up_address(db, email).account)


@pytest.fixture
def account(cast: Cast) -> str:
    return make_account(cast)


def renew_devices(performer: Performer, account: str, *carried: str, now: datetime = NOW) -> tuple[str, ...]:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        return devices.renew_device(db, account, carried, now)


def find_known(performer: Performer, account: str, *carried: str, now: datetime = NOW) -> str | None:
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return devices.find(db, account, carried, now)


def test_a_browser_that_signed_in_is_known_to_that_account_only(cast: Cast, account: str) -> None:
    (secret,) = renew_devices(cast.performer, account)
    assert find_known(cast.performer, account, "x" * 43, secret) == secret
    assert find_known(cast.performer, make_account(cast), secret) is None
    assert find_known(cast.performer, "", secret) is None


def test_another_account_s_browser_stays_known_when_one_signs_in_again(cast: Cast, account: str) -> None:
    bystander = make_account(cast)
    (theirs,) = renew_devices(cast.performer, bystander)
    (first,) = renew_devices(cast.performer, account)
    # As soon as someone carries more secrets than are remembered, the oldest of theirs go, and nobody else's.
    for number in range(1, devices.MAX_DEVICES + 2):
        (first,) = renew_devices(cast.performer, account, first, now=NOW + timedelta(minutes=number))
        renew_devices(cast.performer, account, now=NOW + timedelta(minutes=number))
    assert find_known(cast.performer, bystander, theirs) == theirs
    # Nor does a browser of one's own elsewhere end because another one signs in again.
    (first_browser,), (second_browser,) = (
        renew_devices(cast.performer, bystander),
        renew_devices(cast.performer, bystander),
    )
    renew_devices(cast.performer, bystander, first_browser)
    assert (
        find_known(cast.performer, bystander, first_browser),
        find_known(cast.performer, bystander, second_browser),
    ) == (None, second_browser)


def test_a_new_password_ends_no_browser_of_another_account(cast: Cast, account: str) -> None:
    bystander = make_account(cast)
    (theirs,), (secret,) = renew_devices(cast.performer, bystander), renew_devices(cast.performer, account)
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        devices.delete_devices(db, account)
    assert find_known(cast.performer, account, secret) is None
    assert find_known(cast.performer, bystander, theirs) == theirs


def test_its_secret_is_kept_nowhere(cast: Cast, account: str) -> None:
    (secret,) = renew_devices(cast.performer, account)
    assert secret not in repr(read_all_rows(cast.performer.database))


def test_its_secret_is_new_at_every_sign_in_and_the_old_one_is_worth_nothing(cast: Cast, account: str) -> None:
    (first,) = renew_devices(cast.performer, account)
    (second,) = renew_devices(cast.performer, account, first)
    assert find_known(cast.performer, account, first) is None
    assert find_known(cast.performer, account, second) == second


def test_one_browser_is_known_to_several_accounts(cast: Cast, account: str) -> None:
    other = make_account(cast)
    carried = renew_devices(cast.performer, other, *renew_devices(cast.performer, account))
    assert [find_known(cast.performer, each_account, *carried) for each_account in (other, account)] == list(carried)
    # What nobody is known by any more is not carried on.
    assert renew_devices(cast.performer, other, *carried, "x" * 43)[1:] == carried[1:]


def test_a_new_password_ends_what_browsers_were_known_by(cast: Cast, account: str) -> None:
    (secret,) = renew_devices(cast.performer, account)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            "SELECT id FROM person WHERE organisation_id = :organisation AND account_id = :account", account=account
        )
        assert row
        acting = actor_of_person(db, str(row[0]), Door.OFFICE)
    cast.perform(change_password, acting, password="another password", session="ses_1")
    assert find_known(cast.performer, account, secret) is None


def test_a_browser_is_forgotten_after_a_year(cast: Cast, account: str) -> None:
    (secret,) = renew_devices(cast.performer, account)
    late = NOW + devices.LIFETIME
    assert find_known(cast.performer, account, secret, now=late - timedelta(seconds=1)) == secret
    assert find_known(cast.performer, account, secret, now=late) is None
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        devices.delete_old(db, late)
    assert find_known(cast.performer, account, secret) is None


def test_the_oldest_of_very_many_is_forgotten(cast: Cast, account: str) -> None:
    made = [
        renew_devices(cast.performer, account, now=NOW + timedelta(minutes=number))[0]
        for number in range(devices.MAX_DEVICES + 1)
    ]
    assert find_known(cast.performer, account, made[0]) is None
    assert find_known(cast.performer, account, *made[1:2]) == made[1]
