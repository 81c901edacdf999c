from typing import Any

import pytest

from mainstay.business.customers.sites_and_contacts import get_contact, list_contacts, save_contact
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound
from support.cast import Cast
from support.customers import make_contact, make_customer
from support.stored_state import to_event_record

EVERY_FIELD: dict[str, Any] = {
    "name": "Ann Boyle",
    "role": "caretaker",
    "email": "ann@calder.example",
    "phone": "07700 900111",
    "receives": {"quotes": True, "invoices": False},
    "status": "active",
    "externalRef": "A-7",
}


def test_a_new_one_is_kept_with_everything(cast: Cast) -> None:
    customer = make_customer(cast)
    made = cast.perform(save_contact, Role.OFFICE, customerId=customer, **EVERY_FIELD)
    assert {name: made[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert (made["customerId"], made["customerName"]) == (customer, "Calder Property")
    assert to_event_record(cast.perform(get_contact, contactId=made["id"])) == to_event_record(made)
    assert made["url"].endswith(f"/contacts/{made['id']}")


def test_a_name_is_enough_and_nothing_is_mailed_to_them_then(cast: Cast) -> None:
    made = cast.perform(save_contact, customerId=make_customer(cast), name="Ann")
    assert made["receives"] == {"quotes": False, "invoices": False}
    assert (made["status"], made["email"], made["phone"], made["role"]) == ("active", None, None, None)


def test_a_new_one_needs_a_customer_and_a_name(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(save_contact, phone="1")
    assert refusal.value.text == "customerId: is required for a new record; name: is required for a new record"


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    contact = make_contact(cast, make_customer(cast), **EVERY_FIELD)
    after = cast.perform(save_contact, contactId=contact, phone=None, role=None, externalRef=None)
    assert {name: after[name] for name in EVERY_FIELD} == EVERY_FIELD | {
        "phone": None,
        "role": None,
        "externalRef": None,
    }


@pytest.mark.parametrize("name", ["name", "receives", "status", "customerId"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: "):
        cast.perform(save_contact, contactId=make_contact(cast, make_customer(cast)), **{name: None})


def test_they_are_found_by_what_is_known_of_them_now(cast: Cast) -> None:
    contact = make_contact(cast, make_customer(cast), **EVERY_FIELD)
    cast.perform(save_contact, contactId=contact, name="Ann Dale", phone="07700 900222")

    def found(text: str) -> list[str]:
        return [one["id"] for one in cast.perform(list_contacts, text=text)["data"]]

    assert found("ann dale") == found("900222") == found("ann@calder") == found("calder ann") == [contact]
    assert found("boyle") == found("900111") == []


def test_they_stay_with_their_customer(cast: Cast) -> None:
    contact = make_contact(cast, make_customer(cast))
    with pytest.raises(Conflict, match=r"^A contact can't move to another customer\."):
        cast.perform(save_contact, contactId=contact, customerId=make_customer(cast, "Ryburn"))


def test_no_two_share_a_reference_of_another_system(cast: Cast) -> None:
    customer = make_customer(cast)
    make_contact(cast, customer, externalRef="A-7")
    other = make_contact(cast, customer, "Bea")
    for given in ({"contactId": other}, {"customerId": customer, "name": "Cy"}):
        with pytest.raises(Conflict, match="Ann Boyle already has the external ID A-7"):
            cast.perform(save_contact, externalRef="A-7", **given)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(save_contact, role, customerId=make_customer(cast), name="Ann")


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    theirs = make_customer(other_cast)
    with pytest.raises(NotFound, match="no contact"):
        cast.perform(save_contact, contactId=make_contact(other_cast, theirs), name="x")
    with pytest.raises(NotFound, match="no customer"):
        cast.perform(save_contact, customerId=theirs, name="x")
