"""The step that keeps addresses as they were given and folds them by the rule of `values/mailbox.py`."""

from collections.abc import Iterator

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY, Value, WholeDatabase
from mainstay.backing.migrations.apply import migrate
from mainstay.settings import Settings

STEP = 8
ORGANISATION = "org_01M7000000000000000000000A"
OTHER = "org_01M7000000000000000000000B"


@pytest.fixture
def before(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[WholeDatabase]:
    """A database as it was before the step."""
    with open_before(STEP, fresh_settings, monkeypatch, ORGANISATION, OTHER) as database:
        yield database


def put_account(database: WholeDatabase, identity: str, email: str) -> None:
    """An account as it was kept: by the address without case alone."""
    with database.changing(EVERY) as rows:
        rows.run(
            "INSERT INTO account (id, email, password_hash, created_at) VALUES (:id, :email, 'x', '')",
            id=identity,
            email=email.casefold(),
        )


def put_person(
    database: WholeDatabase,
    identity: str,
    email: str,
    account: str | None = None,
    *,
    place: str = ORGANISATION,
    **more: str,
) -> None:
    with database.changing(EVERY) as rows:
        rows.run(
            "INSERT INTO person (organisation_id, id, account_id, name, email, email_folded, role, status, skills,"
            " created_at, created_by, updated_at, updated_by, version)"
            " VALUES (:place, :id, :account, 'P', :email, :folded, 'member', :status, '[]', '', '{}', '', '{}', 1)",
            place=place,
            id=identity,
            account=account,
            email=email,
            folded=email.casefold(),
            status=more.get("status", "active"),
        )


def put_link(database: WholeDatabase, identity: str, kind: str, email: str, **whom: Value) -> None:
    with database.changing(EVERY) as rows:
        rows.run(
            "INSERT INTO one_time_link (id, kind, email, organisation_id, person_id, account_id, expires_at)"
            " VALUES (:id, :kind, :email, :place, :person, :account, 'later')",
            id=identity,
            kind=kind,
            email=email.casefold(),
            place=whom.get("place"),
            person=whom.get("person"),
            account=whom.get("account"),
        )


def addresses(database: WholeDatabase, table: str) -> list[tuple[Value, ...]]:
    with database.reading(EVERY) as rows:
        return list(rows.all(f"SELECT id, email, email_folded FROM {table} ORDER BY id"))


def test_an_account_gets_its_address_back_as_it_was_given_and_its_own_domain(before: WholeDatabase) -> None:
    put_account(before, "acc_A", "Kim@straße.example")
    put_person(before, "person_A", "Kim@straße.example", "acc_A")
    put_account(before, "acc_B", "Ann@new.example")
    put_person(before, "person_B", "Ann@new.example", "acc_B")
    migrate(before)
    assert addresses(before, "account") == [
        ("acc_A", "Kim@straße.example", "kim@xn--strae-oqa.example"),
        ("acc_B", "Ann@new.example", "ann@new.example"),
    ]
    assert addresses(before, "person") == [
        ("person_A", "Kim@straße.example", "kim@xn--strae-oqa.example"),
        ("person_B", "Ann@new.example", "ann@new.example"),
    ]


def test_an_account_whose_person_has_another_address_now_keeps_what_it_has(before: WholeDatabase) -> None:
    put_account(before, "acc_A", "Kim@new.example")
    put_person(before, "person_A", "kim@other.example", "acc_A")
    put_account(before, "acc_B", "zoë@new.example")
    migrate(before)
    assert addresses(before, "account") == [
        ("acc_A", "kim@new.example", "kim@new.example"),
        ("acc_B", "zoë@new.example", "zoë@new.example"),
    ]


def test_of_people_with_the_same_address_one_has_it_and_nobody_is_lost(before: WholeDatabase) -> None:
    put_person(before, "person_A", "zoe\u0308@new.example", status="left")
    put_person(before, "person_B", "zoë@new.example")
    put_person(before, "person_C", "zoe\u0308@new.example", place=OTHER)
    put_person(before, "person_D", "kim@xn--strae-oqa.example")
    put_person(before, "person_E", "kim@straße.example")
    migrate(before)
    assert addresses(before, "person") == [
        ("person_A", "zoe\u0308@new.example", "person_A"),
        ("person_B", "zoë@new.example", "zoë@new.example"),
        ("person_C", "zoe\u0308@new.example", "zoë@new.example"),
        ("person_D", "kim@xn--strae-oqa.example", "kim@xn--strae-oqa.example"),
        ("person_E", "kim@straße.example", "person_E"),
    ]


def test_of_accounts_with_the_same_address_the_first_has_it(before: WholeDatabase) -> None:
    put_account(before, "acc_A", "zoe\u0308@new.example")
    put_account(before, "acc_B", "zoë@new.example")
    migrate(before)
    assert addresses(before, "account") == [
        ("acc_A", "zoe\u0308@new.example", "zoë@new.example"),
        ("acc_B", "zoë@new.example", "acc_B"),
    ]


def test_links_live_on_but_a_reset_that_may_have_gone_to_another_mailbox(before: WholeDatabase) -> None:
    put_account(before, "acc_A", "Kim@straße.example")
    put_account(before, "acc_B", "ann@new.example")
    put_person(before, "person_A", "Kim@straße.example", "acc_A")
    put_person(before, "person_B", "Nina@bücher.example")
    put_link(before, "lnk_A", "reset", "Kim@straße.example", account="acc_A")
    put_link(before, "lnk_B", "reset", "ann@new.example", account="acc_B")
    put_link(before, "lnk_C", "invitation", "Nina@bücher.example", place=ORGANISATION, person="person_B")
    put_link(before, "lnk_D", "reset", "nobody@new.example")
    migrate(before)
    assert addresses(before, "one_time_link") == [
        ("lnk_B", "ann@new.example", "ann@new.example"),
        ("lnk_C", "Nina@bücher.example", "nina@xn--bcher-kva.example"),
        ("lnk_D", "nobody@new.example", "nobody@new.example"),
    ]


def test_many_are_folded_batch_by_batch(before: WholeDatabase) -> None:
    with before.changing(EVERY) as rows:
        for number in range(2_500):
            rows.run(
                "INSERT INTO account (id, email, password_hash, created_at) VALUES (:id, :email, 'x', '')",
                id=f"acc_{number:05}",
                email=f"ü{number}@strasse.example",
            )
    migrate(before)
    assert addresses(before, "account") == [
        (f"acc_{number:05}", f"ü{number}@strasse.example", f"ü{number}@strasse.example") for number in range(2_500)
    ]
