import pytest

from business.customers.places import Places, places
from cast import Cast
from mainstay.business.customers.places import get_contact, save_site
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Role
from trade import a_contact, a_customer

__all__ = ["places"]


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (Role.OFFICE, {"met", "met_beside", "met_by_others"}),
        (Role.MEMBER, {"met", "met_beside"}),
        (Role.SUBCONTRACTOR, {"met"}),
    ],
)
def test_each_role_gets_whom_it_meets(cast: Cast, places: Places, role: Role, seen: set[str]) -> None:
    for name in ("met", "met_beside", "met_by_others"):
        contact = getattr(places, name)
        if name in seen:
            assert cast.perform(get_contact, role, contactId=contact)["id"] == contact
        else:
            with pytest.raises(NotFound, match=r"^There is no contact with that identifier\.$"):
                cast.perform(get_contact, role, contactId=contact)


def test_whoever_is_no_longer_met_there_is_not_found_by_a_subcontractor(cast: Cast, places: Places) -> None:
    cast.perform(save_site, siteId=places.mine, contactId=None)
    with pytest.raises(NotFound):
        cast.perform(get_contact, Role.SUBCONTRACTOR, contactId=places.met)
    assert cast.perform(get_contact, Role.MEMBER, contactId=places.met)


def test_a_stranger_s_contact_is_not_found(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_contact, contactId=a_contact(stranger, a_customer(stranger)))
