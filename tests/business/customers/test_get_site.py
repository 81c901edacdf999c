import pytest

from business.customers.places import Places, places
from cast import Cast
from mainstay.business.customers.places import get_site
from mainstay.business.jobs.operations import list_jobs, update_job
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Role
from trade import a_customer, a_site

__all__ = ["places"]


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        (Role.OFFICE, {"mine", "beside", "theirs"}),
        (Role.MEMBER, {"mine", "beside"}),
        (Role.SUBCONTRACTOR, {"mine"}),
    ],
)
def test_each_role_gets_what_it_sees(cast: Cast, places: Places, role: Role, seen: set[str]) -> None:
    for name in ("mine", "beside", "theirs"):
        site = getattr(places, name)
        if name in seen:
            told = cast.perform(get_site, role, siteId=site)
            assert told["id"] == site
            assert told["address"]["line1"] == "2 Weir Lane"
        else:
            with pytest.raises(NotFound, match=r"^There is no site with that identifier\.$"):
                cast.perform(get_site, role, siteId=site)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_with_the_job_goes_the_sight_of_it(cast: Cast, places: Places, role: Role) -> None:
    (job,) = cast.perform(list_jobs, role)["data"]
    cast.perform(update_job, jobId=job["id"], assigned=[])
    with pytest.raises(NotFound):
        cast.perform(get_site, role, siteId=places.mine)


def test_a_stranger_s_site_is_not_found(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_site, siteId=a_site(stranger, a_customer(stranger)))
