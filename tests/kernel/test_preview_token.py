"""A confirmation with the token of a preview does exactly what the preview showed, or nothing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from mainstay.business.people.operations import get_person
from mainstay.business.people.roles import change_role, remove_person
from mainstay.identity.keys import create_key
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.preview import TOKEN_LIFETIME, PreviewDiffers
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from support.cast import Cast
from support.stored_state import read_trail

SECOND = timedelta(seconds=1)


def preview_removal(cast: Cast, role: Role = Role.ADMIN) -> dict[str, Any]:
    return cast.perform(remove_person, personId=cast.people[role])


def confirm_removal(cast: Cast, token: object, role: Role = Role.ADMIN, actor: Role = Role.OWNER) -> dict[str, Any]:
    return cast.perform(remove_person, actor, personId=cast.people[role], confirmed=True, previewToken=token)


def check_differs(cast: Cast, token: object, **given: Any) -> dict[str, Any]:
    """Check that a confirmation is refused with a new preview, and return that."""
    with pytest.raises(PreviewDiffers) as refused:
        confirm_removal(cast, token, **given)
    preview: dict[str, Any] = orjson.loads(refused.value.preview.body)
    assert preview["object"] == "preview"
    assert cast.perform(get_person, personId=cast.people[given.get("role", Role.ADMIN)])["status"] == "active"
    return preview


def test_what_was_shown_is_done(cast: Cast) -> None:
    token = preview_removal(cast)["previewToken"]
    assert preview_removal(cast)["effects"]
    assert confirm_removal(cast, token)["status"] == "left"


def test_if_anything_in_it_differs_there_is_a_new_preview_whose_token_works(cast: Cast) -> None:
    shown = preview_removal(cast)
    cast.make_key(role=Role.ADMIN)
    now = check_differs(cast, shown["previewToken"])
    assert now["effects"] != shown["effects"]
    assert any("API keys created by Adam Admin" in effect for effect in now["effects"])
    assert now == preview_removal(cast) | {"previewToken": now["previewToken"]}
    assert confirm_removal(cast, now["previewToken"])["status"] == "left"


def test_without_a_token_it_is_done_whatever_was_shown(cast: Cast) -> None:
    preview_removal(cast)
    cast.make_key(role=Role.ADMIN)
    assert cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)["status"] == "left"


def test_a_reason_against_it_that_is_new_is_in_the_new_preview(cast: Cast) -> None:
    shown = preview_removal(cast, Role.MEMBER)
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(PreviewDiffers) as refused:
        confirm_removal(cast, shown["previewToken"], Role.MEMBER)
    preview = orjson.loads(refused.value.preview.body)
    assert preview["blockers"] == ["Mia Member has already left the organisation."]
    # What was shown to be impossible is refused for that reason.
    with pytest.raises(Conflict, match=r"^Mia Member has already left the organisation\.$"):
        confirm_removal(cast, preview["previewToken"], Role.MEMBER)


def test_a_token_belongs_to_one_input_one_operation_and_one_person(cast: Cast) -> None:
    token = preview_removal(cast)["previewToken"]
    check_differs(cast, token, role=Role.MEMBER)
    check_differs(cast, token, role=Role.MEMBER, actor=Role.ADMIN)
    as_admin = cast.perform(remove_person, Role.ADMIN, personId=cast.people[Role.MEMBER])["previewToken"]
    assert as_admin != preview_removal(cast, Role.MEMBER)["previewToken"]
    check_differs(cast, as_admin, role=Role.MEMBER)
    with pytest.raises(PreviewDiffers):
        cast.perform(change_role, personId=cast.people[Role.ADMIN], role="office", confirmed=True, previewToken=token)


def test_a_token_is_of_any_door_of_the_person(cast: Cast) -> None:
    token = preview_removal(cast)["previewToken"]
    actor = cast.actor(Role.OWNER, door=Door.AGENT)
    given = {"personId": cast.people[Role.ADMIN], "confirmed": True, "previewToken": token}
    assert cast.perform(remove_person, actor, **given)["status"] == "left"


@pytest.mark.parametrize("altered", ["", "x", "{token}x", "x{token}", "A" * 56, "\N{EURO SIGN}", "===="])
def test_an_altered_token_does_nothing(cast: Cast, altered: str) -> None:
    check_differs(cast, altered.format(token=preview_removal(cast)["previewToken"]))


def test_the_expiry_is_part_of_the_signature(cast: Cast) -> None:
    token = preview_removal(cast)["previewToken"]
    later = "B" if token[7] != "B" else "C"
    check_differs(cast, token[:7] + later + token[8:])


def test_a_token_expires(cast: Cast) -> None:
    now = cast.performer.clock()
    token = preview_removal(replace(cast, performer=replace(cast.performer, clock=lambda: now)))["previewToken"]
    late = replace(cast, performer=replace(cast.performer, clock=lambda: now + TOKEN_LIFETIME))
    in_time = replace(cast, performer=replace(cast.performer, clock=lambda: now + TOKEN_LIFETIME - SECOND))
    check_differs(late, token)
    assert confirm_removal(in_time, token)["status"] == "left"


def test_a_repeat_gets_the_stored_answer_whatever_token_it_has(cast: Cast) -> None:
    shown = preview_removal(cast)
    given = {"personId": cast.people[Role.ADMIN], "confirmed": True}
    details = RequestDetails("req_1", idempotency_key="once")
    done = cast.answer(remove_person, request=details, **given, previewToken=shown["previewToken"])
    for token in (shown["previewToken"], "another", None):
        again = cast.answer(remove_person, request=details, **given, previewToken=token)
        assert (again.is_replayed, again.body) == (True, done.body)


def test_the_token_is_not_in_the_audit_trail(cast: Cast) -> None:
    token = preview_removal(cast)["previewToken"]
    confirm_removal(cast, token)
    assert token not in str(read_trail(cast))


def test_a_dry_run_of_what_can_be_changed_again_has_no_token(cast: Cast) -> None:
    tried = cast.answer(create_key, request=RequestDetails("req_1", dry_run=True), name="Till", access="read")
    assert "previewToken" not in orjson.loads(tried.body)
