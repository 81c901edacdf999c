import pytest

from mainstay.business.jobs.operations import update_job
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.closing import cancel_purchase_order, close_purchase_order
from mainstay.business.purchasing.operations import get_purchase_order, list_purchase_orders
from mainstay.business.records.search import search
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.customers import run_all_tasks
from support.prices import make_supplier
from support.purchases import make_order, make_purchase_job, place_order, receive_order


def list_numbers(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [order["number"] for order in cast.perform(list_purchase_orders, role, **given)["data"]]


@pytest.fixture
def all_states(cast: Cast) -> Cast:
    """One order of each state: PO-0001 to PO-0006."""
    make_order(cast)
    place_order(cast)
    receive_order(cast, place_order(cast), "1")
    receive_order(cast, place_order(cast), "10", "2")
    cast.perform(close_purchase_order, purchaseOrderId=place_order(cast)["id"], reason="x", confirmed=True)
    cast.perform(cancel_purchase_order, purchaseOrderId=place_order(cast)["id"], confirmed=True)
    return cast


def test_the_newest_come_first_and_without_their_lines(all_states: Cast) -> None:
    page = all_states.perform(list_purchase_orders, Role.OFFICE)
    assert [order["number"] for order in page["data"]] == [f"PO-000{number}" for number in (6, 5, 4, 3, 2, 1)]
    whole = all_states.perform(get_purchase_order, Role.OFFICE, purchaseOrderId="PO-0003")
    row = page["data"][3]
    assert row == {name: whole[name] for name in row}
    assert not {"lines", "goods", "receipts"} & row.keys()


def test_by_each_state(all_states: Cast) -> None:
    found = {
        state: list_numbers(all_states, status=state)
        for state in ("draft", "sent", "partReceived", "received", "closed", "cancelled")
    }
    assert found == {state: [f"PO-000{place}"] for place, state in enumerate(found, start=1)}
    assert list_numbers(all_states, status="billed") == list_numbers(all_states, status="partBilled") == []


def test_by_supplier_by_job_and_in_the_order_in_which_they_are_needed(cast: Cast) -> None:
    supplier, job = make_supplier(cast), make_purchase_job(cast)
    make_order(cast, supplierId=supplier, neededOn="2031-02-01")
    make_order(cast, jobId=job["id"], neededOn="2031-01-01")
    make_order(cast)
    assert list_numbers(cast, supplierId=supplier) == ["PO-0001"]
    assert list_numbers(cast, jobId=job["number"]) == ["PO-0002"]
    assert list_numbers(cast, order="needed") == ["PO-0002", "PO-0001"]


def test_an_order_is_found_by_its_number_its_supplier_and_its_job(cast: Cast) -> None:
    job = make_purchase_job(cast, title="Rewire the barn")
    make_order(cast, jobId=job["id"], supplierId=make_supplier(cast, "Dales Timber"))
    make_order(cast)
    for text in ("po-0001", "PO-1", "timber", "barn"):
        assert list_numbers(cast, text=text) == ["PO-0001"]
        hits = cast.perform(search, Role.OFFICE, text=text)["hits"]
        assert ("purchaseOrder", "PO-0001 Dales Timber") in [(hit["object"], hit["title"]) for hit in hits]


def test_it_is_found_by_what_its_supplier_and_its_job_are_called_now(cast: Cast) -> None:
    job, supplier = make_purchase_job(cast, title="Rewire the barn"), make_supplier(cast, "Dales Timber")
    make_order(cast, jobId=job["id"], supplierId=supplier)
    cast.perform(save_supplier, supplierId=supplier, name="Moor Timber")
    cast.perform(update_job, jobId=job["id"], title="Rewire the byre")
    run_all_tasks(cast)
    assert list_numbers(cast, text="moor byre") == ["PO-0001"]
    assert list_numbers(cast, text="dales") == list_numbers(cast, text="barn") == []


def test_a_member_sees_what_comes_for_their_own_jobs_without_prices(cast: Cast) -> None:
    job = make_purchase_job(cast, Role.MEMBER)
    own = place_order(cast, jobId=job["id"], notes="Agreed at 5.")
    make_order(cast, jobId=job["id"])
    place_order(cast, jobId=make_purchase_job(cast)["id"])
    place_order(cast)
    rows = cast.perform(list_purchase_orders, Role.MEMBER)["data"]
    assert [(row["number"], row["net"], row["tax"], row["total"]) for row in rows] == [
        (own["number"], None, None, None)
    ]
    assert (
        list_numbers(cast, Role.MEMBER, text="pennine")
        == list_numbers(cast, Role.MEMBER, jobId=job["id"])
        == ["PO-0001"]
    )
    result = cast.perform(get_purchase_order, Role.MEMBER, purchaseOrderId=own["id"])
    assert (result["lines"], result["taxes"], result["notes"]) == (None, None, None)
    assert [one["open"] for one in result["goods"]] == ["10.00", "2.00"]
    for hidden in ("PO-0002", "PO-0003", "PO-0004"):
        with pytest.raises(NotFound):
            cast.perform(get_purchase_order, Role.MEMBER, purchaseOrderId=hidden)


def test_a_subcontractor_sees_none(cast: Cast) -> None:
    order = place_order(cast, jobId=make_purchase_job(cast, Role.SUBCONTRACTOR)["id"])
    with pytest.raises(Forbidden):
        cast.perform(list_purchase_orders, Role.SUBCONTRACTOR)
    with pytest.raises(Forbidden):
        cast.perform(get_purchase_order, Role.SUBCONTRACTOR, purchaseOrderId=order["id"])


def test_another_organisation_s_are_not_there(cast: Cast, other_cast: Cast) -> None:
    order = make_order(other_cast)
    assert list_numbers(cast) == []
    with pytest.raises(NotFound):
        cast.perform(get_purchase_order, purchaseOrderId=order["id"])
