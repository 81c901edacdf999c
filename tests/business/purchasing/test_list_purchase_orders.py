import pytest

from cast import Cast
from mainstay.business.jobs.operations import update_job
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.ending import cancel_purchase_order, close_purchase_order
from mainstay.business.purchasing.operations import get_purchase_order, list_purchase_orders
from mainstay.business.records.search import search
from mainstay.terms.refusal import Forbidden, NotFound
from mainstay.terms.rights import Role
from ordering import an_order, bought_for, ordered, received
from trade import work_off
from wares import a_supplier


def numbers(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [order["number"] for order in cast.perform(list_purchase_orders, role, **given)["data"]]


@pytest.fixture
def each(cast: Cast) -> Cast:
    """One of each state: PO-0001 to PO-0006."""
    an_order(cast)
    ordered(cast)
    received(cast, ordered(cast), "1")
    received(cast, ordered(cast), "10", "2")
    cast.perform(close_purchase_order, purchaseOrderId=ordered(cast)["id"], reason="x", confirmed=True)
    cast.perform(cancel_purchase_order, purchaseOrderId=ordered(cast)["id"], confirmed=True)
    return cast


def test_the_newest_come_first_and_without_their_lines(each: Cast) -> None:
    page = each.perform(list_purchase_orders, Role.OFFICE)
    assert [order["number"] for order in page["data"]] == [f"PO-000{number}" for number in (6, 5, 4, 3, 2, 1)]
    whole = each.perform(get_purchase_order, Role.OFFICE, purchaseOrderId="PO-0003")
    row = page["data"][3]
    assert row == {name: whole[name] for name in row}
    assert not {"lines", "goods", "receipts"} & row.keys()


def test_by_each_state(each: Cast) -> None:
    found = {
        state: numbers(each, status=state)
        for state in ("draft", "sent", "partReceived", "received", "closed", "cancelled")
    }
    assert found == {state: [f"PO-000{place}"] for place, state in enumerate(found, start=1)}
    assert numbers(each, status="billed") == numbers(each, status="partBilled") == []


def test_by_supplier_by_job_and_in_the_order_in_which_they_are_needed(cast: Cast) -> None:
    supplier, job = a_supplier(cast), bought_for(cast)
    an_order(cast, supplierId=supplier, neededOn="2031-02-01")
    an_order(cast, jobId=job["id"], neededOn="2031-01-01")
    an_order(cast)
    assert numbers(cast, supplierId=supplier) == ["PO-0001"]
    assert numbers(cast, jobId=job["number"]) == ["PO-0002"]
    assert numbers(cast, order="needed") == ["PO-0002", "PO-0001"]


def test_an_order_is_found_by_its_number_its_supplier_and_its_job(cast: Cast) -> None:
    job = bought_for(cast, title="Rewire the barn")
    an_order(cast, jobId=job["id"], supplierId=a_supplier(cast, "Dales Timber"))
    an_order(cast)
    for text in ("po-0001", "PO-1", "timber", "barn"):
        assert numbers(cast, text=text) == ["PO-0001"]
        hits = cast.perform(search, Role.OFFICE, text=text)["hits"]
        assert ("purchaseOrder", "PO-0001 Dales Timber") in [(hit["object"], hit["title"]) for hit in hits]


def test_it_is_found_by_what_its_supplier_and_its_job_are_called_now(cast: Cast) -> None:
    job, supplier = bought_for(cast, title="Rewire the barn"), a_supplier(cast, "Dales Timber")
    an_order(cast, jobId=job["id"], supplierId=supplier)
    cast.perform(save_supplier, supplierId=supplier, name="Moor Timber")
    cast.perform(update_job, jobId=job["id"], title="Rewire the byre")
    work_off(cast)
    assert numbers(cast, text="moor byre") == ["PO-0001"]
    assert numbers(cast, text="dales") == numbers(cast, text="barn") == []


def test_a_member_sees_what_comes_for_their_own_jobs_without_prices(cast: Cast) -> None:
    job = bought_for(cast, Role.MEMBER)
    own = ordered(cast, jobId=job["id"], notes="Agreed at 5.")
    an_order(cast, jobId=job["id"])
    ordered(cast, jobId=bought_for(cast)["id"])
    ordered(cast)
    rows = cast.perform(list_purchase_orders, Role.MEMBER)["data"]
    assert [(row["number"], row["net"], row["tax"], row["total"]) for row in rows] == [
        (own["number"], None, None, None)
    ]
    assert numbers(cast, Role.MEMBER, text="pennine") == numbers(cast, Role.MEMBER, jobId=job["id"]) == ["PO-0001"]
    told = cast.perform(get_purchase_order, Role.MEMBER, purchaseOrderId=own["id"])
    assert (told["lines"], told["taxes"], told["notes"]) == (None, None, None)
    assert [one["open"] for one in told["goods"]] == ["10.00", "2.00"]
    for hidden in ("PO-0002", "PO-0003", "PO-0004"):
        with pytest.raises(NotFound):
            cast.perform(get_purchase_order, Role.MEMBER, purchaseOrderId=hidden)


def test_a_subcontractor_sees_none(cast: Cast) -> None:
    order = ordered(cast, jobId=bought_for(cast, Role.SUBCONTRACTOR)["id"])
    with pytest.raises(Forbidden):
        cast.perform(list_purchase_orders, Role.SUBCONTRACTOR)
    with pytest.raises(Forbidden):
        cast.perform(get_purchase_order, Role.SUBCONTRACTOR, purchaseOrderId=order["id"])


def test_another_organisation_s_are_not_there(cast: Cast, stranger: Cast) -> None:
    order = an_order(stranger)
    assert numbers(cast) == []
    with pytest.raises(NotFound):
        cast.perform(get_purchase_order, purchaseOrderId=order["id"])
