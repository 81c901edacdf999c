import pytest

from business.customers.places import Places, places
from mainstay.business.customers.sites_and_contacts import get_contact, save_site
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.customers import make_contact, make_customer

__all__ = ["places"]


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (Role.OFFICE, {"own_contact", "unassigned_contact", "foreign_contact"}),
        (Role.MEMBER, {"own_contact", "unassigned_contact"}),
        (Role.SUBCONTRACTOR, {"own_contact"}),
    ],
)
def test_each_role_gets_whom_it_meets(cast: Cast, places: Places, role: Role, seen: set[str]) -> None:
    for name in ("own_contact", "unassigned_contact", "foreign_contact"):
        contact = getattr(places, name)
        if name in seen:
            assert cast.perform(get_contact, role, contactId=contact)["id"] == contact
        else:
            with pytest.raises(NotFound, match=r"^There is no contact with that identifier\.$"):
                cast.perform(get_contact, role, contactId=contact)


def test_whoever_is_no_longer_met_there_is_not_found_by_a_subcontractor(cast: Cast, places: Places) -> None:
    cast.perform(save_site, siteId=places.own_site, contactId=None)
    with pytest.raises(NotFound):
        cast.perform(get_contact, Role.SUBCONTRACTOR, contactId=places.own_contact)
    assert cast.perform(get_contact, Role.MEMBER, contactId=places.own_contact)


def test_a_stranger_s_contact_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_contact, contactId=make_contact(other_cast, make_customer(other_cast)))
