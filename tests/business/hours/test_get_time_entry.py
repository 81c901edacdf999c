from contextlib import nullcontext
from typing import Any

import pytest

from mainstay.business.hours.approval import review_hours, submit_hours
from mainstay.business.hours.operations import get_time_entry
from mainstay.business.hours.timers import start_timer, stop_timer
from mainstay.kernel.operation import Operation
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound, Refusal
from support.cast import Cast
from support.hours import cast_at, make_time_entry, mark_entry_billed, set_organisation_columns

CHANGED = {"update_hours", "delete_hours"}


def make_member_entry(cast: Cast, status: str) -> dict[str, Any]:
    if status == "running":
        return cast_at(cast, "2026-11-16T08:00:00Z").perform(start_timer, Role.MEMBER)
    return make_time_entry(cast_at(cast), status=status)


def list_actions(cast: Cast, role: Role, entry: dict[str, Any]) -> set[str]:
    return {*cast.perform(get_time_entry, role, timeEntryId=entry["id"])["availableActions"]}


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE, Role.MEMBER])
def test_it_is_shown_to_whoever_sees_it(cast: Cast, role: Role) -> None:
    entry = make_time_entry(cast_at(cast), note="Flushed the pipes")
    assert cast.perform(get_time_entry, role, timeEntryId=entry["id"])["note"] == "Flushed the pipes"


def test_nobody_else_finds_it(cast: Cast, other_cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast))
    for who, role in ((cast, Role.SUBCONTRACTOR), (other_cast, Role.OWNER)):
        with pytest.raises(NotFound, match=r"^There is no time entry with that identifier\.$"):
            who.perform(get_time_entry, role, timeEntryId=entry["id"])
    with pytest.raises(NotFound):
        cast.perform(get_time_entry, timeEntryId=new_id("entry"))


@pytest.mark.parametrize(
    ("status", "own", "office"),
    [
        ("running", {"delete_hours", "stop_timer"}, {"delete_hours", "stop_timer"}),
        ("draft", CHANGED | {"submit_hours"}, CHANGED | {"submit_hours"}),
        ("submitted", set(), CHANGED | {"review_hours"}),
        ("approved", set(), {"review_hours"}),
        ("rejected", CHANGED | {"submit_hours"}, CHANGED | {"submit_hours"}),
    ],
)
def test_it_tells_what_can_be_done_with_it(cast: Cast, status: str, own: set[str], office: set[str]) -> None:
    entry = make_member_entry(cast, status)
    for role, actions in ((Role.MEMBER, own), (Role.OFFICE, office)):
        assert list_actions(cast, role, entry) == actions


@pytest.mark.parametrize("status", ["running", "draft", "submitted", "approved", "rejected"])
@pytest.mark.parametrize("role", [Role.MEMBER, Role.OFFICE])
@pytest.mark.parametrize("operation", [submit_hours, review_hours, stop_timer], ids=lambda one: one.name)
def test_what_it_tells_of_is_done_by_its_id(cast: Cast, status: str, role: Role, operation: Operation) -> None:
    entry = make_member_entry(cast, status)
    result = operation.name in list_actions(cast, role, entry)
    named = {"timeEntryId": entry["id"]} if operation is stop_timer else {"timeEntryIds": [entry["id"]]}
    decided = {"decision": "unapprove" if status == "approved" else "approve"} if operation is review_hours else {}
    with nullcontext() if result else pytest.raises(Refusal):
        cast_at(cast).perform(operation, role, **named, **decided)


@pytest.mark.parametrize("status", ["submitted", "approved"])
def test_nothing_is_decided_on_what_is_in_closed_books(cast: Cast, status: str) -> None:
    entry = make_time_entry(cast_at(cast), status=status, on="2026-10-31")
    set_organisation_columns(cast, books_closed_until="2026-10-31")
    assert list_actions(cast, Role.OFFICE, entry) == set()


def test_what_is_on_an_invoice_is_not_un_approved(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="approved")
    mark_entry_billed(cast, entry["id"])
    assert list_actions(cast, Role.OFFICE, entry) == set()
