from typing import Any

import pytest

from mainstay.business.hours.timers import start_timer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.people.invitations import add_person
from mainstay.business.people.operations import get_person
from mainstay.business.people.roles import remove_person
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.identity.authenticate import InvalidKey
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, NotFound, Stale
from support.cast import EMAILS, PASSWORD, Cast
from support.hours import cast_at
from support.oauth_app import begin_session
from support.stored_state import actor_with_key, list_events_of, read_last_event, read_trail, to_event_record
from support.visits import plan_test_visit

ONLY_OWNER = "Olivia Owner is the only owner. Make someone else an owner first, on the website under People."


def test_a_person_leaves(cast: Cast) -> None:
    before = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    left = cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert left["status"] == "left"
    assert left["version"] == before["version"] + 1
    assert left["updatedBy"]["person"]["id"] == cast.people[Role.OWNER]
    assert {name for name in left if left[name] != before[name]} <= {
        "status",
        "version",
        "updatedAt",
        "updatedBy",
        "availableActions",
    }


def test_the_event_and_the_trail_tell_of_it(cast: Cast) -> None:
    left = cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    event = read_last_event(cast)
    assert event["type"] == "person.left"
    assert event["data"]["object"] == to_event_record(left)
    entry = read_trail(cast)[-1]
    assert (entry["operation"], entry["events"]) == ("remove_person", [event["id"]])
    assert entry["given"] == {"personId": cast.people[Role.MEMBER], "confirmed": True}


def test_every_key_they_made_ends(cast: Cast) -> None:
    keys = [cast.make_key(role=Role.ADMIN), cast.make_key(role=Role.ADMIN)]
    other = cast.make_key(role=Role.OWNER)
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    for key in keys:
        with pytest.raises(InvalidKey):
            actor_with_key(cast, key)
    assert actor_with_key(cast, other).role is Role.OWNER


def test_a_preview_says_what_would_happen(cast: Cast) -> None:
    cast.make_key(role=Role.ADMIN)
    cast.make_key(role=Role.ADMIN)
    assert cast.preview(remove_person, personId=cast.people[Role.ADMIN]) == {
        "object": "preview",
        "operation": "remove_person",
        "summary": "Adam Admin (admin) will be removed from the organisation.",
        "effects": [
            "Adam Admin will no longer be able to sign in to this organisation.",
            "API keys created by Adam Admin will stop working for good: admin write and admin write.",
            "Webhook event: A person left the organisation.",
        ],
        "warnings": [],
        "blockers": [],
        "email": None,
    }


def test_a_preview_changes_nothing(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    before = cast.perform(get_person, personId=cast.people[Role.ADMIN])
    event_count, written = len(list_events_of(cast)), len(read_trail(cast))
    cast.perform(remove_person, personId=cast.people[Role.ADMIN])

    assert cast.perform(get_person, personId=cast.people[Role.ADMIN]) == before
    assert actor_with_key(cast, key).role is Role.ADMIN
    assert (len(list_events_of(cast)), len(read_trail(cast))) == (event_count, written)


def test_whoever_removes_themselves_is_warned(cast: Cast) -> None:
    preview = cast.perform(remove_person, Role.ADMIN, personId=cast.people[Role.ADMIN])
    assert preview["warnings"] == ["This is you: you will lose your own access."]


def test_a_preview_tells_of_a_timer_that_still_runs(cast: Cast) -> None:
    cast_at(cast, "2026-11-16T08:00:00Z").perform(start_timer, Role.MEMBER)
    cast_at(cast).perform(start_timer, Role.OFFICE)
    preview = cast.perform(remove_person, personId=cast.people[Role.MEMBER])
    assert preview["warnings"] == [
        (
            "Mia Member's timer has been running since 2026-11-16T08:00 (Europe/London)."
            " Stop it and enter when the work ended. Call stop_timer."
        )
    ]
    assert cast.perform(remove_person, personId=cast.people[Role.ADMIN])["warnings"] == []


def test_a_preview_names_the_visits_that_have_nobody_then(cast: Cast) -> None:
    plan_test_visit(cast)
    plan_test_visit(cast, Role.OFFICE)
    done = plan_test_visit(cast, times=("08:00", "09:00"))
    cast.perform(set_visit_status, visitId=done["id"], status="started")
    message = "Mia Member's planned visit will be unassigned: J-0001 Mend the roof on"
    assert preview_removal(cast)["effects"][1] == f"{message} 2038-01-11."
    plan_test_visit(cast, title="Stocktaking", on="2038-01-12")
    assert preview_removal(cast)["effects"][1] == (
        "Mia Member's 2 planned visits will be unassigned:"
        " J-0001 Mend the roof on 2038-01-11 and Stocktaking on 2038-01-12."
    )
    for day in range(13, 23):
        plan_test_visit(cast, title="Stocktaking", on=f"2038-01-{day}")
    [effect] = [text for text in preview_removal(cast)["effects"] if "planned visits" in text]
    assert effect.startswith("Mia Member's 12 planned visits will be unassigned")
    assert effect.endswith("Stocktaking on 2038-01-20 and 2 more.")


def test_a_preview_tells_of_time_off_that_is_not_over(cast: Cast) -> None:
    def off(begins: str, kind: str) -> str:
        leave_input = {"personId": cast.people[Role.MEMBER], "from": begins, "kind": kind}
        return str(cast.perform(request_time_off, **leave_input)["id"])

    cast.perform(decide_time_off, timeOffId=off("2038-02-01", "holiday"), decision="approve")
    cast.perform(decide_time_off, timeOffId=off("2038-03-01", "holiday"), decision="decline")
    off("2038-04-01", "unavailable")
    named = "holiday from 2038-02-01 (approved) and unavailable from 2038-04-01 (requested)"
    message = f"Mia Member's time off will stay unless you cancel it: {named}."
    assert preview_removal(cast)["warnings"] == [message]
    assert cast.perform(remove_person, personId=cast.people[Role.OFFICE])["warnings"] == []


def preview_removal(cast: Cast) -> dict[str, Any]:
    return cast.perform(remove_person, personId=cast.people[Role.MEMBER])


def test_an_admin_may_leave_by_their_own_key_and_the_key_is_dead(cast: Cast) -> None:
    key = cast.make_key(role=Role.ADMIN)
    acting = actor_with_key(cast, key)
    assert (
        cast.perform(remove_person, acting, personId=cast.people[Role.ADMIN], confirmed=True)["updatedBy"]["person"][
            "id"
        ]
        == cast.people[Role.ADMIN]
    )
    with pytest.raises(InvalidKey):
        actor_with_key(cast, key)


def test_the_only_owner_does_not_leave(cast: Cast) -> None:
    with pytest.raises(Blocked) as refusal:
        cast.perform(remove_person, personId=cast.people[Role.OWNER], confirmed=True)
    assert refusal.value.text == ONLY_OWNER
    assert cast.perform(get_person, personId=cast.people[Role.OWNER])["status"] == "active"


def test_a_preview_shows_the_reason_against_it(cast: Cast) -> None:
    preview = cast.perform(remove_person, personId=cast.people[Role.OWNER])
    assert preview["blockers"] == [ONLY_OWNER]
    assert preview["effects"] == []


def test_one_of_two_owners_may_leave(cast: Cast) -> None:
    cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Otto Owner",
        email=f"otto.{cast.organisation}@new.example",
        role="owner",
        password=PASSWORD,
    )
    assert cast.perform(remove_person, personId=cast.people[Role.OWNER], confirmed=True)["status"] == "left"


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_admin_does_not_remove_an_owner(cast: Cast, *, confirmed: bool) -> None:
    with pytest.raises(Forbidden, match=r"^Only an owner can change or remove an owner\.$"):
        cast.perform(remove_person, Role.ADMIN, personId=cast.people[Role.OWNER], confirmed=confirmed)


def test_one_who_has_left_does_not_leave_again(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    event_count = len(list_events_of(cast))
    with pytest.raises(Blocked, match=r"^Mia Member has already left the organisation\.$"):
        cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert len(list_events_of(cast)) == event_count


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_unknown_and_a_foreign_person_are_not_found_in_the_same_words(
    cast: Cast, other_cast: Cast, *, confirmed: bool
) -> None:
    for record_id in (new_id("person"), other_cast.people[Role.MEMBER]):
        with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
            cast.perform(remove_person, personId=record_id, confirmed=confirmed)
    assert other_cast.perform(get_person, personId=other_cast.people[Role.MEMBER])["status"] == "active"


@pytest.mark.parametrize("confirmed", ["true", 1, None, "yes"])
def test_only_true_confirms(cast: Cast, confirmed: object) -> None:
    with pytest.raises(Invalid, match=r"^confirmed: is not true or false \(send the JSON boolean true, not text\)$"):
        cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=confirmed)


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_outdated_version_is_refused(cast: Cast, *, confirmed: bool) -> None:
    request = RequestDetails("req_1", if_match_versions=frozenset({7}))
    with pytest.raises(Stale):
        cast.answer(remove_person, request=request, personId=cast.people[Role.MEMBER], confirmed=confirmed)
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "active"


def test_their_sessions_here_end_and_nobody_else_s(cast: Cast) -> None:
    for role in (Role.MEMBER, Role.OFFICE):
        begin_session(cast, EMAILS[role])
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        left = db.all(
            "SELECT account.email FROM session JOIN account ON account.id = session.account_id"
            " WHERE session.organisation_id = :here",
            here=cast.organisation,
        )
    assert left == [(EMAILS[Role.OFFICE],)]
