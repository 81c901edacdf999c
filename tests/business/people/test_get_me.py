import pytest

from cast import Cast
from evidence import holder
from mainstay.business.people.operations import get_me
from mainstay.terms.actor import operator
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import RIGHTS, Access, Role


def test_a_key_tells_its_person_its_organisation_and_itself(cast: Cast) -> None:
    acting = holder(cast, cast.key(Access.READ, Role.ADMIN))
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
    assert cast.perform(get_me, role)["rights"] == sorted(RIGHTS[role])


@pytest.mark.parametrize("role", list(Role))
def test_reading_alone_and_a_lapsed_subscription_leave_what_only_reads(cast: Cast, role: Role) -> None:
    reading = [right for right in sorted(RIGHTS[role]) if right.endswith(":read")]
    assert reading
    assert cast.perform(get_me, cast.actor(role, Access.READ))["rights"] == reading
    cast.lapse()
    for access in Access:
        assert cast.perform(get_me, cast.actor(role, access))["rights"] == reading
    cast.renew()
    assert cast.perform(get_me, role)["rights"] == sorted(RIGHTS[role])


def test_a_person_by_themselves_has_no_client(cast: Cast) -> None:
    me = cast.perform(get_me, Role.SUBCONTRACTOR)
    assert me["client"] is None
    assert {"me:read", "organisation:read"} <= {*me["rights"]}
    assert "people:read" not in me["rights"]


def test_the_operator_is_nobody_of_the_organisation(cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_me, operator(cast.organisation))
