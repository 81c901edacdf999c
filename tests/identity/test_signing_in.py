from dataclasses import replace
from datetime import timedelta
from typing import Literal

import orjson
import pytest
from argon2 import PasswordHasher

from mainstay.business.people.invitations import add_person
from mainstay.identity import passwords, sessions
from mainstay.identity import sign_in as signing_in
from mainstay.identity.authenticate import actor_of_person, actor_of_reset
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.person_sign_in import change_password, reset_password, sign_in
from mainstay.identity.sign_in import (
    InvalidLink,
    KnownAddress,
    WrongCredentials,
    check_password,
    find_organisation_of,
    look_up_address,
)
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, Door, operator_actor
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.browser_session import NewPerson, add_new_person
from support.cast import PASSWORD, Cast
from support.recorded_statements import RecordingDatabase
from support.stored_state import read_trail

NEW = "another password"


@pytest.fixture
def person(cast: Cast) -> NewPerson:
    return add_new_person(cast)


def find_address(cast: Cast, email: str) -> KnownAddress:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return look_up_address(db, email)


def ask_for_reset(cast: Cast, email: str, typed: str | None = None) -> list[tuple[str, str]]:
    """Ask for a new password; return the emails and the links that are left in the database.

    Seen as they are written: a worker of another test may be at the outbox too.
    """
    watched = RecordingDatabase(cast.performer.database)
    signing_in.send_reset_link(watched, cast.performer.languages, typed or email, cast.performer.clock())
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        links = db.all("SELECT id FROM one_time_link WHERE email = :email ORDER BY id", email=email)
    return [("letter", mail) for mail in read_mails(watched)] + [("link", str(link)) for (link,) in links]


def read_mails(watched: RecordingDatabase) -> list[str]:
    """Return the emails that were put into the outbox."""
    return [str(statement.given["payload"]) for statement in watched.statements if "INTO outbox" in statement.sql]


def reset_by_link(cast: Cast, link: str, performer: Performer | None = None) -> None:
    """Set a new password through a link, as its page does."""
    performer = performer or cast.performer
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        row = db.one("SELECT account_id FROM one_time_link WHERE id = :id", id=link)
        place = find_organisation_of(db, str(row[0]) if row else None)
    with performer.database.read_transaction(place) as db:
        actor = actor_of_reset(db, link)
    performer.perform(reset_password, actor, orjson.dumps({"password": NEW}), RequestDetails("req_1"))


# The refusals of a dead link: it names nobody, or it is found to be used when it is opened.
LINK_REFUSALS = (InvalidLink, NotFound)


def actor_of_account(cast: Cast, account: str) -> Actor:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            "SELECT id FROM person WHERE organisation_id = :organisation AND account_id = :account", account=account
        )
        assert row
        return actor_of_person(db, str(row[0]), Door.OFFICE)


def open_session(cast: Cast, account: str) -> str:
    given = {"browser": "Firefox", "carried": [], "ticket": ""}
    return str(cast.perform(sign_in, actor_of_account(cast, account), **given)["session"])


def is_signed_in(cast: Cast, secret: str) -> bool:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return sessions.find(db, secret, cast.performer.clock()) is not None


def test_the_right_password_proves_the_account(cast: Cast, person: NewPerson) -> None:
    account = find_address(cast, person.email).account
    assert check_password(find_address(cast, f"  {person.email.upper()} "), PASSWORD) == account


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD.upper(), PASSWORD + " ", "x" * 100_000])
def test_a_wrong_password_proves_nothing(cast: Cast, person: NewPerson, password: str) -> None:
    with pytest.raises(WrongCredentials):
        check_password(find_address(cast, person.email), password)


def test_an_unknown_address_gets_the_answer_of_a_wrong_password(cast: Cast, person: NewPerson) -> None:
    answers = []
    for email in (person.email, "nobody@nowhere.example"):
        with pytest.raises(WrongCredentials) as refusal:
            check_password(find_address(cast, email), "wrong")
        answers.append(refusal.value.text)
    assert answers[0] == answers[1]


class CountingHasher(PasswordHasher):
    """Hashes for real, and counts how often and with which parameters."""

    def __init__(self, real: PasswordHasher) -> None:
        super().__init__(real.time_cost, real.memory_cost, real.parallelism)
        self.rehashes: list[bool] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002  the library names it
        self.rehashes.append(self.check_needs_rehash(hash))
        return super().verify(hash, password)


@pytest.mark.usefixtures("real_hashing")
def test_an_unknown_address_costs_the_work_of_a_known_one(
    cast: Cast, person: NewPerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    for email in (person.email, "nobody@nowhere.example"):
        hasher = CountingHasher(passwords._HASHER)
        monkeypatch.setattr(passwords, "_HASHER", hasher)
        with pytest.raises(WrongCredentials):
            check_password(find_address(cast, email), "wrong")
        # Once, with today's parameters.
        assert hasher.rehashes == [False]


def test_nobody_can_sign_in_where_there_is_no_account() -> None:
    with pytest.raises(WrongCredentials):
        check_password(
            KnownAddress("nobody@nowhere.example", "nobody@nowhere.example", None, hash_password("guessed right"), ""),
            "guessed right",
        )


def test_a_success_is_written_down_so_that_failures_count_from_there(cast: Cast, person: NewPerson) -> None:
    before = find_address(cast, person.email)
    assert before.signed_in_at == ""
    open_session(cast, str(before.account))
    assert find_address(cast, person.email).signed_in_at != ""


def test_a_waiting_mail_holds_no_link_that_opens_anything(cast: Cast, person: NewPerson) -> None:
    (_, mail), (_, link) = ask_for_reset(cast, person.email)
    assert link in mail
    assert "http" not in mail
    assert f"{link}." not in mail


def test_asking_for_an_unknown_address_writes_as_much_but_mails_nobody(cast: Cast) -> None:
    email = f"{new_id('n').lower()}@nowhere.example"
    ((what, link),) = ask_for_reset(cast, email)
    assert what == "link"
    with pytest.raises(LINK_REFUSALS):
        reset_by_link(cast, link)


def test_a_reset_and_the_news_of_it_are_mailed_to_the_address_as_it_was_given(cast: Cast) -> None:
    number = new_id("k").lower()
    given, other = f"Kim.{number}@straße.example", f"kim.{number}@strasse.example"
    for email in (given, other):
        cast.perform(
            add_person, operator_actor(cast.organisation), name="Kim", email=email, role="member", password=PASSWORD
        )
    ((_, mail), (_, link)) = ask_for_reset(cast, given, given.lower())
    assert (orjson.loads(mail)["to"], orjson.loads(mail)["link"]) == (given, link)
    watched = RecordingDatabase(cast.performer.database)
    reset_by_link(cast, link, replace(cast.performer, database=watched))
    assert [orjson.loads(news)["to"] for news in read_mails(watched)] == [given]
    assert check_password(find_address(cast, given), NEW)
    # The owner of the other mailbox is someone else, and has lost nothing.
    assert check_password(find_address(cast, other), PASSWORD) != find_address(cast, given).account


def test_a_reset_sets_the_password_and_ends_every_session(cast: Cast, person: NewPerson) -> None:
    account = str(find_address(cast, person.email).account)
    secret = open_session(cast, account)
    reset_by_link(cast, ask_for_reset(cast, person.email)[-1][1])
    assert check_password(find_address(cast, person.email), NEW) == account
    with pytest.raises(WrongCredentials):
        check_password(find_address(cast, person.email), PASSWORD)
    assert not is_signed_in(cast, secret)


def test_a_reset_works_once_and_ends_the_others(cast: Cast, person: NewPerson) -> None:
    first = ask_for_reset(cast, person.email)[-1][1]
    second = ask_for_reset(cast, person.email)[-1][1]
    assert first != second
    reset_by_link(cast, second)
    for link in (first, second):
        with pytest.raises(LINK_REFUSALS):
            reset_by_link(cast, link)


def test_a_reset_is_too_late_after_an_hour(cast: Cast, person: NewPerson) -> None:
    link = ask_for_reset(cast, person.email)[-1][1]
    late = cast.performer.clock() + timedelta(hours=1, seconds=1)
    with pytest.raises(LINK_REFUSALS):
        reset_by_link(cast, link, replace(cast.performer, clock=lambda: late))
    assert check_password(find_address(cast, person.email), PASSWORD)


def test_a_changed_password_ends_every_other_session_and_waiting_resets(cast: Cast, person: NewPerson) -> None:
    account = str(find_address(cast, person.email).account)
    this, other = open_session(cast, account), open_session(cast, account)
    link = ask_for_reset(cast, person.email)[-1][1]
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        current = sessions.find(db, this, cast.performer.clock())
    assert current
    cast.perform(change_password, actor_of_account(cast, account), password=NEW, session=current.id)
    assert is_signed_in(cast, this)
    assert not is_signed_in(cast, other)
    with pytest.raises(LINK_REFUSALS):
        reset_by_link(cast, link)


def test_sign_ins_and_new_passwords_are_in_the_trail_without_their_secrets(cast: Cast, person: NewPerson) -> None:
    account = str(find_address(cast, person.email).account)
    secret = open_session(cast, account)
    cast.perform(change_password, actor_of_account(cast, account), password=NEW, session="ses_1")
    reset_by_link(cast, ask_for_reset(cast, person.email)[-1][1])
    trail_entries = read_trail(cast)[-3:]
    assert [act["operation"] for act in trail_entries] == ["sign_in", "change_password", "reset_password"]
    assert {act["actor"]["person"]["id"] for act in trail_entries} == {actor_of_account(cast, account).id}
    assert NEW not in repr(trail_entries)
    assert secret not in repr(trail_entries)


@pytest.mark.parametrize("password", ["", "123456789", "x" * 257])
def test_a_new_password_has_ten_to_256_characters(password: str) -> None:
    with pytest.raises(Invalid):
        check_new_password("password", password)
    check_new_password("password", "1234567890")
    check_new_password("password", "x" * 256)
