"""What was bought for a job is billed once, at the right price, and cannot change while it is on an invoice."""

from typing import Any

import pytest

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.jobs.operations import get_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing import reactions
from mainstay.business.purchasing.bills import update_bill, void_bill
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.vocabulary.refusal import Blocked, Invalid
from support.cast import Cast
from support.customers import list_task_kinds, make_customer, make_job, run_all_tasks
from support.invoices import make_invoice
from support.prices import make_price_item
from support.purchases import (
    PIPE,
    VALVE,
    bill_order,
    list_billable_materials,
    list_materials,
    make_bill,
    make_purchase_job,
    place_order,
    receive_order,
    reread_order,
    set_materials_billed,
)
from support.quotes import accept_quote, issue_quote, make_default_tax_rate, make_quote
from support.recorded_statements import count_reads
from support.webhooks import set_columns


def total_cost(cast: Cast) -> int:
    return sum(cost for *_, cost in list_materials(cast))


def list_open(cast: Cast, job: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(one.kind, one.description, one.quantity // 10_000) for one in list_billable_materials(cast, job)]


def test_what_came_and_what_was_billed_can_be_billed_on(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4", "", on="2026-02-01")
    make_bill(cast, jobId=job["id"], lines=[VALVE], total="40", on="2026-02-10")
    pipe, valve = list_billable_materials(cast, job)
    assert (pipe.kind, pipe.on, pipe.description, pipe.unit) == ("orderLine", "2026-02-01", "Copper pipe", "m")
    assert (pipe.quantity, pipe.cost, pipe.price, pipe.item_id) == (40_000, 240_000, 60_000, None)
    assert (valve.kind, valve.quantity, valve.cost, valve.price) == ("billLine", 20_000, 400_000, 200_000)
    assert [one.id for one in list_billable_materials(cast, job, "2026-02-09")] == [pipe.id]
    # It stays the same one while it grows.
    receive_order(cast, order, "1")
    assert next((one.id, one.quantity) for one in list_billable_materials(cast, job)) == (pipe.id, 50_000)


def test_what_is_on_no_invoice_is_priced_anew_when_prices_are_told_with_tax_or_before_it(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However many there are, some at a time.
    monkeypatch.setattr(reactions, "_BATCH_SIZE", 1)
    make_default_tax_rate(cast)
    job = make_purchase_job(cast)
    receive_order(cast, place_order(cast, jobId=job["id"], lines=[PIPE]), "10")
    make_bill(cast, jobId=job["id"], lines=[VALVE], total="48")
    before = [one.price for one in list_billable_materials(cast, job)]
    cast.perform(update_settings, pricesIncludeTax=True)
    run_all_tasks(cast)
    assert [one.price for one in list_billable_materials(cast, job)] == [price * 12 // 10 for price in before]
    cast.perform(update_settings, pricesIncludeTax=False)
    run_all_tasks(cast)
    assert [one.price for one in list_billable_materials(cast, job)] == before
    cast.perform(update_settings, pricesIncludeTax=False, materialsMarkupPercent=10)
    assert list_task_kinds(cast) == []


def test_the_price_is_that_of_the_price_list_or_the_cost_with_the_usual_markup(cast: Cast) -> None:
    cast.perform(update_settings, materialsMarkupPercent=25)
    job, item = make_purchase_job(cast), make_price_item(cast, sellPrice="890", costPrice="600")
    lines = [{"itemId": item}, PIPE | {"discountPercent": "10"}]
    receive_order(cast, place_order(cast, jobId=job["id"], lines=lines), "1", "10")
    assert [one.price for one in list_billable_materials(cast, job)] == [8_900_000, 67_500]


def test_what_would_be_billed_at_more_than_can_be_kept_is_refused(cast: Cast) -> None:
    cast.perform(update_organisation, currency="JPY")
    lines = [{"itemId": make_price_item(cast, sellPrice="900000000000", costPrice="1"), "quantity": "1100"}]
    order = place_order(cast, jobId=make_purchase_job(cast)["id"], lines=lines)
    with pytest.raises(Invalid, match=r"^lines: add up to more than can be billed$"):
        receive_order(cast, order, "1100")


def test_the_prices_of_many_items_are_read_at_once(cast: Cast) -> None:
    job = make_purchase_job(cast)

    def read(number: int) -> int:
        items = [make_price_item(cast, sellPrice=str(price), costPrice="1") for price in range(1, number + 1)]
        order = place_order(cast, jobId=job["id"], lines=[{"itemId": item} for item in items])
        return count_reads(cast, "price_item", lambda watched: receive_order(watched, order, *["1"] * number))

    assert read(1) == read(5) == 1
    assert [one.price // 10_000 for one in list_billable_materials(cast, job)] == [1, 1, 2, 3, 4, 5]


def test_where_prices_are_told_with_tax_so_is_this_one(cast: Cast) -> None:
    make_default_tax_rate(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    job = make_purchase_job(cast)
    receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    assert [one.price for one in list_billable_materials(cast, job)] == [72_000]


@pytest.mark.parametrize("billing", ["fixed", "nonBillable"])
def test_what_is_agreed_or_not_billed_costs_and_is_not_billed_on(cast: Cast, billing: str) -> None:
    job = make_purchase_job(cast, billing=billing)
    receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    assert (total_cost(cast), list_billable_materials(cast, job)) == (60, [])


@pytest.mark.parametrize("billing", ["fixed", "nonBillable"])
def test_a_job_that_is_billed_in_another_way_bills_on_what_was_bought_or_does_not(cast: Cast, billing: str) -> None:
    job = make_purchase_job(cast, billing=billing)
    lines = [PIPE, {"description": "Bonus", "unitPrice": "-5"}]
    make_bill(cast, jobId=job["id"], lines=lines, total="55")
    cast.perform(update_job, jobId=job["id"], billing="timeAndMaterials")
    assert list_open(cast, job) == [("billLine", "Copper pipe", 10)]
    assert [one["id"] for one in cast.perform(list_unbilled)["data"]] == [job["id"]]
    cast.perform(update_job, jobId=job["id"], billing=billing)
    assert (list_open(cast, job), cast.perform(list_unbilled)["data"]) == ([], [])


def test_what_is_bought_before_a_price_is_agreed_is_in_it(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="ann@calder.example"))
    receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    assert list_open(cast, job) == [("orderLine", "Copper pipe", 10)]
    accept_quote(cast, issue_quote(cast, make_quote(cast, jobId=job["id"])))
    assert (total_cost(cast), list_billable_materials(cast, job)) == (60, [])


def test_what_is_on_an_invoice_stays_there_and_follows_the_job_once_it_is_taken_off(cast: Cast) -> None:
    job = make_purchase_job(cast)
    receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    (pipe,) = list_billable_materials(cast, job)
    set_materials_billed(cast, pipe.id)
    cast.perform(update_job, jobId=job["id"], billing="fixed")
    assert cast.perform(get_job_costing, jobId=job["id"])["materials"]["value"] == "24.00"
    set_materials_billed(cast, pipe.id, billed=False)
    assert list_billable_materials(cast, job) == []


def test_what_a_supplier_takes_off_is_not_billed_on(cast: Cast) -> None:
    job = make_purchase_job(cast)
    make_bill(cast, jobId=job["id"], lines=[PIPE, {"description": "Bonus", "unitPrice": "-5"}], total="55")
    assert (total_cost(cast), list_open(cast, job)) == (55, [("billLine", "Copper pipe", 10)])


def test_a_job_that_was_invoiced_is_not_any_more_when_more_is_bought_for_it(cast: Cast) -> None:
    job = make_purchase_job(cast, status="open")
    set_columns(cast, "job", job["id"], invoiced=1, status="done", stage="paid")
    receive_order(cast, place_order(cast, jobId=job["id"]), "1")
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "toInvoice"


def test_what_is_on_an_invoice_is_offered_no_more_and_the_rest_is(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    (pipe,) = list_billable_materials(cast, job)
    set_materials_billed(cast, pipe.id)
    assert list_billable_materials(cast, job) == []
    receive_order(cast, order, "6")
    assert list_open(cast, job) == [("orderLine", "Copper pipe", 6)]
    assert total_cost(cast) == 60


def test_goods_on_an_invoice_are_not_taken_back(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    set_materials_billed(cast, *(one.id for one in list_billable_materials(cast, job)))
    order = receive_order(cast, order, "2")
    with pytest.raises(Blocked, match=r"^4 m of Copper pipe is on an invoice\. Void or credit that invoice first\.$"):
        receive_order(cast, order, "-3")
    assert receive_order(cast, order, "-2")["goods"][0]["received"] == "4.00"
    assert total_cost(cast) == 24


def test_goods_on_an_invoice_are_not_taken_back_where_some_of_them_are_billed(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    bill_order(cast, order, "2", total="12")
    set_materials_billed(cast, *(one.id for one in list_billable_materials(cast, job)))
    for back in ("-2", "-1"):
        with pytest.raises(Blocked, match=r"^4 m of Copper pipe is on an invoice\."):
            receive_order(cast, order, back)
    # Nor are they once the supplier has billed all of them: what goes back is not billed on.
    bill_order(cast, order, "2", total="12", supplierNumber="2")
    with pytest.raises(Blocked, match=r"^4 m of Copper pipe is on an invoice\."):
        receive_order(cast, order, "-2")
    with pytest.raises(Blocked, match=r"^4 m of Copper pipe is on an invoice\."):
        bill_order(cast, order, "-2", total="-12", supplierNumber="CN 1")


def test_what_is_billed_and_invoiced_before_it_comes_is_received_and_corrected(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = place_order(cast, jobId=job["id"])
    bill_order(cast, order, "10", total="60")
    set_materials_billed(cast, *(one.id for one in list_billable_materials(cast, job)))
    order = receive_order(cast, order, "4", "2")
    assert receive_order(cast, order, "-1")["goods"][0]["received"] == "3.00"


def test_a_bill_for_what_is_on_an_invoice_adds_only_what_it_costs_more(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    set_materials_billed(cast, *(one.id for one in list_billable_materials(cast, job)))
    dearer = {"orderLineId": order["lines"][0]["id"], "quantity": "10", "unitPrice": "7"}
    bill = make_bill(cast, purchaseOrderId=order["id"], lines=[dearer], total="70")
    assert (total_cost(cast), list_open(cast, job)) == (70, [("billLine", "Copper pipe", 6)])
    set_materials_billed(cast, *(one.id for one in list_billable_materials(cast, job)))
    # And once more, beyond what was ordered: nothing of that was on an invoice.
    more = dearer | {"quantity": "2"}
    given = {"lines": [more], "total": "14", "supplierNumber": "2", "allowOverbilling": True}
    make_bill(cast, purchaseOrderId=order["id"], **given)
    assert (total_cost(cast), list_open(cast, job)) == (84, [("billLine", "Copper pipe", 2)])
    with pytest.raises(Blocked, match=r"^Copper pipe from Pennine Supplies 4711 is on an invoice\. Void or credit"):
        cast.perform(void_bill, billId=bill["id"], confirmed=True)


def test_what_is_taken_off_an_invoice_follows_its_order_and_its_bill_again(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    (first,) = list_billable_materials(cast, job)
    set_materials_billed(cast, first.id)
    receive_order(cast, order, "2")
    set_materials_billed(cast, first.id, billed=False)
    assert (total_cost(cast), list_open(cast, job)) == (36, [("orderLine", "Copper pipe", 6)])
    (whole,) = list_billable_materials(cast, job)
    set_materials_billed(cast, whole.id)
    bill_order(cast, order, "6", total="36")
    assert list_billable_materials(cast, job) == []
    set_materials_billed(cast, whole.id, billed=False)
    assert (total_cost(cast), list_open(cast, job)) == (36, [("billLine", "Copper pipe", 6)])


def test_of_a_bill_what_is_taken_off_an_invoice_can_be_billed_on_again(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    (first,) = list_billable_materials(cast, job)
    set_materials_billed(cast, first.id)
    receive_order(cast, order, "6")
    dearer = {"orderLineId": order["lines"][0]["id"], "quantity": "10", "unitPrice": "7"}
    make_bill(cast, purchaseOrderId=order["id"], lines=[dearer], total="70")
    (second,) = list_billable_materials(cast, job)
    set_materials_billed(cast, second.id)
    set_materials_billed(cast, first.id, billed=False)
    assert (total_cost(cast), list_open(cast, job)) == (70, [("billLine", "Copper pipe", 4)])
    # It can be on invoices in as many parts as it likes, and comes back in any order.
    (third,) = list_billable_materials(cast, job)
    set_materials_billed(cast, third.id)
    assert (total_cost(cast), list_open(cast, job)) == (70, [])
    set_materials_billed(cast, second.id, billed=False)
    assert (total_cost(cast), list_open(cast, job)) == (70, [("billLine", "Copper pipe", 6)])
    set_materials_billed(cast, third.id, billed=False)
    assert (total_cost(cast), list_open(cast, job)) == (70, [("billLine", "Copper pipe", 10)])


def test_a_bill_of_which_something_is_on_an_invoice_says_what_it_says(cast: Cast) -> None:
    job = make_purchase_job(cast)
    bill = make_bill(cast, jobId=job["id"])
    (pipe,) = list_billable_materials(cast, job)
    set_materials_billed(cast, pipe.id)
    edit = [{"edit": "set", "lineId": bill["lines"][0]["id"], "unitPrice": "7"}]
    for change in ({"edits": edit, "total": "70"}, {"jobId": None}, {"on": "2026-02-03"}):
        with pytest.raises(Blocked, match="is on an invoice"):
            cast.perform(update_bill, billId=bill["id"], **change)
    assert cast.perform(update_bill, billId=bill["id"], dueOn="2026-03-01", status="approved")["status"] == "approved"
    set_materials_billed(cast, pipe.id, billed=False)
    assert cast.perform(void_bill, billId=bill["id"], confirmed=True)["status"] == "void"
    assert list_materials(cast) == []


def test_what_is_not_billed_on_when_it_comes_is_when_the_job_is_and_more_comes(cast: Cast) -> None:
    job = make_purchase_job(cast, billing="nonBillable")
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "4")
    cast.perform(update_job, jobId=job["id"], billing="timeAndMaterials")
    receive_order(cast, order, "1")
    assert list_open(cast, job) == [("orderLine", "Copper pipe", 5)]


def make_returned_purchase(cast: Cast, how: str) -> dict[str, Any]:
    """Create a job with ten pipes received and billed; four were returned, by receipt, credit note or both."""
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    bill_order(cast, order, "10", total="60")
    if how in {"receipt", "both"}:
        receive_order(cast, order, "-4")
    if how in {"credit note", "both"}:
        bill_order(cast, order, "-4", total="-24", supplierNumber="CN 1")
    return job


@pytest.mark.parametrize(("how", "costs"), [("receipt", 60), ("credit note", 36), ("both", 36)])
def test_goods_that_went_back_are_not_billed_on(cast: Cast, how: str, costs: int) -> None:
    job = make_returned_purchase(cast, how)
    assert list_open(cast, job) == [("billLine", "Copper pipe", 6)]
    # They cost what they were billed at until they are credited.
    assert total_cost(cast) == costs
    costing = cast.perform(get_job_costing, jobId=job["id"])
    assert (costing["materials"]["cost"], costing["value"], costing["unbilled"]) == (f"{costs}.00", "36.00", "36.00")
    (unbilled,) = cast.perform(list_unbilled)["data"]
    assert unbilled["materialsAmount"] == "36.00"
    (line,) = make_invoice(cast, jobId=job["id"], unbilled=True)["lines"]
    assert (line["quantity"], line["amount"]) == ("6.00", "36.00")


def test_goods_that_come_again_are_billed_on_again(cast: Cast) -> None:
    job = make_returned_purchase(cast, "both")
    order = next(iter(cast.perform(list_purchase_orders, jobId=job["id"])["data"]))
    order = receive_order(cast, reread_order(cast, order), "4")
    assert sorted(list_open(cast, job)) == [("billLine", "Copper pipe", 6), ("orderLine", "Copper pipe", 4)]
    bill_order(cast, order, "4", total="24", supplierNumber="2")
    assert (sum(many for *_, many in list_open(cast, job)), total_cost(cast)) == (10, 60)


def test_goods_that_went_back_before_they_were_billed_are_not_billed_on(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, receive_order(cast, place_order(cast, jobId=job["id"]), "10"), "-4")
    assert (list_open(cast, job), total_cost(cast)) == ([("orderLine", "Copper pipe", 6)], 36)
    # The supplier bills all that came, though some of it went back.
    bill_order(cast, order, "10", total="60")
    assert (list_open(cast, job), total_cost(cast)) == ([("billLine", "Copper pipe", 6)], 60)


def test_a_receipt_that_was_mistyped_and_corrected_takes_nothing_away(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    order = receive_order(cast, receive_order(cast, order, "-9"), "9")
    assert list_open(cast, job) == [("orderLine", "Copper pipe", 10)]
    bill_order(cast, order, "10", total="60")
    assert (list_open(cast, job), total_cost(cast)) == ([("billLine", "Copper pipe", 10)], 60)


def test_a_credit_of_goods_that_are_partly_billed_leaves_the_rest(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = receive_order(cast, place_order(cast, jobId=job["id"]), "10")
    bill_order(cast, order, "6", total="36")
    bill_order(cast, order, "-2", total="-12", supplierNumber="CN 1")
    assert sorted(list_open(cast, job)) == [("billLine", "Copper pipe", 4), ("orderLine", "Copper pipe", 4)]
    assert total_cost(cast) == 48


def test_a_credit_note_that_is_void_credits_nothing(cast: Cast) -> None:
    job = make_purchase_job(cast)
    order = place_order(cast, jobId=job["id"])
    bill_order(cast, order, "10", total="60")
    credit = bill_order(cast, order, "-4", total="-24", supplierNumber="CN 1")
    cast.perform(void_bill, billId=credit["id"], confirmed=True)
    assert (list_open(cast, job), total_cost(cast)) == ([("billLine", "Copper pipe", 10)], 60)
