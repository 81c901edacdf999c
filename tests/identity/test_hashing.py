"""Hashing is slow on purpose, so nothing is hashed inside a write transaction for which others wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from argon2 import PasswordHasher

from mainstay.business.people.invitations import accept_invitation, add_person, create_organisation
from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import remove_person
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import Actor, operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import EMAILS, Cast
from support.recorded_statements import RecordingDatabase, RecordingHandle

NEW = {"password": "a password of their own"}


@dataclass
class WatchedDatabase(RecordingDatabase):
    """A database that knows whether a write transaction is open in this thread."""

    open: threading.local = field(default_factory=threading.local)

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Open a write transaction and note that it is open."""
        with super().write_transaction(organisation, keep=keep) as db:
            self.open.now = True
            try:
                yield db
            finally:
                self.open.now = False


@dataclass
class HashWatcher:
    """Real hashing that fails inside a write transaction."""

    database: WatchedDatabase
    done: list[str] = field(default_factory=list)

    def watch(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        real = getattr(PasswordHasher, name)

        def hash_outside_change(hasher: PasswordHasher, *given: Any) -> Any:
            assert not getattr(self.database.open, "now", False), "hashed while a change is open"
            self.done.append(name)
            return real(hasher, *given)

        monkeypatch.setattr(PasswordHasher, name, hash_outside_change)


@pytest.fixture
def cast(only_cast: Cast) -> Cast:
    """A cast without a worker: a worker would mail each invitation, which ends the link made here."""
    return only_cast


@pytest.fixture
def hash_watcher(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> HashWatcher:
    """Watch every hash that is computed."""
    watcher = HashWatcher(WatchedDatabase(cast.performer.database))
    for name in ("hash", "verify"):
        watcher.watch(monkeypatch, name)
    return watcher


@pytest.fixture
def watched(cast: Cast, hash_watcher: HashWatcher) -> Cast:
    """The cast on a database that knows whether a write transaction is open."""
    hash_watcher.done.clear()
    return replace(cast, performer=replace(cast.performer, database=hash_watcher.database))


def invite(cast: Cast, email: str) -> Actor:
    person = cast.perform(invite_person, name="Nina", email=email, role="office")["id"]
    with cast.performer.database.write_transaction(cast.organisation) as db:
        link = links.create_invitation_link(db, person, email, cast.performer.clock())
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return actor_of_invitation(db, link)


def test_the_watch_would_notice(hash_watcher: HashWatcher, watched: Cast) -> None:
    with (
        hash_watcher.database.write_transaction(watched.organisation),
        pytest.raises(AssertionError, match="while a change is open"),
    ):
        PasswordHasher().hash("x")


def test_a_new_organisation_s_owner(hash_watcher: HashWatcher, watched: Cast) -> None:
    organisation = new_id("org")
    begun = replace(watched, organisation=organisation, people={})
    owner = {"ownerName": "O", "ownerEmail": f"{organisation.lower()}@new.example", **NEW}
    assert begun.perform(create_organisation, operator_actor(organisation), name="New", **owner)["role"] == "owner"
    assert hash_watcher.done == ["hash"]


def test_someone_added_and_someone_who_has_a_sign_in_already(hash_watcher: HashWatcher, watched: Cast) -> None:
    acting = operator_actor(watched.organisation)
    address = f"{new_id('n').lower()}@new.example"
    watched.perform(add_person, acting, name="N", email=address, role="office", **NEW)
    assert hash_watcher.done == ["hash"]
    watched.perform(remove_person, personId=watched.people[Role.MEMBER], confirmed=True)
    watched.perform(add_person, acting, name="Mia", email=EMAILS[Role.MEMBER], role="member", **NEW)
    assert hash_watcher.done == ["hash"]


def test_someone_who_accepts_an_invitation_with_a_new_password_or_the_one_they_have(
    hash_watcher: HashWatcher, watched: Cast
) -> None:
    address = f"{new_id('n').lower()}@new.example"
    watched.perform(accept_invitation, invite(watched, address), name="Nina", **NEW)
    assert hash_watcher.done == ["hash"]
    person = watched.perform(remove_person, personId=watched.people[Role.OFFICE], confirmed=True)
    back = invite(watched, person["email"])
    with pytest.raises(Invalid):
        watched.perform(accept_invitation, back, name="Orla", **NEW)
    assert hash_watcher.done == ["hash", "verify"]


def test_a_password_that_is_too_short_is_not_hashed_at_all(hash_watcher: HashWatcher, watched: Cast) -> None:
    given = {"name": "N", "email": f"{new_id('n').lower()}@new.example", "role": "office", "password": "short"}
    with pytest.raises(Invalid, match="password: has fewer than 10 characters"):
        watched.perform(add_person, operator_actor(watched.organisation), **given)
    assert hash_watcher.done == []
