from datetime import UTC, datetime, timedelta

import pytest

from cast import Cast
from evidence import contents
from mainstay.backing.database import EVERY
from mainstay.identity import devices, signing_in
from mainstay.identity.authenticate import actor_of_person
from mainstay.identity.entering import change_password
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Door
from visiting import somebody

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def new_account(cast: Cast) -> str:
    email = somebody(cast).email
    with cast.stage.database.reading(EVERY) as rows:
        return str(signing_in.look_up(rows, email).account)


@pytest.fixture
def account(cast: Cast) -> str:
    return new_account(cast)


def renew(stage: Stage, account: str, *carried: str, now: datetime = NOW) -> tuple[str, ...]:
    with stage.database.changing(EVERY) as rows:
        return devices.renew(rows, account, carried, now)


def known(stage: Stage, account: str, *carried: str, now: datetime = NOW) -> str | None:
    with stage.database.reading(EVERY) as rows:
        return devices.find(rows, account, carried, now)


def test_a_browser_that_signed_in_is_known_to_that_account_only(cast: Cast, account: str) -> None:
    (secret,) = renew(cast.stage, account)
    assert known(cast.stage, account, "x" * 43, secret) == secret
    assert known(cast.stage, new_account(cast), secret) is None
    assert known(cast.stage, "", secret) is None


def test_another_account_s_browser_stays_known_when_one_signs_in_again(cast: Cast, account: str) -> None:
    bystander = new_account(cast)
    (theirs,) = renew(cast.stage, bystander)
    (first,) = renew(cast.stage, account)
    # As soon as someone carries more secrets than are remembered, the oldest of theirs go, and nobody else's.
    for number in range(1, devices.MOST + 2):
        (first,) = renew(cast.stage, account, first, now=NOW + timedelta(minutes=number))
        renew(cast.stage, account, now=NOW + timedelta(minutes=number))
    assert known(cast.stage, bystander, theirs) == theirs
    # Nor does a browser of one's own elsewhere end because another one signs in again.
    (here,), (elsewhere,) = renew(cast.stage, bystander), renew(cast.stage, bystander)
    renew(cast.stage, bystander, here)
    assert (known(cast.stage, bystander, here), known(cast.stage, bystander, elsewhere)) == (None, elsewhere)


def test_a_new_password_ends_no_browser_of_another_account(cast: Cast, account: str) -> None:
    bystander = new_account(cast)
    (theirs,), (secret,) = renew(cast.stage, bystander), renew(cast.stage, account)
    with cast.stage.database.changing(EVERY) as rows:
        devices.end_all(rows, account)
    assert known(cast.stage, account, secret) is None
    assert known(cast.stage, bystander, theirs) == theirs


def test_its_secret_is_kept_nowhere(cast: Cast, account: str) -> None:
    (secret,) = renew(cast.stage, account)
    assert secret not in repr(contents(cast.stage.database))


def test_its_secret_is_new_at_every_sign_in_and_the_old_one_is_worth_nothing(cast: Cast, account: str) -> None:
    (first,) = renew(cast.stage, account)
    (second,) = renew(cast.stage, account, first)
    assert known(cast.stage, account, first) is None
    assert known(cast.stage, account, second) == second


def test_one_browser_is_known_to_several_accounts(cast: Cast, account: str) -> None:
    other = new_account(cast)
    carried = renew(cast.stage, other, *renew(cast.stage, account))
    assert [known(cast.stage, whose, *carried) for whose in (other, account)] == list(carried)
    # What nobody is known by any more is not carried on.
    assert renew(cast.stage, other, *carried, "x" * 43)[1:] == carried[1:]


def test_a_new_password_ends_what_browsers_were_known_by(cast: Cast, account: str) -> None:
    (secret,) = renew(cast.stage, account)
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one(
            "SELECT id FROM person WHERE organisation_id = :organisation AND account_id = :account", account=account
        )
        assert row
        acting = actor_of_person(rows, str(row[0]), Door.OFFICE)
    cast.perform(change_password, acting, password="another password", session="ses_1")
    assert known(cast.stage, account, secret) is None


def test_a_browser_is_forgotten_after_a_year(cast: Cast, account: str) -> None:
    (secret,) = renew(cast.stage, account)
    late = NOW + devices.KEPT
    assert known(cast.stage, account, secret, now=late - timedelta(seconds=1)) == secret
    assert known(cast.stage, account, secret, now=late) is None
    with cast.stage.database.changing(EVERY) as rows:
        devices.forget_old(rows, late)
    assert known(cast.stage, account, secret) is None


def test_the_oldest_of_very_many_is_forgotten(cast: Cast, account: str) -> None:
    made = [renew(cast.stage, account, now=NOW + timedelta(minutes=number))[0] for number in range(devices.MOST + 1)]
    assert known(cast.stage, account, made[0]) is None
    assert known(cast.stage, account, *made[1:2]) == made[1]
