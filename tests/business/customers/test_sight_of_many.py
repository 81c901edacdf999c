"""People see the same records whether there are many or few, though the search works differently then."""

from typing import Any

import pytest

from mainstay.business.customers.operations import get_customer, list_customers
from mainstay.business.customers.sites_and_contacts import list_contacts, list_sites
from mainstay.business.jobs.operations import list_jobs
from mainstay.business.records.search import search
from mainstay.changes import search as words
from mainstay.kernel.operation import Operation
from mainstay.vocabulary import list_queries
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job, make_site

OWN, FOREIGN = ("Calder", "Ryburn", "Colne"), ("Irwell", "Aire")


pytestmark = pytest.mark.usefixtures("fresh_or_indexed_words")


@pytest.fixture
def populated_cast(cast: Cast) -> Cast:
    """A cast in which member and subcontractor work for some customers, with several jobs each, and not for others."""
    for name in (*OWN, *FOREIGN):
        customer = make_customer(cast, f"{name} Property")
        contact = make_contact(cast, customer, f"Ann of {name}")
        site = make_site(cast, customer, name=f"{name} Yard", contactId=contact)
        make_site(cast, customer, name=f"{name} Annexe")
        working = (Role.MEMBER, Role.SUBCONTRACTOR) if name in OWN else ()
        for _ in range(2):
            make_job(cast, customer, *working, siteId=site)
    return cast


def list_everything(cast: Cast, role: Role) -> dict[str, list[dict[str, Any]]]:
    """Return what the lists and the search show a role: in each order, filtered, and page by page."""
    lists: list[Operation] = [list_customers, list_sites, list_contacts, list_jobs]
    queries: list[dict[str, object]] = [{}, {"text": "property"}, {"text": "ryb"}, {"text": "irwell"}]
    queries += [{"text": "yard property"}, {"text": "nobody"}]
    results: dict[str, list[dict[str, Any]]] = {}
    for operation in (one for one in lists if one.permission in ROLE_PERMISSIONS[role]):
        order_queries: list[dict[str, object]] = [{"order": "name"}] if operation is list_customers else []
        for given in queries + order_queries:
            first = cast.perform(operation, role, limit=2, **given)
            rest = (
                cast.perform(operation, role, startingAfter=first["data"][-1]["id"], **given) if first["data"] else {}
            )
            results[f"{operation.name} {given}"] = [*first["data"], *rest.get("data", [])]
    return results | {str(given): cast.perform(search, role, **given)["hits"] for given in queries[1:]}


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_however_it_is_looked_for_the_same_is_found(
    populated_cast: Cast, role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = list_everything(populated_cast, role)
    assert any(result.values())
    assert (role is Role.OFFICE) == any(name in str(result) for name in FOREIGN)

    # Each record is asked whose it is, and what is one's own is not looked up.
    monkeypatch.setattr(list_queries, "LOOKUP_LIMIT", 1)
    assert list_everything(populated_cast, role) == result

    # Every word is one of very many: they are looked for along the list, and then among the newest first.
    for bound in ("_SCANNED", "_SCANNED_OF_SEVERAL", "_SCANNED_FOR_OWN"):
        monkeypatch.setattr(words, bound, 1)
    for alike in (0, 12):
        monkeypatch.setattr(words, "_MAX_WORDS", alike)
        assert list_everything(populated_cast, role) == result


def test_one_record_is_asked_whose_it_is(populated_cast: Cast) -> None:
    for customer in populated_cast.perform(list_customers)["data"]:
        if customer["name"].split()[0] in OWN:
            assert (
                populated_cast.perform(get_customer, Role.MEMBER, customerId=customer["id"])["name"] == customer["name"]
            )
        else:
            with pytest.raises(NotFound):
                populated_cast.perform(get_customer, Role.MEMBER, customerId=customer["id"])
