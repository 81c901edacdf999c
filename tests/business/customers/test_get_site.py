import pytest

from business.customers.places import Places, places
from mainstay.business.customers.sites_and_contacts import get_site
from mainstay.business.jobs.operations import list_jobs, update_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.customers import make_customer, make_site

__all__ = ["places"]


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (Role.OFFICE, {"own_site", "unassigned_site", "foreign_site"}),
        (Role.MEMBER, {"own_site", "unassigned_site"}),
        (Role.SUBCONTRACTOR, {"own_site"}),
    ],
)
def test_each_role_gets_what_it_sees(cast: Cast, places: Places, role: Role, seen: set[str]) -> None:
    for name in ("own_site", "unassigned_site", "foreign_site"):
        site = getattr(places, name)
        if name in seen:
            result = cast.perform(get_site, role, siteId=site)
            assert result["id"] == site
            assert result["address"]["line1"] == "2 Weir Lane"
        else:
            with pytest.raises(NotFound, match=r"^There is no site with that identifier\.$"):
                cast.perform(get_site, role, siteId=site)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_with_the_job_goes_the_sight_of_it(cast: Cast, places: Places, role: Role) -> None:
    (job,) = cast.perform(list_jobs, role)["data"]
    cast.perform(update_job, jobId=job["id"], assigned=[])
    with pytest.raises(NotFound):
        cast.perform(get_site, role, siteId=places.own_site)


def test_a_stranger_s_site_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_site, siteId=make_site(other_cast, make_customer(other_cast)))
