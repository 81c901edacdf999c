import pytest

from business.customers.places import Places, places
from mainstay.business.customers.sites_and_contacts import get_contact, list_contacts, save_contact
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_contact, make_customer

__all__ = ["places"]


def list_contact_ids(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [contact["id"] for contact in cast.perform(list_contacts, role, **given)["data"]]


def test_the_newest_come_first_and_those_put_away_are_left_out(cast: Cast) -> None:
    customer = make_customer(cast)
    first, second, third = (make_contact(cast, customer) for _ in range(3))
    cast.perform(save_contact, contactId=second, status="archived")
    assert list_contact_ids(cast) == [third, first]
    assert list_contact_ids(cast, status="archived") == [second]
    assert list_contact_ids(cast, limit=1, startingAfter=third) == [first]


def test_they_are_narrowed_by_customer_and_found_by_words(cast: Cast, places: Places) -> None:
    customer = cast.perform(get_contact, contactId=places.own_contact)["customerId"]
    assert list_contact_ids(cast, customerId=customer) == [places.unassigned_contact, places.own_contact]
    assert list_contact_ids(cast, text="ann") == list_contact_ids(cast, text="calder ann") == [places.own_contact]
    assert list_contact_ids(cast, text="boyle", customerId=customer) == [places.unassigned_contact, places.own_contact]


@pytest.mark.parametrize("given", [{}, {"text": "boyle"}, {"status": "active"}])
def test_each_role_lists_whom_it_may_meet(cast: Cast, places: Places, given: dict[str, object]) -> None:
    assert list_contact_ids(cast, Role.OFFICE, **given) == [
        places.foreign_contact,
        places.unassigned_contact,
        places.own_contact,
    ]
    assert list_contact_ids(cast, Role.MEMBER, **given) == [places.unassigned_contact, places.own_contact]
    assert list_contact_ids(cast, Role.SUBCONTRACTOR, **given) == [places.own_contact]


def test_a_stranger_s_customer_has_none_here(cast: Cast, other_cast: Cast) -> None:
    theirs = make_customer(other_cast)
    make_contact(other_cast, theirs)
    assert (
        list_contact_ids(cast)
        == list_contact_ids(cast, customerId=theirs)
        == list_contact_ids(cast, text="boyle")
        == []
    )
