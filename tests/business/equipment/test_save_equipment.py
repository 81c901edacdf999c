from typing import Any

import pytest

from mainstay.business.customers.operations import archive_customer
from mainstay.business.equipment.operations import archive_equipment, get_equipment, list_equipment, save_equipment
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid, NotFound
from support.cast import Cast
from support.customers import make_customer, make_equipment, make_site
from support.stored_state import list_events_of, operations_on, to_event_record

EVERY_FIELD: dict[str, Any] = {
    "name": "Boiler",
    "make": "Worcester",
    "model": "Greenstar 4000",
    "serialNumber": "7733-600-001",
    "installedOn": "2024-05-14",
    "warrantyUntil": "2029-05-13",
    "notes": "In the loft.",
    "externalRef": "E-7",
}


def test_a_new_one_has_everything_and_the_customer_of_its_site(cast: Cast) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer, name="The mill")
    made = cast.perform(save_equipment, Role.OFFICE, siteId=site, **EVERY_FIELD)
    assert {name: made[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert (made["siteId"], made["siteName"], made["status"]) == (site, "The mill", "active")
    assert (made["customerId"], made["customerName"]) == (customer, "Calder Property")
    assert to_event_record(cast.perform(get_equipment, equipmentId=made["id"])) == to_event_record(made)
    assert made["url"].endswith(f"/equipment/{made['id']}")
    assert made["availableActions"] == ["save_equipment", "archive_equipment"]


def test_a_new_one_needs_a_site_and_a_name(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(save_equipment, make="Worcester")
    assert refusal.value.text == "siteId: is required for a new record; name: is required for a new record"


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)), **EVERY_FIELD)
    before = cast.perform(get_equipment, equipmentId=equipment)
    after = cast.perform(save_equipment, equipmentId=equipment, warrantyUntil=None)
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"updatedAt", "updatedBy"} == {"warrantyUntil", "version"}
    assert operations_on(cast, equipment) == ["save_equipment", "save_equipment"]


@pytest.mark.parametrize("name", ["name", "siteId"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    with pytest.raises(Invalid, match=f"^{name}: "):
        cast.perform(save_equipment, equipmentId=equipment, **{name: None})


def test_it_can_move_to_another_site(cast: Cast) -> None:
    other = make_customer(cast, "Ryburn")
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    moved = cast.perform(save_equipment, equipmentId=equipment, siteId=make_site(cast, other))
    assert (moved["customerId"], moved["customerName"]) == (other, "Ryburn")


def test_an_archived_customer_gets_none(cast: Cast) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer)
    cast.perform(archive_customer, customerId=customer)
    with pytest.raises(Conflict, match=r"^Calder Property is archived\. Restore the customer first\."):
        cast.perform(save_equipment, siteId=site, name="Boiler")


def test_no_two_share_a_reference_of_another_system(cast: Cast) -> None:
    site = make_site(cast, make_customer(cast))
    make_equipment(cast, site, externalRef="E-7")
    with pytest.raises(Conflict, match=r"^Boiler already has the external ID E-7\."):
        make_equipment(cast, site, externalRef="E-7")


def test_it_is_found_by_what_is_on_its_plate(cast: Cast) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)), **EVERY_FIELD)
    for text in ("boiler", "worcester greenstar", "7733-600", "7733600001"):
        assert [one["id"] for one in cast.perform(list_equipment, text=text)["data"]] == [equipment]
    cast.perform(save_equipment, equipmentId=equipment, serialNumber=None)
    assert cast.perform(list_equipment, text="7733-600")["data"] == []


def test_a_stranger_s_site_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound, match="no site"):
        cast.perform(save_equipment, siteId=make_site(other_cast, make_customer(other_cast)), name="Boiler")


def test_programs_hear_of_it(cast: Cast) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    cast.perform(save_equipment, equipmentId=equipment, make="Worcester")
    cast.perform(save_equipment, equipmentId=equipment, make="Worcester")
    cast.perform(archive_equipment, equipmentId=equipment)
    names = [str(event["type"]) for event in list_events_of(cast)]
    assert names[-3:] == ["equipment.created", "equipment.updated", "equipment.updated"]
