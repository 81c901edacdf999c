import pytest

from business.customers.places import Places, places
from mainstay.business.customers.sites_and_contacts import get_site, list_sites, save_site
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_site

__all__ = ["places"]


def list_site_ids(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [site["id"] for site in cast.perform(list_sites, role, **given)["data"]]


def test_the_newest_come_first_and_those_put_away_are_left_out(cast: Cast) -> None:
    customer = make_customer(cast)
    first, second, third = (make_site(cast, customer) for _ in range(3))
    cast.perform(save_site, siteId=second, status="archived")
    assert list_site_ids(cast) == [third, first]
    assert list_site_ids(cast, status="archived") == [second]
    assert list_site_ids(cast, limit=1, startingAfter=third) == [first]


def test_they_are_narrowed_by_customer_and_found_by_words(cast: Cast, places: Places) -> None:
    customer = cast.perform(get_site, siteId=places.own_site)["customerId"]
    assert list_site_ids(cast, customerId=customer) == [places.unassigned_site, places.own_site]
    assert list_site_ids(cast, customerId=customer, status="archived") == []
    assert list_site_ids(cast, text="mill") == [places.own_site]
    assert list_site_ids(cast, text="calder weir") == [places.unassigned_site, places.own_site]
    assert list_site_ids(cast, text="hx62ag", customerId=customer) == [places.unassigned_site, places.own_site]


@pytest.mark.parametrize("given", [{}, {"text": "weir"}, {"text": "hx62ag"}, {"status": "active"}])
def test_each_role_lists_what_it_sees(cast: Cast, places: Places, given: dict[str, object]) -> None:
    everything = [places.foreign_site, places.unassigned_site, places.own_site]
    assert list_site_ids(cast, Role.OFFICE, **given) == everything
    # A member sees where else they may have to go for the customers they work for; a subcontractor only where they are.
    assert list_site_ids(cast, Role.MEMBER, **given) == [places.unassigned_site, places.own_site]
    assert list_site_ids(cast, Role.SUBCONTRACTOR, **given) == [places.own_site]


def test_the_field_is_not_told_what_other_systems_call_them(cast: Cast, places: Places) -> None:
    for role, expected in ((Role.OFFICE, "S-1"), (Role.MEMBER, None), (Role.SUBCONTRACTOR, None)):
        (found,) = cast.perform(list_sites, role, text="mill")["data"]
        assert (found["id"], found["externalRef"], found["contactName"]) == (places.own_site, expected, "Ann Boyle")


def test_a_stranger_s_customer_has_none_here(cast: Cast, other_cast: Cast) -> None:
    theirs = make_customer(other_cast)
    make_site(other_cast, theirs)
    assert list_site_ids(cast) == list_site_ids(cast, customerId=theirs) == list_site_ids(cast, text="weir") == []
