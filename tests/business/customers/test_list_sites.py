import pytest

from business.customers.places import Places, places
from cast import Cast
from mainstay.business.customers.places import get_site, list_sites, save_site
from mainstay.terms.rights import Role
from trade import a_customer, a_site

__all__ = ["places"]


def listed(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [site["id"] for site in cast.perform(list_sites, role, **given)["data"]]


def test_the_newest_come_first_and_those_put_away_are_left_out(cast: Cast) -> None:
    customer = a_customer(cast)
    first, second, third = (a_site(cast, customer) for _ in range(3))
    cast.perform(save_site, siteId=second, status="archived")
    assert listed(cast) == [third, first]
    assert listed(cast, status="archived") == [second]
    assert listed(cast, limit=1, startingAfter=third) == [first]


def test_they_are_narrowed_by_customer_and_found_by_words(cast: Cast, places: Places) -> None:
    customer = cast.perform(get_site, siteId=places.mine)["customerId"]
    assert listed(cast, customerId=customer) == [places.beside, places.mine]
    assert listed(cast, customerId=customer, status="archived") == []
    assert listed(cast, text="mill") == [places.mine]
    assert listed(cast, text="calder weir") == [places.beside, places.mine]
    assert listed(cast, text="hx62ag", customerId=customer) == [places.beside, places.mine]


@pytest.mark.parametrize("given", [{}, {"text": "weir"}, {"text": "hx62ag"}, {"status": "active"}])
def test_each_role_lists_what_it_sees(cast: Cast, places: Places, given: dict[str, object]) -> None:
    everything = [places.theirs, places.beside, places.mine]
    assert listed(cast, Role.OFFICE, **given) == everything
    # A member sees where else they may have to go for the customers they work for; a subcontractor only where they are.
    assert listed(cast, Role.MEMBER, **given) == [places.beside, places.mine]
    assert listed(cast, Role.SUBCONTRACTOR, **given) == [places.mine]


def test_the_field_is_not_told_what_other_systems_call_them(cast: Cast, places: Places) -> None:
    for role, told in ((Role.OFFICE, "S-1"), (Role.MEMBER, None), (Role.SUBCONTRACTOR, None)):
        (found,) = cast.perform(list_sites, role, text="mill")["data"]
        assert (found["id"], found["externalRef"], found["contactName"]) == (places.mine, told, "Ann Boyle")


def test_a_stranger_s_customer_has_none_here(cast: Cast, stranger: Cast) -> None:
    theirs = a_customer(stranger)
    a_site(stranger, theirs)
    assert listed(cast) == listed(cast, customerId=theirs) == listed(cast, text="weir") == []
