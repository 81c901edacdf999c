from typing import Any

import pytest

from mainstay.business.customers.sites_and_contacts import get_site, list_sites, save_site
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from support.cast import Cast
from support.customers import ADDRESS, list_task_kinds, make_contact, make_customer, make_site
from support.stored_state import operations_on, to_event_record

EVERY_FIELD: dict[str, Any] = {
    "name": "The mill",
    "address": ADDRESS,
    "timeZone": "Europe/Berlin",
    "accessNotes": "Ring twice.",
    "status": "active",
    "externalRef": "S-7",
}


def test_a_new_one_is_kept_with_everything(cast: Cast) -> None:
    customer = make_customer(cast)
    contact = make_contact(cast, customer, phone="07700 900111")
    made = cast.perform(save_site, Role.OFFICE, customerId=customer, contactId=contact, **EVERY_FIELD)
    assert {name: made[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert (made["customerId"], made["customerName"]) == (customer, "Calder Property")
    assert (made["contactId"], made["contactName"], made["contactPhone"]) == (contact, "Ann Boyle", "07700 900111")
    assert to_event_record(cast.perform(get_site, siteId=made["id"])) == to_event_record(made)
    assert made["url"].endswith(f"/sites/{made['id']}")
    assert made["availableActions"] == ["save_site"]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (ADDRESS, "2 Weir Lane"),
        ({"city": "Todmorden", "postalCode": "OL14"}, "Todmorden"),
        ({"postalCode": "OL14"}, "OL14"),
        ({"country": "GB"}, "GB"),
        ({"region": "Yorkshire"}, "Site"),
    ],
)
def test_without_a_name_it_is_called_by_the_beginning_of_its_address(
    cast: Cast, address: dict[str, str], name: str
) -> None:
    assert cast.perform(save_site, customerId=make_customer(cast), address=address)["name"] == name


def test_as_long_as_nobody_names_it_its_address_does(cast: Cast) -> None:
    site = make_site(cast, make_customer(cast))
    assert cast.perform(save_site, siteId=site, address={"line1": "7 Dale Road"})["name"] == "7 Dale Road"
    assert cast.perform(save_site, siteId=site, name="The mill", address=ADDRESS)["name"] == "The mill"
    assert cast.perform(save_site, siteId=site, address={"line1": "7 Dale Road"})["name"] == "The mill"
    assert cast.perform(save_site, siteId=site, name=None)["name"] == "7 Dale Road"


def test_a_new_one_needs_a_customer_and_an_address(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(save_site, name="The mill")
    assert refusal.value.text == "customerId: is required for a new record; address: is required for a new record"


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer, contactId=make_contact(cast, customer, phone="1"), **EVERY_FIELD)
    before = cast.perform(get_site, siteId=site)
    after = cast.perform(save_site, siteId=site, accessNotes=None, contactId=None)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"updatedAt", "updatedBy"} == {
        "accessNotes",
        "contactId",
        "contactName",
        "contactPhone",
        "version",
    }
    assert after["accessNotes"] is after["contactId"] is None
    assert operations_on(cast, site) == ["save_site", "save_site"]


@pytest.mark.parametrize("name", ["address", "status", "customerId"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: "):
        cast.perform(save_site, siteId=make_site(cast, make_customer(cast)), **{name: None})


def test_it_is_found_by_its_new_name_and_address(cast: Cast) -> None:
    site = make_site(cast, make_customer(cast))
    cast.perform(save_site, siteId=site, name="The mill", address={**dict.fromkeys(ADDRESS), "line1": "7 Dale Road"})

    def found(text: str) -> list[str]:
        return [one["id"] for one in cast.perform(list_sites, text=text)["data"]]

    assert found("mill dale") == found("calder dale") == [site]
    assert found("weir") == found("hx62ag") == []


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({"address": {"line1": "7 Dale Road"}}, ["reword_records_of_customer"]),
        ({"name": "The mill"}, ["reword_records_of_customer"]),
        ({"address": ADDRESS, "name": "2 Weir Lane"}, []),
        ({"accessNotes": "Ring twice."}, []),
    ],
    ids=["address", "name", "the same", "notes"],
)
def test_where_jobs_are_found_by_it_they_are_reworded(cast: Cast, change: dict[str, object], left: list[str]) -> None:
    site = make_site(cast, make_customer(cast))
    cast.perform(save_site, siteId=site, **change)
    assert list_task_kinds(cast) == left


def test_it_stays_with_its_customer(cast: Cast) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Ryburn")
    site = make_site(cast, customer)
    assert cast.perform(save_site, siteId=site, customerId=customer, name="x")["name"] == "x"
    with pytest.raises(
        Conflict, match=r"^A site can't move to another customer\. Create one for the other customer, or merge"
    ):
        cast.perform(save_site, siteId=site, customerId=other)


def test_whom_one_meets_there_is_a_contact_of_the_same_customer(cast: Cast, other_cast: Cast) -> None:
    customer = make_customer(cast)
    theirs = make_contact(cast, make_customer(cast, "Ryburn"))
    with pytest.raises(Invalid, match=r"^contactId: belongs to another customer, list_contacts shows"):
        cast.perform(save_site, customerId=customer, address=ADDRESS, contactId=theirs)
    with pytest.raises(Invalid, match=r"^contactId: belongs to another customer, list_contacts shows"):
        cast.perform(save_site, siteId=make_site(cast, customer), contactId=theirs)
    foreign = make_contact(other_cast, make_customer(other_cast))
    with pytest.raises(NotFound, match="no contact"):
        cast.perform(save_site, customerId=customer, address=ADDRESS, contactId=foreign)


def test_no_two_share_a_reference_of_another_system(cast: Cast) -> None:
    customer = make_customer(cast)
    make_site(cast, customer, name="The mill", externalRef="S-7")
    other = make_site(cast, customer)
    for given in ({"siteId": other}, {"customerId": customer, "address": ADDRESS}):
        with pytest.raises(Conflict, match="The mill already has the external ID S-7"):
            cast.perform(save_site, externalRef="S-7", **given)


def test_a_change_to_what_has_changed_since_is_refused(cast: Cast) -> None:
    site = make_site(cast, make_customer(cast))
    cast.perform(save_site, siteId=site, name="x")
    with pytest.raises(Stale):
        cast.answer(
            save_site, Role.OFFICE, RequestDetails("r", if_match_versions=frozenset({1})), siteId=site, name="y"
        )


def test_a_repeat_with_the_same_key_makes_nothing_twice(cast: Cast) -> None:
    customer = make_customer(cast)
    for _ in range(2):
        cast.answer(
            save_site, Role.OFFICE, RequestDetails("r", idempotency_key="once"), customerId=customer, address=ADDRESS
        )
    assert len(cast.perform(list_sites)["data"]) == 1


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(save_site, role, customerId=make_customer(cast), address=ADDRESS)


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    theirs = make_customer(other_cast)
    with pytest.raises(NotFound, match="no site"):
        cast.perform(save_site, siteId=make_site(other_cast, theirs), name="x")
    with pytest.raises(NotFound, match="no customer"):
        cast.perform(save_site, customerId=theirs, address=ADDRESS)
