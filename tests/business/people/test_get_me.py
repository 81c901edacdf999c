import pytest

from mainstay.business.people.operations import get_me
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.stored_state import actor_with_key


def test_a_key_tells_its_person_its_organisation_and_itself(cast: Cast) -> None:
    acting = actor_with_key(cast, cast.make_key(Access.READ, Role.ADMIN))
    me = cast.perform(get_me, acting)

    assert me.pop("organisation")["id"] == cast.organisation
    assert me == {
        "object": "me",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "role": "admin",
        "access": "read",
        "client": {"id": acting.credential, "name": "admin read"},
        "rights": [
            "allCustomers:read",
            "allHistory:read",
            "allHours:read",
            "allJobs:read",
            "allLeave:read",
            "allSchedule:read",
            "connections:read",
            "costs:read",
            "customers:read",
            "documents:read",
            "events:read",
            "history:read",
            "hours:read",
            "invoices:read",
            "jobs:read",
            "leave:read",
            "me:read",
            "messages:read",
            "officeNotes:read",
            "orders:read",
            "organisation:read",
            "overview:read",
            "people:read",
            "priceList:read",
            "prices:read",
            "purchasing:read",
            "quotes:read",
            "reports:read",
            "schedule:read",
            "settings:read",
            "sites:read",
        ],
    }


@pytest.mark.parametrize("role", list(Role))
def test_with_write_access_they_are_those_of_the_role(cast: Cast, role: Role) -> None:
    assert cast.perform(get_me, role)["rights"] == sorted(ROLE_PERMISSIONS[role])


@pytest.mark.parametrize("role", list(Role))
def test_reading_alone_and_a_lapsed_subscription_leave_what_only_reads(cast: Cast, role: Role) -> None:
    reading = [right for right in sorted(ROLE_PERMISSIONS[role]) if right.endswith(":read")]
    assert reading
    assert cast.perform(get_me, cast.actor(role, Access.READ))["rights"] == reading
    cast.lapse()
    for access in Access:
        assert cast.perform(get_me, cast.actor(role, access))["rights"] == reading
    cast.renew()
    assert cast.perform(get_me, role)["rights"] == sorted(ROLE_PERMISSIONS[role])


def test_a_person_by_themselves_has_no_client(cast: Cast) -> None:
    me = cast.perform(get_me, Role.SUBCONTRACTOR)
    assert me["client"] is None
    assert {"me:read", "organisation:read"} <= {*me["rights"]}
    assert "people:read" not in me["rights"]


def test_the_operator_is_nobody_of_the_organisation(cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_me, operator_actor(cast.organisation))
