from dataclasses import replace
from datetime import timedelta
from typing import Literal

import orjson
import pytest
from argon2 import PasswordHasher

from cast import PASSWORD, Cast
from evidence import trail
from mainstay.backing.database import EVERY
from mainstay.business.people.joining import add_person
from mainstay.identity import passwords, sessions, signing_in
from mainstay.identity.authenticate import actor_of_person, actor_of_reset
from mainstay.identity.entering import change_password, reset_password, sign_in
from mainstay.identity.passwords import check_new_password, hash_password
from mainstay.identity.signing_in import DeadLink, KnownAddress, NotSignedIn, find_place, look_up, prove
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor, Door, operator
from mainstay.terms.refusal import Invalid, NotFound
from mainstay.values.ids import new_id
from recording import RecordingDatabase
from visiting import Somebody, somebody

NEW = "another password"


@pytest.fixture
def person(cast: Cast) -> Somebody:
    return somebody(cast)


def known(cast: Cast, email: str) -> KnownAddress:
    with cast.stage.database.reading(EVERY) as rows:
        return look_up(rows, email)


def ask(cast: Cast, email: str, typed: str | None = None) -> list[tuple[str, str]]:
    """Ask for a new password; the letters that are left then, and the links there are.

    Seen as they are written: a worker of another test may be at the outbox too.
    """
    watched = RecordingDatabase(cast.stage.database)
    signing_in.ask_for_reset(watched, typed or email, cast.stage.clock())
    with cast.stage.database.reading(EVERY) as rows:
        links = rows.all("SELECT id FROM one_time_link WHERE email = :email ORDER BY id", email=email)
    return [("letter", letter) for letter in letters(watched)] + [("link", str(link)) for (link,) in links]


def letters(watched: RecordingDatabase) -> list[str]:
    """The mails that were left in the outbox."""
    return [str(statement.given["payload"]) for statement in watched.statements if "INTO outbox" in statement.sql]


def reset(cast: Cast, link: str, stage: Stage | None = None) -> None:
    """Set a new password by a link, as the page for it does."""
    stage = stage or cast.stage
    with stage.database.reading(EVERY) as rows:
        row = rows.one("SELECT account_id FROM one_time_link WHERE id = :id", id=link)
        place = find_place(rows, str(row[0]) if row else None)
    with stage.database.reading(place) as rows:
        actor = actor_of_reset(rows, link)
    stage.perform(reset_password, actor, orjson.dumps({"password": NEW}), Envelope("req_1"))


# A link that leads nowhere: nobody is known by it, or it is found dead when it is used.
DEAD = (DeadLink, NotFound)


def acting(cast: Cast, account: str) -> Actor:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one(
            "SELECT id FROM person WHERE organisation_id = :organisation AND account_id = :account", account=account
        )
        assert row
        return actor_of_person(rows, str(row[0]), Door.OFFICE)


def session(cast: Cast, account: str) -> str:
    given = {"browser": "Firefox", "carried": [], "ticket": ""}
    return str(cast.perform(sign_in, acting(cast, account), **given)["session"])


def is_in(cast: Cast, secret: str) -> bool:
    with cast.stage.database.reading(EVERY) as rows:
        return sessions.find(rows, secret, cast.stage.clock()) is not None


def test_the_right_password_proves_the_account(cast: Cast, person: Somebody) -> None:
    account = known(cast, person.email).account
    assert prove(known(cast, f"  {person.email.upper()} "), PASSWORD) == account


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD.upper(), PASSWORD + " ", "x" * 100_000])
def test_a_wrong_password_proves_nothing(cast: Cast, person: Somebody, password: str) -> None:
    with pytest.raises(NotSignedIn):
        prove(known(cast, person.email), password)


def test_an_unknown_address_gets_the_answer_of_a_wrong_password(cast: Cast, person: Somebody) -> None:
    said = []
    for email in (person.email, "nobody@nowhere.example"):
        with pytest.raises(NotSignedIn) as refusal:
            prove(known(cast, email), "wrong")
        said.append(refusal.value.text)
    assert said[0] == said[1]


class CountingHasher(PasswordHasher):
    """Does the real work, and counts how often and with which parameters."""

    def __init__(self, real: PasswordHasher) -> None:
        super().__init__(real.time_cost, real.memory_cost, real.parallelism)
        self.work: list[bool] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002  the library names it
        self.work.append(self.check_needs_rehash(hash))
        return super().verify(hash, password)


@pytest.mark.usefixtures("dear")
def test_an_unknown_address_costs_the_work_of_a_known_one(
    cast: Cast, person: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    for email in (person.email, "nobody@nowhere.example"):
        hasher = CountingHasher(passwords._HASHER)
        monkeypatch.setattr(passwords, "_HASHER", hasher)
        with pytest.raises(NotSignedIn):
            prove(known(cast, email), "wrong")
        # Once, with today's parameters.
        assert hasher.work == [False]


def test_nobody_can_sign_in_where_there_is_no_account() -> None:
    with pytest.raises(NotSignedIn):
        prove(
            KnownAddress("nobody@nowhere.example", "nobody@nowhere.example", None, hash_password("guessed right"), ""),
            "guessed right",
        )


def test_a_success_is_written_down_so_that_failures_count_from_there(cast: Cast, person: Somebody) -> None:
    before = known(cast, person.email)
    assert before.signed_in_at == ""
    session(cast, str(before.account))
    assert known(cast, person.email).signed_in_at != ""


def test_a_waiting_mail_holds_no_link_that_opens_anything(cast: Cast, person: Somebody) -> None:
    (_, letter), (_, link) = ask(cast, person.email)
    assert link in letter
    assert "http" not in letter
    assert f"{link}." not in letter


def test_asking_for_an_unknown_address_writes_as_much_but_mails_nobody(cast: Cast) -> None:
    email = f"{new_id('n').lower()}@nowhere.example"
    ((what, link),) = ask(cast, email)
    assert what == "link"
    with pytest.raises(DEAD):
        reset(cast, link)


def test_a_reset_and_the_news_of_it_are_mailed_to_the_address_as_it_was_given(cast: Cast) -> None:
    number = new_id("k").lower()
    given, other = f"Kim.{number}@straße.example", f"kim.{number}@strasse.example"
    for email in (given, other):
        cast.perform(add_person, operator(cast.organisation), name="Kim", email=email, role="member", password=PASSWORD)
    ((_, letter), (_, link)) = ask(cast, given, given.lower())
    assert (orjson.loads(letter)["to"], orjson.loads(letter)["link"]) == (given, link)
    watched = RecordingDatabase(cast.stage.database)
    reset(cast, link, replace(cast.stage, database=watched))
    assert [orjson.loads(news)["to"] for news in letters(watched)] == [given]
    assert prove(known(cast, given), NEW)
    # Whoever has the other mailbox is someone else, and has lost nothing.
    assert prove(known(cast, other), PASSWORD) != known(cast, given).account


def test_a_reset_sets_the_password_and_ends_every_session(cast: Cast, person: Somebody) -> None:
    account = str(known(cast, person.email).account)
    secret = session(cast, account)
    reset(cast, ask(cast, person.email)[-1][1])
    assert prove(known(cast, person.email), NEW) == account
    with pytest.raises(NotSignedIn):
        prove(known(cast, person.email), PASSWORD)
    assert not is_in(cast, secret)


def test_a_reset_works_once_and_ends_the_others(cast: Cast, person: Somebody) -> None:
    first = ask(cast, person.email)[-1][1]
    second = ask(cast, person.email)[-1][1]
    assert first != second
    reset(cast, second)
    for link in (first, second):
        with pytest.raises(DEAD):
            reset(cast, link)


def test_a_reset_is_too_late_after_an_hour(cast: Cast, person: Somebody) -> None:
    link = ask(cast, person.email)[-1][1]
    late = cast.stage.clock() + timedelta(hours=1, seconds=1)
    with pytest.raises(DEAD):
        reset(cast, link, replace(cast.stage, clock=lambda: late))
    assert prove(known(cast, person.email), PASSWORD)


def test_a_changed_password_ends_every_other_session_and_waiting_resets(cast: Cast, person: Somebody) -> None:
    account = str(known(cast, person.email).account)
    this, other = session(cast, account), session(cast, account)
    link = ask(cast, person.email)[-1][1]
    with cast.stage.database.reading(EVERY) as rows:
        current = sessions.find(rows, this, cast.stage.clock())
    assert current
    cast.perform(change_password, acting(cast, account), password=NEW, session=current.id)
    assert is_in(cast, this)
    assert not is_in(cast, other)
    with pytest.raises(DEAD):
        reset(cast, link)


def test_sign_ins_and_new_passwords_are_in_the_trail_without_their_secrets(cast: Cast, person: Somebody) -> None:
    account = str(known(cast, person.email).account)
    secret = session(cast, account)
    cast.perform(change_password, acting(cast, account), password=NEW, session="ses_1")
    reset(cast, ask(cast, person.email)[-1][1])
    told = trail(cast)[-3:]
    assert [act["operation"] for act in told] == ["sign_in", "change_password", "reset_password"]
    assert {act["actor"]["person"]["id"] for act in told} == {acting(cast, account).id}
    assert NEW not in repr(told)
    assert secret not in repr(told)


@pytest.mark.parametrize("password", ["", "123456789", "x" * 257])
def test_a_new_password_has_ten_to_256_characters(password: str) -> None:
    with pytest.raises(Invalid):
        check_new_password("password", password)
    check_new_password("password", "1234567890")
    check_new_password("password", "x" * 256)
