"""Sites and contacts of jobs, for tests of who sees which of them."""

from typing import NamedTuple

import pytest

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job, make_site


class Places(NamedTuple):
    """The ids of two sites of a customer and one of another, each with its contact; the first has assigned people."""

    own_site: str
    unassigned_site: str
    foreign_site: str
    own_contact: str
    unassigned_contact: str
    foreign_contact: str


@pytest.fixture
def places(cast: Cast) -> Places:
    """Create a job at each site; member and subcontractor are assigned to the job at the first site only."""
    customer, other = make_customer(cast), make_customer(cast, "Ryburn Estates")
    own_contact, unassigned_contact = (
        make_contact(cast, customer, "Ann Boyle"),
        make_contact(cast, customer, "Bea Boyle"),
    )
    foreign_contact = make_contact(cast, other, "Cy Boyle")
    own_site = make_site(cast, customer, name="The mill", contactId=own_contact, externalRef="S-1")
    unassigned_site = make_site(cast, customer, name="The barn", contactId=unassigned_contact)
    foreign_site = make_site(cast, other, name="The hall", contactId=foreign_contact)
    make_job(cast, customer, Role.MEMBER, Role.SUBCONTRACTOR, siteId=own_site)
    make_job(cast, customer, siteId=unassigned_site)
    make_job(cast, other, siteId=foreign_site)
    return Places(own_site, unassigned_site, foreign_site, own_contact, unassigned_contact, foreign_contact)
