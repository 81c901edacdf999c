"""Hashing takes long on purpose: none is done while a change is open and others wait for it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from argon2 import PasswordHasher

from cast import EMAILS, Cast
from mainstay.business.people.joining import accept_invitation, add_person, create_organisation
from mainstay.business.people.operations import invite_person
from mainstay.business.people.standing import remove_person
from mainstay.identity import links
from mainstay.identity.authenticate import actor_of_invitation
from mainstay.terms.actor import Actor, operator
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from recording import RecordingDatabase, RecordingHandle

NEW = {"password": "a password of their own"}


@dataclass
class Watched(RecordingDatabase):
    """Knows whether a change is open in this thread."""

    open: threading.local = field(default_factory=threading.local)

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        """Change all or nothing, and say so meanwhile."""
        with super().changing(organisation, keep=keep) as rows:
            self.open.now = True
            try:
                yield rows
            finally:
                self.open.now = False


@dataclass
class Hashing:
    """Real hashing, that fails while a change is open."""

    database: Watched
    done: list[str] = field(default_factory=list)

    def watch(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        real = getattr(PasswordHasher, name)

        def watched(hasher: PasswordHasher, *given: Any) -> Any:
            assert not getattr(self.database.open, "now", False), "hashed while a change is open"
            self.done.append(name)
            return real(hasher, *given)

        monkeypatch.setattr(PasswordHasher, name, watched)


@pytest.fixture
def cast(alone: Cast) -> Cast:
    """With no worker beside it: one would mail each invitation, and end the link that is made here."""
    return alone


@pytest.fixture
def hashing(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Hashing:
    """What watches over every hash."""
    watching = Hashing(Watched(cast.stage.database))
    for name in ("hash", "verify"):
        watching.watch(monkeypatch, name)
    return watching


@pytest.fixture
def watched(cast: Cast, hashing: Hashing) -> Cast:
    """The cast on a database that knows whether a change is open."""
    hashing.done.clear()
    return replace(cast, stage=replace(cast.stage, database=hashing.database))


def invited(cast: Cast, email: str) -> Actor:
    person = cast.perform(invite_person, name="Nina", email=email, role="office")["id"]
    with cast.stage.database.changing(cast.organisation) as rows:
        link = links.make_invitation(rows, person, email, cast.stage.clock())
    with cast.stage.database.reading(cast.organisation) as rows:
        return actor_of_invitation(rows, link)


def test_the_watch_would_notice(hashing: Hashing, watched: Cast) -> None:
    with hashing.database.changing(watched.organisation), pytest.raises(AssertionError, match="while a change is open"):
        PasswordHasher().hash("x")


def test_a_new_organisation_s_owner(hashing: Hashing, watched: Cast) -> None:
    organisation = new_id("org")
    begun = replace(watched, organisation=organisation, people={})
    owner = {"ownerName": "O", "ownerEmail": f"{organisation.lower()}@new.example", **NEW}
    assert begun.perform(create_organisation, operator(organisation), name="New", **owner)["role"] == "owner"
    assert hashing.done == ["hash"]


def test_someone_added_and_someone_who_has_a_sign_in_already(hashing: Hashing, watched: Cast) -> None:
    acting = operator(watched.organisation)
    address = f"{new_id('n').lower()}@new.example"
    watched.perform(add_person, acting, name="N", email=address, role="office", **NEW)
    assert hashing.done == ["hash"]
    watched.perform(remove_person, personId=watched.people[Role.MEMBER], confirmed=True)
    watched.perform(add_person, acting, name="Mia", email=EMAILS[Role.MEMBER], role="member", **NEW)
    assert hashing.done == ["hash"]


def test_someone_who_accepts_an_invitation_with_a_new_password_or_the_one_they_have(
    hashing: Hashing, watched: Cast
) -> None:
    address = f"{new_id('n').lower()}@new.example"
    watched.perform(accept_invitation, invited(watched, address), name="Nina", **NEW)
    assert hashing.done == ["hash"]
    person = watched.perform(remove_person, personId=watched.people[Role.OFFICE], confirmed=True)
    back = invited(watched, person["email"])
    with pytest.raises(Invalid):
        watched.perform(accept_invitation, back, name="Orla", **NEW)
    assert hashing.done == ["hash", "verify"]


def test_a_password_that_is_too_short_is_not_hashed_at_all(hashing: Hashing, watched: Cast) -> None:
    given = {"name": "N", "email": f"{new_id('n').lower()}@new.example", "role": "office", "password": "short"}
    with pytest.raises(Invalid, match="password: has fewer than 10 characters"):
        watched.perform(add_person, operator(watched.organisation), **given)
    assert hashing.done == []
