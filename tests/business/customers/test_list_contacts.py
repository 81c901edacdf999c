import pytest

from business.customers.places import Places, places
from cast import Cast
from mainstay.business.customers.places import get_contact, list_contacts, save_contact
from mainstay.terms.rights import Role
from trade import a_contact, a_customer

__all__ = ["places"]


def listed(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [contact["id"] for contact in cast.perform(list_contacts, role, **given)["data"]]


def test_the_newest_come_first_and_those_put_away_are_left_out(cast: Cast) -> None:
    customer = a_customer(cast)
    first, second, third = (a_contact(cast, customer) for _ in range(3))
    cast.perform(save_contact, contactId=second, status="archived")
    assert listed(cast) == [third, first]
    assert listed(cast, status="archived") == [second]
    assert listed(cast, limit=1, startingAfter=third) == [first]


def test_they_are_narrowed_by_customer_and_found_by_words(cast: Cast, places: Places) -> None:
    customer = cast.perform(get_contact, contactId=places.met)["customerId"]
    assert listed(cast, customerId=customer) == [places.met_beside, places.met]
    assert listed(cast, text="ann") == listed(cast, text="calder ann") == [places.met]
    assert listed(cast, text="boyle", customerId=customer) == [places.met_beside, places.met]


@pytest.mark.parametrize("given", [{}, {"text": "boyle"}, {"status": "active"}])
def test_each_role_lists_whom_it_may_meet(cast: Cast, places: Places, given: dict[str, object]) -> None:
    assert listed(cast, Role.OFFICE, **given) == [places.met_by_others, places.met_beside, places.met]
    assert listed(cast, Role.MEMBER, **given) == [places.met_beside, places.met]
    assert listed(cast, Role.SUBCONTRACTOR, **given) == [places.met]


def test_a_stranger_s_customer_has_none_here(cast: Cast, stranger: Cast) -> None:
    theirs = a_customer(stranger)
    a_contact(stranger, theirs)
    assert listed(cast) == listed(cast, customerId=theirs) == listed(cast, text="boyle") == []
