"""Sites and contacts around jobs, for tests of who sees which of them."""

from typing import NamedTuple

import pytest

from cast import Cast
from mainstay.terms.rights import Role
from trade import a_contact, a_customer, a_job, a_site


class Places(NamedTuple):
    """Two sites of a customer with whom one meets there, and the same of another customer, for whom others work."""

    mine: str
    beside: str
    theirs: str
    met: str
    met_beside: str
    met_by_others: str


@pytest.fixture
def places(cast: Cast) -> Places:
    """A job at the first site is the member's and the subcontractor's; at the others work is nobody's of them."""
    customer, other = a_customer(cast), a_customer(cast, "Ryburn Estates")
    met, met_beside = a_contact(cast, customer, "Ann Boyle"), a_contact(cast, customer, "Bea Boyle")
    met_by_others = a_contact(cast, other, "Cy Boyle")
    mine = a_site(cast, customer, name="The mill", contactId=met, externalRef="S-1")
    beside = a_site(cast, customer, name="The barn", contactId=met_beside)
    theirs = a_site(cast, other, name="The hall", contactId=met_by_others)
    a_job(cast, customer, Role.MEMBER, Role.SUBCONTRACTOR, siteId=mine)
    a_job(cast, customer, siteId=beside)
    a_job(cast, other, siteId=theirs)
    return Places(mine, beside, theirs, met, met_beside, met_by_others)
