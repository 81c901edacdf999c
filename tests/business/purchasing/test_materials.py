"""What was bought for a job is billed once, at the right price, and stays as it is while it is on an invoice."""

from typing import Any
from typing import cast as known_as

import pytest

from billing import an_invoice
from cast import Cast
from mainstay.backing.database import WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.jobs.operations import get_job, update_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.purchasing import repricing
from mainstay.business.purchasing.bills import update_bill, void_bill
from mainstay.business.purchasing.operations import list_purchase_orders
from mainstay.terms.refusal import Blocked, Invalid
from ordering import (
    PIPE,
    VALVE,
    a_bill,
    as_it_is,
    billed,
    bought_for,
    materials,
    ordered,
    put_on_invoice,
    received,
    to_bill,
)
from quoting import a_draft, accepted, sent, usual_tax
from recording import readings
from telling import set_columns
from trade import a_customer, a_job, left_to_do, work_off
from wares import an_item


def cost(cast: Cast) -> int:
    return sum(cost for *_, cost in materials(cast))


def open_(cast: Cast, job: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(one.kind, one.description, one.quantity // 10_000) for one in to_bill(cast, job)]


def test_what_came_and_what_was_billed_can_be_billed_on(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4", "", on="2026-02-01")
    a_bill(cast, jobId=job["id"], lines=[VALVE], total="40", on="2026-02-10")
    pipe, valve = to_bill(cast, job)
    assert (pipe.kind, pipe.on, pipe.description, pipe.unit) == ("orderLine", "2026-02-01", "Copper pipe", "m")
    assert (pipe.quantity, pipe.cost, pipe.price, pipe.item_id) == (40_000, 240_000, 60_000, None)
    assert (valve.kind, valve.quantity, valve.cost, valve.price) == ("billLine", 20_000, 400_000, 200_000)
    assert [one.id for one in to_bill(cast, job, "2026-02-09")] == [pipe.id]
    # It stays the same one while it grows.
    received(cast, order, "1")
    assert next((one.id, one.quantity) for one in to_bill(cast, job)) == (pipe.id, 50_000)


def test_what_is_on_no_invoice_is_priced_anew_when_prices_are_told_with_tax_or_before_it(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However many there are, some at a time.
    monkeypatch.setattr(repricing, "_AT_ONCE", 1)
    usual_tax(cast)
    job = bought_for(cast)
    received(cast, ordered(cast, jobId=job["id"], lines=[PIPE]), "10")
    a_bill(cast, jobId=job["id"], lines=[VALVE], total="48")
    before = [one.price for one in to_bill(cast, job)]
    cast.perform(update_settings, pricesIncludeTax=True)
    work_off(cast)
    assert [one.price for one in to_bill(cast, job)] == [price * 12 // 10 for price in before]
    cast.perform(update_settings, pricesIncludeTax=False)
    work_off(cast)
    assert [one.price for one in to_bill(cast, job)] == before
    cast.perform(update_settings, pricesIncludeTax=False, materialsMarkupPercent=10)
    assert left_to_do(cast) == []


def test_the_price_is_that_of_the_price_list_or_the_cost_with_the_usual_markup(cast: Cast) -> None:
    cast.perform(update_settings, materialsMarkupPercent=25)
    job, item = bought_for(cast), an_item(cast, sellPrice="890", costPrice="600")
    lines = [{"itemId": item}, PIPE | {"discountPercent": "10"}]
    received(cast, ordered(cast, jobId=job["id"], lines=lines), "1", "10")
    assert [one.price for one in to_bill(cast, job)] == [8_900_000, 67_500]


def test_what_would_be_billed_at_more_than_can_be_kept_is_refused(cast: Cast) -> None:
    cast.perform(update_organisation, currency="JPY")
    lines = [{"itemId": an_item(cast, sellPrice="900000000000", costPrice="1"), "quantity": "1100"}]
    order = ordered(cast, jobId=bought_for(cast)["id"], lines=lines)
    with pytest.raises(Invalid, match=r"^lines: come to more than can be billed$"):
        received(cast, order, "1100")


def test_the_prices_of_many_items_are_read_at_once(cast: Cast) -> None:
    job = bought_for(cast)

    def read(number: int) -> int:
        items = [an_item(cast, sellPrice=str(price), costPrice="1") for price in range(1, number + 1)]
        order = ordered(cast, jobId=job["id"], lines=[{"itemId": item} for item in items])
        return readings(cast, "price_item", lambda watched: received(watched, order, *["1"] * number))

    assert read(1) == read(5) == 1
    assert [one.price // 10_000 for one in to_bill(cast, job)] == [1, 1, 2, 3, 4, 5]


def test_where_prices_are_told_with_tax_so_is_this_one(cast: Cast) -> None:
    usual_tax(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    job = bought_for(cast)
    received(cast, ordered(cast, jobId=job["id"]), "10")
    assert [one.price for one in to_bill(cast, job)] == [72_000]


@pytest.mark.parametrize("billing", ["fixed", "nonBillable"])
def test_what_is_agreed_or_not_billed_costs_and_is_not_billed_on(cast: Cast, billing: str) -> None:
    job = bought_for(cast, billing=billing)
    received(cast, ordered(cast, jobId=job["id"]), "10")
    assert (cost(cast), to_bill(cast, job)) == (60, [])


@pytest.mark.parametrize("billing", ["fixed", "nonBillable"])
def test_a_job_that_is_billed_in_another_way_bills_on_what_was_bought_or_does_not(cast: Cast, billing: str) -> None:
    job = bought_for(cast, billing=billing)
    lines = [PIPE, {"description": "Bonus", "unitPrice": "-5"}]
    a_bill(cast, jobId=job["id"], lines=lines, total="55")
    cast.perform(update_job, jobId=job["id"], billing="timeAndMaterials")
    assert open_(cast, job) == [("billLine", "Copper pipe", 10)]
    assert [one["id"] for one in cast.perform(list_unbilled)["data"]] == [job["id"]]
    cast.perform(update_job, jobId=job["id"], billing=billing)
    assert (open_(cast, job), cast.perform(list_unbilled)["data"]) == ([], [])


def test_what_is_bought_before_a_price_is_agreed_is_in_it(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast, email="ann@calder.example"))
    received(cast, ordered(cast, jobId=job["id"]), "10")
    assert open_(cast, job) == [("orderLine", "Copper pipe", 10)]
    accepted(cast, sent(cast, a_draft(cast, jobId=job["id"])))
    assert (cost(cast), to_bill(cast, job)) == (60, [])


def test_what_is_on_an_invoice_stays_there_and_follows_the_job_once_it_is_taken_off(cast: Cast) -> None:
    job = bought_for(cast)
    received(cast, ordered(cast, jobId=job["id"]), "4")
    (pipe,) = to_bill(cast, job)
    put_on_invoice(cast, pipe.id)
    cast.perform(update_job, jobId=job["id"], billing="fixed")
    assert cast.perform(get_job_costing, jobId=job["id"])["materials"]["value"] == "24.00"
    put_on_invoice(cast, pipe.id, billed=False)
    assert to_bill(cast, job) == []


def test_what_a_supplier_takes_off_is_not_billed_on(cast: Cast) -> None:
    job = bought_for(cast)
    a_bill(cast, jobId=job["id"], lines=[PIPE, {"description": "Bonus", "unitPrice": "-5"}], total="55")
    assert (cost(cast), open_(cast, job)) == (55, [("billLine", "Copper pipe", 10)])


def test_a_job_that_was_invoiced_is_not_any_more_when_more_is_bought_for_it(cast: Cast) -> None:
    job = bought_for(cast, status="open")
    set_columns(cast, "job", job["id"], invoiced=1, status="done", stage="paid")
    received(cast, ordered(cast, jobId=job["id"]), "1")
    assert cast.perform(get_job, jobId=job["id"])["stage"] == "toInvoice"


def test_what_is_on_an_invoice_is_offered_no_more_and_the_rest_is(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    (pipe,) = to_bill(cast, job)
    put_on_invoice(cast, pipe.id)
    assert to_bill(cast, job) == []
    received(cast, order, "6")
    assert open_(cast, job) == [("orderLine", "Copper pipe", 6)]
    assert cost(cast) == 60


def test_goods_on_an_invoice_are_not_taken_back(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    put_on_invoice(cast, *(one.id for one in to_bill(cast, job)))
    order = received(cast, order, "2")
    with pytest.raises(Blocked, match=r"^4 m of Copper pipe are on an invoice\. Void or credit that invoice first\.$"):
        received(cast, order, "-3")
    assert received(cast, order, "-2")["goods"][0]["received"] == "4.00"
    assert cost(cast) == 24


def test_goods_on_an_invoice_are_not_taken_back_where_some_of_them_are_billed(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    billed(cast, order, "2", total="12")
    put_on_invoice(cast, *(one.id for one in to_bill(cast, job)))
    for back in ("-2", "-1"):
        with pytest.raises(Blocked, match=r"^4 m of Copper pipe are on an invoice\."):
            received(cast, order, back)
    # Nor are they once the supplier has billed all of them: what goes back is not billed on.
    billed(cast, order, "2", total="12", supplierNumber="2")
    with pytest.raises(Blocked, match=r"^4 m of Copper pipe are on an invoice\."):
        received(cast, order, "-2")
    with pytest.raises(Blocked, match=r"^4 m of Copper pipe are on an invoice\."):
        billed(cast, order, "-2", total="-12", supplierNumber="CN 1")


def test_what_is_billed_and_invoiced_before_it_comes_is_received_and_corrected(cast: Cast) -> None:
    job = bought_for(cast)
    order = ordered(cast, jobId=job["id"])
    billed(cast, order, "10", total="60")
    put_on_invoice(cast, *(one.id for one in to_bill(cast, job)))
    order = received(cast, order, "4", "2")
    assert received(cast, order, "-1")["goods"][0]["received"] == "3.00"


def test_a_bill_for_what_is_on_an_invoice_adds_only_what_it_costs_more(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    put_on_invoice(cast, *(one.id for one in to_bill(cast, job)))
    dearer = {"orderLineId": order["lines"][0]["id"], "quantity": "10", "unitPrice": "7"}
    bill = a_bill(cast, purchaseOrderId=order["id"], lines=[dearer], total="70")
    assert (cost(cast), open_(cast, job)) == (70, [("billLine", "Copper pipe", 6)])
    put_on_invoice(cast, *(one.id for one in to_bill(cast, job)))
    # And once more, beyond what was ordered: nothing of that was on an invoice.
    more = dearer | {"quantity": "2"}
    given = {"lines": [more], "total": "14", "supplierNumber": "2", "allowOverbilling": True}
    a_bill(cast, purchaseOrderId=order["id"], **given)
    assert (cost(cast), open_(cast, job)) == (84, [("billLine", "Copper pipe", 2)])
    with pytest.raises(Blocked, match=r"^Copper pipe of Pennine Supplies 4711 is on an invoice\. Void or credit"):
        cast.perform(void_bill, billId=bill["id"], confirmed=True)


def test_what_is_taken_off_an_invoice_follows_its_order_and_its_bill_again(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    (first,) = to_bill(cast, job)
    put_on_invoice(cast, first.id)
    received(cast, order, "2")
    put_on_invoice(cast, first.id, billed=False)
    assert (cost(cast), open_(cast, job)) == (36, [("orderLine", "Copper pipe", 6)])
    (whole,) = to_bill(cast, job)
    put_on_invoice(cast, whole.id)
    billed(cast, order, "6", total="36")
    assert to_bill(cast, job) == []
    put_on_invoice(cast, whole.id, billed=False)
    assert (cost(cast), open_(cast, job)) == (36, [("billLine", "Copper pipe", 6)])


def test_of_a_bill_what_is_taken_off_an_invoice_can_be_billed_on_again(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    (first,) = to_bill(cast, job)
    put_on_invoice(cast, first.id)
    received(cast, order, "6")
    dearer = {"orderLineId": order["lines"][0]["id"], "quantity": "10", "unitPrice": "7"}
    a_bill(cast, purchaseOrderId=order["id"], lines=[dearer], total="70")
    (second,) = to_bill(cast, job)
    put_on_invoice(cast, second.id)
    put_on_invoice(cast, first.id, billed=False)
    assert (cost(cast), open_(cast, job)) == (70, [("billLine", "Copper pipe", 4)])
    # It can be on invoices in as many parts as it likes, and comes back in any order.
    (third,) = to_bill(cast, job)
    put_on_invoice(cast, third.id)
    assert (cost(cast), open_(cast, job)) == (70, [])
    put_on_invoice(cast, second.id, billed=False)
    assert (cost(cast), open_(cast, job)) == (70, [("billLine", "Copper pipe", 6)])
    put_on_invoice(cast, third.id, billed=False)
    assert (cost(cast), open_(cast, job)) == (70, [("billLine", "Copper pipe", 10)])


def test_a_bill_of_which_something_is_on_an_invoice_says_what_it_says(cast: Cast) -> None:
    job = bought_for(cast)
    bill = a_bill(cast, jobId=job["id"])
    (pipe,) = to_bill(cast, job)
    put_on_invoice(cast, pipe.id)
    edit = [{"edit": "set", "lineId": bill["lines"][0]["id"], "unitPrice": "7"}]
    for change in ({"edits": edit, "total": "70"}, {"jobId": None}, {"on": "2026-02-03"}):
        with pytest.raises(Blocked, match="is on an invoice"):
            cast.perform(update_bill, billId=bill["id"], **change)
    assert cast.perform(update_bill, billId=bill["id"], dueOn="2026-03-01", status="approved")["status"] == "approved"
    put_on_invoice(cast, pipe.id, billed=False)
    assert cast.perform(void_bill, billId=bill["id"], confirmed=True)["status"] == "void"
    assert materials(cast) == []


def test_what_is_not_billed_on_when_it_comes_is_when_the_job_is_and_more_comes(cast: Cast) -> None:
    job = bought_for(cast, billing="nonBillable")
    order = received(cast, ordered(cast, jobId=job["id"]), "4")
    cast.perform(update_job, jobId=job["id"], billing="timeAndMaterials")
    received(cast, order, "1")
    assert open_(cast, job) == [("orderLine", "Copper pipe", 5)]


def returned(cast: Cast, how: str) -> dict[str, Any]:
    """A job for which ten pipes came and were billed; four went back, as receipts say, a credit note, or both."""
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "10")
    billed(cast, order, "10", total="60")
    if how in {"receipt", "both"}:
        received(cast, order, "-4")
    if how in {"credit note", "both"}:
        billed(cast, order, "-4", total="-24", supplierNumber="CN 1")
    return job


@pytest.mark.parametrize(("how", "costs"), [("receipt", 60), ("credit note", 36), ("both", 36)])
def test_goods_that_went_back_are_not_billed_on(cast: Cast, how: str, costs: int) -> None:
    job = returned(cast, how)
    assert open_(cast, job) == [("billLine", "Copper pipe", 6)]
    # They cost what they were billed at until they are credited.
    assert cost(cast) == costs
    told = cast.perform(get_job_costing, jobId=job["id"])
    assert (told["materials"]["cost"], told["value"], told["unbilled"]) == (f"{costs}.00", "36.00", "36.00")
    (unbilled,) = cast.perform(list_unbilled)["data"]
    assert unbilled["materialsAmount"] == "36.00"
    (line,) = an_invoice(cast, jobId=job["id"], unbilled=True)["lines"]
    assert (line["quantity"], line["amount"]) == ("6.00", "36.00")


def test_goods_that_come_again_are_billed_on_again(cast: Cast) -> None:
    job = returned(cast, "both")
    order = next(iter(cast.perform(list_purchase_orders, jobId=job["id"])["data"]))
    order = received(cast, as_it_is(cast, order), "4")
    assert sorted(open_(cast, job)) == [("billLine", "Copper pipe", 6), ("orderLine", "Copper pipe", 4)]
    billed(cast, order, "4", total="24", supplierNumber="2")
    assert (sum(many for *_, many in open_(cast, job)), cost(cast)) == (10, 60)


def test_goods_that_went_back_before_they_were_billed_are_not_billed_on(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, received(cast, ordered(cast, jobId=job["id"]), "10"), "-4")
    assert (open_(cast, job), cost(cast)) == ([("orderLine", "Copper pipe", 6)], 36)
    # The supplier bills all that came, though some of it went back.
    billed(cast, order, "10", total="60")
    assert (open_(cast, job), cost(cast)) == ([("billLine", "Copper pipe", 6)], 60)


def test_a_receipt_that_was_mistyped_and_corrected_takes_nothing_away(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "10")
    order = received(cast, received(cast, order, "-9"), "9")
    assert open_(cast, job) == [("orderLine", "Copper pipe", 10)]
    billed(cast, order, "10", total="60")
    assert (open_(cast, job), cost(cast)) == ([("billLine", "Copper pipe", 10)], 60)


def test_a_credit_of_goods_that_are_partly_billed_leaves_the_rest(cast: Cast) -> None:
    job = bought_for(cast)
    order = received(cast, ordered(cast, jobId=job["id"]), "10")
    billed(cast, order, "6", total="36")
    billed(cast, order, "-2", total="-12", supplierNumber="CN 1")
    assert sorted(open_(cast, job)) == [("billLine", "Copper pipe", 4), ("orderLine", "Copper pipe", 4)]
    assert cost(cast) == 48


def test_a_credit_note_that_is_void_credits_nothing(cast: Cast) -> None:
    job = bought_for(cast)
    order = ordered(cast, jobId=job["id"])
    billed(cast, order, "10", total="60")
    credit = billed(cast, order, "-4", total="-24", supplierNumber="CN 1")
    cast.perform(void_bill, billId=credit["id"], confirmed=True)
    assert (open_(cast, job), cost(cast)) == ([("billLine", "Copper pipe", 10)], 60)


def test_goods_that_went_back_before_this_was_reckoned_are_found_by_the_worker(alone: Cast) -> None:
    job = returned(alone, "receipt")
    with alone.stage.database.changing(alone.organisation) as rows:
        gone = "WHERE organisation_id = :organisation AND kind = "
        rows.run(f"DELETE FROM material {gone} 'returned'")
        rows.run(f"UPDATE material SET quantity = 100000, cost = 600000, value = 600000 {gone} 'billLine'")
    assert open_(alone, job) == [("billLine", "Copper pipe", 10)]
    database = known_as("WholeDatabase", alone.stage.database)
    (step,) = [step for step in steps_for(database.engine) if step.name.endswith("_closed_jobs_and_returns")]
    with database.migrating() as handle:
        step.run(handle)
    work_off(alone)
    assert (open_(alone, job), cost(alone)) == ([("billLine", "Copper pipe", 6)], 60)
