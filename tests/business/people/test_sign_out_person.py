import pytest

from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import name_owner, sign_out_person
from mainstay.business.records.history import get_history
from mainstay.identity import sessions
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden
from support.cast import EMAILS, Cast
from support.oauth_app import begin_session


def is_signed_in(cast: Cast, secret: str) -> bool:
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return sessions.find(db, secret, cast.performer.clock()) is not None


def test_all_their_sessions_end_and_nobody_else_s(cast: Cast) -> None:
    lost, desk, other = (
        begin_session(cast, EMAILS[role], "Firefox") for role in (Role.MEMBER, Role.MEMBER, Role.OFFICE)
    )
    person = cast.people[Role.MEMBER]
    assert cast.perform(sign_out_person, Role.ADMIN, personId=person)["status"] == "active"
    assert [is_signed_in(cast, secret) for secret in (lost, desk, other)] == [False, False, True]
    assert cast.perform(get_history, recordId=person)["data"][0]["operation"] == "sign_out_person"


def test_only_an_owner_signs_out_an_owner_and_nobody_who_cannot_sign_in(cast: Cast) -> None:
    with pytest.raises(Forbidden, match="Only an owner can change or remove an owner"):
        cast.perform(sign_out_person, Role.ADMIN, personId=cast.people[Role.OWNER])
    cast.perform(name_owner, personId=cast.people[Role.ADMIN])
    assert cast.perform(sign_out_person, Role.ADMIN, personId=cast.people[Role.OWNER])["status"] == "active"
    invited = cast.perform(invite_person, name="Kim Nowak", email="kim@firm.example", role="member")["id"]
    with pytest.raises(Conflict, match="Kim Nowak can't sign in now"):
        cast.perform(sign_out_person, personId=invited)
