import pytest

from mainstay.business.equipment.operations import archive_equipment, get_equipment, list_equipment
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.customers import make_customer, make_equipment, make_job, make_site


def list_ids(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [one["id"] for one in cast.perform(list_equipment, role, **given)["data"]]


def test_the_newest_come_first_and_archived_ones_are_left_out(cast: Cast) -> None:
    site, elsewhere = (make_site(cast, make_customer(cast)) for _ in range(2))
    first, second, third = make_equipment(cast, site), make_equipment(cast, site), make_equipment(cast, elsewhere)
    cast.perform(archive_equipment, equipmentId=second)
    assert list_ids(cast) == [third, first]
    assert list_ids(cast, status="archived") == [second]
    assert list_ids(cast, siteId=site) == [first]
    assert list_ids(cast, limit=1, startingAfter=third) == [first]


@pytest.mark.parametrize("given", [{}, {"text": "boiler"}, {"status": "active"}])
def test_each_role_sees_that_of_the_sites_it_sees(cast: Cast, given: dict[str, object]) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Ryburn Estates")
    own, unassigned, foreign = make_site(cast, customer), make_site(cast, customer), make_site(cast, other)
    make_job(cast, customer, Role.MEMBER, Role.SUBCONTRACTOR, siteId=own)
    at_own, at_unassigned, at_foreign = (
        make_equipment(cast, site, externalRef=f"E-{number}") for number, site in enumerate((own, unassigned, foreign))
    )
    assert list_ids(cast, Role.OFFICE, **given) == [at_foreign, at_unassigned, at_own]
    assert list_ids(cast, Role.MEMBER, **given) == [at_unassigned, at_own]
    assert list_ids(cast, Role.SUBCONTRACTOR, **given) == [at_own]
    assert cast.perform(get_equipment, Role.SUBCONTRACTOR, equipmentId=at_own)["externalRef"] is None
    for role, hidden in ((Role.MEMBER, at_foreign), (Role.SUBCONTRACTOR, at_unassigned)):
        with pytest.raises(NotFound, match=r"^There is no equipment with that identifier\.$"):
            cast.perform(get_equipment, role, equipmentId=hidden)


def test_a_stranger_s_is_not_listed(cast: Cast, other_cast: Cast) -> None:
    make_equipment(other_cast, make_site(other_cast, make_customer(other_cast)))
    assert list_ids(cast) == list_ids(cast, text="boiler") == []
