"""Whoever sees many records sees exactly what they would see of few, though it is looked for in another way."""

from typing import Any

import pytest

from cast import Cast
from mainstay.business.customers.operations import get_customer, list_customers
from mainstay.business.customers.places import list_contacts, list_sites
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.records.search import search
from mainstay.kernel.operation import Operation
from mainstay.ledger import search as words
from mainstay.terms import listed
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import RIGHTS, Role
from trade import a_contact, a_customer, a_job, a_site

OWN, STRANGE = ("Calder", "Ryburn", "Colne"), ("Irwell", "Aire")


pytestmark = pytest.mark.usefixtures("found_alike")


@pytest.fixture
def furnished(cast: Cast) -> Cast:
    """A cast in which member and subcontractor work for some customers, more than once for each, and not for others."""
    for name in (*OWN, *STRANGE):
        customer = a_customer(cast, f"{name} Property")
        contact = a_contact(cast, customer, f"Ann of {name}")
        site = a_site(cast, customer, name=f"{name} Yard", contactId=contact)
        a_site(cast, customer, name=f"{name} Annexe")
        working = (Role.MEMBER, Role.SUBCONTRACTOR) if name in OWN else ()
        for _ in range(2):
            a_job(cast, customer, *working, siteId=site)
    return cast


def everything(cast: Cast, role: Role) -> dict[str, list[dict[str, Any]]]:
    """All that someone is told by lists and by searching, in each order, narrowed, and page by page."""
    lists: list[Operation] = [list_customers, list_sites, list_contacts, list_jobs]
    askings: list[dict[str, object]] = [{}, {"text": "property"}, {"text": "ryb"}, {"text": "irwell"}]
    askings += [{"text": "yard property"}, {"text": "nobody"}]
    told: dict[str, list[dict[str, Any]]] = {}
    for operation in (one for one in lists if one.right in RIGHTS[role]):
        ordered: list[dict[str, object]] = [{"order": "name"}] if operation is list_customers else []
        for given in askings + ordered:
            first = cast.perform(operation, role, limit=2, **given)
            rest = (
                cast.perform(operation, role, startingAfter=first["data"][-1]["id"], **given) if first["data"] else {}
            )
            told[f"{operation.name} {given}"] = [*first["data"], *rest.get("data", [])]
    return told | {str(given): cast.perform(search, role, **given)["hits"] for given in askings[1:]}


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_what_is_asked_of_each_record_is_what_would_be_looked_up(
    furnished: Cast, role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = everything(furnished, role)
    assert any(told.values())
    assert not any(name in str(told) for name in STRANGE)
    monkeypatch.setattr(listed, "LOOKED_UP", 1)
    assert everything(furnished, role) == told


@pytest.mark.parametrize("alike", [0, 12], ids=["along the list", "by the newest first"])
@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_a_word_of_very_many_finds_what_a_rare_one_would(
    furnished: Cast, role: Role, alike: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = everything(furnished, role)
    for bound in ("_SCANNED", "_SCANNED_OF_SEVERAL", "_SCANNED_FOR_OWN"):
        monkeypatch.setattr(words, bound, 1)
    monkeypatch.setattr(words, "_MOST_WORDS", alike)
    monkeypatch.setattr(listed, "LOOKED_UP", 1)
    assert everything(furnished, role) == told


def test_one_record_is_asked_whose_it_is(furnished: Cast) -> None:
    for customer in furnished.perform(list_customers)["data"]:
        if customer["name"].split()[0] in OWN:
            assert furnished.perform(get_customer, Role.MEMBER, customerId=customer["id"])["name"] == customer["name"]
        else:
            with pytest.raises(NotFound):
                furnished.perform(get_customer, Role.MEMBER, customerId=customer["id"])
