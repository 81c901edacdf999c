from typing import Any

import pytest

from apps import begin_session
from cast import EMAILS, PASSWORD, Cast
from evidence import as_told, events, holder, last_event, trail
from labour import at
from mainstay.backing.database import EVERY
from mainstay.business.hours.timers import start_timer
from mainstay.business.people.joining import add_person
from mainstay.business.people.operations import get_person
from mainstay.business.people.standing import remove_person
from mainstay.business.schedule.leave import decide_time_off, request_time_off
from mainstay.business.schedule.operations import set_visit_status
from mainstay.identity.authenticate import NoSuchKey
from mainstay.kernel.context import Envelope
from mainstay.terms.actor import operator
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, NotFound, Stale
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from scheduling import plan

ONLY_OWNER = "Olivia Owner is the only owner. Name another owner first, in the office under People."


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
    event = last_event(cast)
    assert event["type"] == "person.left"
    assert event["data"]["object"] == as_told(left)
    entry = trail(cast)[-1]
    assert (entry["operation"], entry["events"]) == ("remove_person", [event["id"]])
    assert entry["given"] == {"personId": cast.people[Role.MEMBER], "confirmed": True}


def test_every_key_they_made_ends(cast: Cast) -> None:
    keys = [cast.key(role=Role.ADMIN), cast.key(role=Role.ADMIN)]
    other = cast.key(role=Role.OWNER)
    cast.perform(remove_person, personId=cast.people[Role.ADMIN], confirmed=True)
    for key in keys:
        with pytest.raises(NoSuchKey):
            holder(cast, key)
    assert holder(cast, other).role is Role.OWNER


def test_a_preview_says_what_would_happen(cast: Cast) -> None:
    cast.key(role=Role.ADMIN)
    cast.key(role=Role.ADMIN)
    assert cast.perform(remove_person, personId=cast.people[Role.ADMIN]) == {
        "object": "preview",
        "operation": "remove_person",
        "summary": "Adam Admin (admin) leaves the organisation.",
        "effects": [
            "Adam Admin can no longer sign in to this organisation.",
            "API keys made by Adam Admin that stop working for good: admin write, admin write.",
            "Webhooks are told: A person left the organisation.",
        ],
        "warnings": [],
        "blockers": [],
    }


def test_a_preview_changes_nothing(cast: Cast) -> None:
    key = cast.key(role=Role.ADMIN)
    before = cast.perform(get_person, personId=cast.people[Role.ADMIN])
    told, written = len(events(cast)), len(trail(cast))
    cast.perform(remove_person, personId=cast.people[Role.ADMIN])

    assert cast.perform(get_person, personId=cast.people[Role.ADMIN]) == before
    assert holder(cast, key).role is Role.ADMIN
    assert (len(events(cast)), len(trail(cast))) == (told, written)


def test_whoever_removes_themselves_is_warned(cast: Cast) -> None:
    preview = cast.perform(remove_person, Role.ADMIN, personId=cast.people[Role.ADMIN])
    assert preview["warnings"] == ["This is you: your own access ends too."]


def test_a_preview_tells_of_a_timer_that_still_runs(cast: Cast) -> None:
    at(cast, "2026-11-16T08:00:00Z").perform(start_timer, Role.MEMBER)
    at(cast).perform(start_timer, Role.OFFICE)
    preview = cast.perform(remove_person, personId=cast.people[Role.MEMBER])
    assert preview["warnings"] == [
        "A timer of Mia Member still runs, since 2026-11-16T08:00. Stop it, and say when the work ended (stop_timer)."
    ]
    assert cast.perform(remove_person, personId=cast.people[Role.ADMIN])["warnings"] == []


def test_a_preview_names_the_visits_that_have_nobody_then(cast: Cast) -> None:
    plan(cast)
    plan(cast, Role.OFFICE)
    done = plan(cast, times=("08:00", "09:00"))
    cast.perform(set_visit_status, visitId=done["id"], status="started")
    told = "1 planned visit of Mia Member has nobody any more, until you name someone else: J-0001 Mend the roof on"
    assert removal(cast)["effects"][1] == f"{told} 2038-01-11."
    plan(cast, title="Stocktaking", on="2038-01-12")
    assert removal(cast)["effects"][1] == (
        "2 planned visits of Mia Member have nobody any more, until you name someone else:"
        " J-0001 Mend the roof on 2038-01-11, Stocktaking on 2038-01-12."
    )
    for day in range(13, 23):
        plan(cast, title="Stocktaking", on=f"2038-01-{day}")
    [effect] = [text for text in removal(cast)["effects"] if "planned visits" in text]
    assert effect.startswith("12 planned visits of Mia Member have nobody")
    assert effect.endswith("Stocktaking on 2038-01-20 and 2 more.")


def test_a_preview_tells_of_time_off_that_is_not_over(cast: Cast) -> None:
    def off(begins: str, kind: str) -> str:
        asked = {"personId": cast.people[Role.MEMBER], "from": begins, "kind": kind}
        return str(cast.perform(request_time_off, **asked)["id"])

    cast.perform(decide_time_off, timeOffId=off("2038-02-01", "holiday"), decision="approve")
    cast.perform(decide_time_off, timeOffId=off("2038-03-01", "holiday"), decision="decline")
    off("2038-04-01", "unavailable")
    named = "holiday from 2038-02-01 (approved), unavailable from 2038-04-01 (requested)"
    told = f"Time off of Mia Member that is not over stays as it is, unless you cancel it: {named}."
    assert removal(cast)["warnings"] == [told]
    assert cast.perform(remove_person, personId=cast.people[Role.OFFICE])["warnings"] == []


def removal(cast: Cast) -> dict[str, Any]:
    return cast.perform(remove_person, personId=cast.people[Role.MEMBER])


def test_an_admin_may_leave_by_their_own_key_and_the_key_is_dead(cast: Cast) -> None:
    key = cast.key(role=Role.ADMIN)
    acting = holder(cast, key)
    assert (
        cast.perform(remove_person, acting, personId=cast.people[Role.ADMIN], confirmed=True)["updatedBy"]["person"][
            "id"
        ]
        == cast.people[Role.ADMIN]
    )
    with pytest.raises(NoSuchKey):
        holder(cast, key)


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
        operator(cast.organisation),
        name="Otto Owner",
        email=f"otto.{cast.organisation}@new.example",
        role="owner",
        password=PASSWORD,
    )
    assert cast.perform(remove_person, personId=cast.people[Role.OWNER], confirmed=True)["status"] == "left"


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_admin_does_not_remove_an_owner(cast: Cast, *, confirmed: bool) -> None:
    with pytest.raises(Forbidden, match=r"^Only an owner may change or remove an owner\.$"):
        cast.perform(remove_person, Role.ADMIN, personId=cast.people[Role.OWNER], confirmed=confirmed)


def test_one_who_has_left_does_not_leave_again(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    told = len(events(cast))
    with pytest.raises(Blocked, match=r"^Mia Member has already left the organisation\.$"):
        cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert len(events(cast)) == told


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_unknown_and_a_foreign_person_are_not_found_in_the_same_words(
    cast: Cast, stranger: Cast, *, confirmed: bool
) -> None:
    for identity in (new_id("person"), stranger.people[Role.MEMBER]):
        with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
            cast.perform(remove_person, personId=identity, confirmed=confirmed)
    assert stranger.perform(get_person, personId=stranger.people[Role.MEMBER])["status"] == "active"


@pytest.mark.parametrize("confirmed", ["true", 1, None, "yes"])
def test_only_true_confirms(cast: Cast, confirmed: object) -> None:
    with pytest.raises(Invalid, match=r"^confirmed: is not true or false \(send the JSON boolean true, not text\)$"):
        cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=confirmed)


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_outdated_version_is_refused(cast: Cast, *, confirmed: bool) -> None:
    request = Envelope("req_1", versions=frozenset({7}))
    with pytest.raises(Stale):
        cast.answer(remove_person, request=request, personId=cast.people[Role.MEMBER], confirmed=confirmed)
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "active"


def test_their_sessions_here_end_and_nobody_else_s(cast: Cast) -> None:
    for role in (Role.MEMBER, Role.OFFICE):
        begin_session(cast, EMAILS[role])
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with cast.stage.database.reading(EVERY) as rows:
        left = rows.all(
            "SELECT account.email FROM session JOIN account ON account.id = session.account_id"
            " WHERE session.organisation_id = :here",
            here=cast.organisation,
        )
    assert left == [(EMAILS[Role.OFFICE],)]
