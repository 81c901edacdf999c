import pytest

from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.purchasing.bills import get_bill, list_bills, update_bill, void_bill
from mainstay.business.records.search import search
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.customers import run_all_tasks
from support.prices import make_supplier
from support.purchases import bill_order, make_bill, make_purchase_job, place_order


def list_numbers(cast: Cast, **given: object) -> list[str]:
    return [bill["supplierNumber"] for bill in cast.perform(list_bills, Role.OFFICE, **given)["data"]]


def test_the_newest_come_first_and_without_their_lines(cast: Cast) -> None:
    bill = make_bill(cast, supplierNumber="1")
    make_bill(cast, supplierNumber="2")
    page = cast.perform(list_bills, Role.OFFICE)
    assert [one["supplierNumber"] for one in page["data"]] == ["2", "1"]
    whole, row = cast.perform(get_bill, Role.OFFICE, billId=bill["id"]), page["data"][1]
    assert row == {name: whole[name] for name in row}
    assert not {"lines", "taxes", "notes"} & row.keys()


def test_by_each_state(cast: Cast) -> None:
    for number, state in enumerate(("draft", "approved", "paid", "void"), start=1):
        bill = make_bill(cast, supplierNumber=str(number))
        if state in {"approved", "paid"}:
            cast.perform(update_bill, billId=bill["id"], status=state)
        if state == "void":
            cast.perform(void_bill, billId=bill["id"], confirmed=True)
    assert [list_numbers(cast, status=state) for state in ("draft", "approved", "paid", "void")] == [
        ["1"],
        ["2"],
        ["3"],
        ["4"],
    ]


def test_by_what_it_is_for_and_when(cast: Cast) -> None:
    order, job = place_order(cast), make_purchase_job(cast)
    bill_order(cast, order, "10", supplierNumber="1", on="2026-02-01", dueOn="2026-05-01")
    make_bill(cast, supplierNumber="2", jobId=job["id"], on="2026-02-10", dueOn="2026-04-01")
    make_bill(cast, supplierNumber="3", on="2026-02-05")
    assert list_numbers(cast, supplierId=order["supplierId"]) == ["1"]
    assert list_numbers(cast, purchaseOrderId=order["number"]) == ["1"]
    assert list_numbers(cast, jobId=job["number"]) == ["2"]
    assert list_numbers(cast, **{"from": "2026-02-05"}) == ["2", "3"]
    assert list_numbers(cast, until="2026-02-05") == ["3", "1"]
    assert list_numbers(cast, order="dated") == ["2", "3", "1"]
    assert list_numbers(cast, order="due") == ["2", "1"]
    assert list_numbers(cast, dueBefore="2026-05-01") == ["2"]
    assert list_numbers(cast, dueBefore="2026-05-02") == ["2", "1"]
    assert list_numbers(cast, dueBefore="2026-05-02", status="paid") == []


def test_it_is_found_by_its_number_its_supplier_and_its_amount(cast: Cast) -> None:
    supplier = make_supplier(cast, "Dales Timber")
    make_bill(
        cast,
        supplierId=supplier,
        supplierNumber="RE-0042",
        lines=[{"description": "x", "unitPrice": "1234.56"}],
        total="1234.56",
    )
    make_bill(cast)
    for text in ("re-0042", "42", "timber", "1234.56", "1234"):
        assert list_numbers(cast, text=text) == ["RE-0042"]
        hits = cast.perform(search, Role.OFFICE, text=text)["hits"]
        assert ("bill", "Dales Timber RE-0042") in [(hit["object"], hit["title"]) for hit in hits]
    cast.perform(save_supplier, supplierId=supplier, name="Moor Timber")
    run_all_tasks(cast)
    assert list_numbers(cast, text="moor") == ["RE-0042"]
    assert list_numbers(cast, text="dales") == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_none(cast: Cast, role: Role) -> None:
    bill = make_bill(cast, jobId=make_purchase_job(cast, role)["id"])
    with pytest.raises(Forbidden):
        cast.perform(list_bills, role)
    with pytest.raises(Forbidden):
        cast.perform(get_bill, role, billId=bill["id"])
    assert cast.perform(search, role, text="4711")["hits"] == []


def test_another_organisation_s_are_not_there(cast: Cast, other_cast: Cast) -> None:
    bill = make_bill(other_cast)
    assert list_numbers(cast) == []
    with pytest.raises(NotFound):
        cast.perform(get_bill, billId=bill["id"])
