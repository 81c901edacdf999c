"""Hours on invoices: each is billed once, and cannot change while it is billed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import update_customer
from mainstay.business.hours.approval import review_hours
from mainstay.business.hours.operations import delete_hours, get_time_entry, update_hours
from mainstay.business.invoices.drafting.operations import (
    delete_draft_invoice,
    draft_invoice,
    get_invoice,
    update_invoice,
)
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Invalid
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at, make_time_entry, set_organisation_columns, set_rates
from support.invoices import (
    BOILER,
    credit_issued,
    edit_invoice,
    issue_invoice,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    void_issued,
)
from support.purchases import PIPE, bill_order, place_order, receive_order
from support.quotes import make_default_tax_rate
from support.stored_state import operations_on

RACERS = 6


@pytest.fixture
def noon(cast: Cast) -> Cast:
    """The cast at noon of a day on which work was done."""
    return cast_at(cast)


def source_ids(invoice: dict[str, Any]) -> list[str]:
    return [line["source"]["id"] for line in invoice["lines"] if line["source"]]


def is_billed(cast: Cast, hour: str) -> bool:
    return bool(cast.perform(get_time_entry, timeEntryId=hour)["billed"])


def test_all_approved_hours_of_a_job_are_billed_as_they_were_worked(noon: Cast) -> None:
    tax, job = make_default_tax_rate(noon), make_hourly_job(noon)
    later = make_approved_hour(noon, job, on="2026-11-15", minutes=100, note="Flushed the pipes")
    earlier = make_approved_hour(noon, job, on="2026-11-12", minutes=60)
    make_time_entry(noon, jobId=job["id"], minutes=30)
    make_time_entry(noon, Role.OFFICE, jobId=job["id"], minutes=30, status="approved", billable=False)
    made = make_invoice(noon, jobId=job["number"], unbilled=True)
    assert source_ids(made) == [earlier, later]
    first, second = made["lines"]
    assert first["description"] == "12 November 2026, Mia Member"
    assert second["description"] == "15 November 2026, Mia Member\nFlushed the pipes"
    assert [line["quantity"] for line in made["lines"]] == ["1.00", "1.6667"]
    assert (second["unit"], second["unitPrice"], second["cost"], second["taxRateId"]) == ("h", "60.00", "25.00", tax)
    assert second["source"] == {"kind": "timeEntry", "id": later, "minutes": 100}
    assert (made["net"], made["cost"], made["title"]) == ("160.00", "66.67", job["title"])
    assert [is_billed(noon, hour) for hour in (earlier, later)] == [True, True]


def test_minutes_are_billed_exactly_and_not_by_rounded_hours(noon: Cast) -> None:
    job = make_hourly_job(noon)
    set_rates(noon, Role.MEMBER, 25, 80)
    make_approved_hour(noon, job, on="2026-11-15", minutes=67)
    assert noon.perform(list_unbilled, Role.OFFICE, jobId=job["id"])["data"][0]["amount"] == "89.33"
    made = make_invoice(noon, jobId=job["id"], unbilled=True)
    (line,) = made["lines"]
    assert (line["quantity"], line["unitPrice"], line["amount"]) == ("1.1167", "80.00", "89.33")
    # What someone types counts as they type it.
    typed = edit_invoice(noon, made, {"edit": "set", "lineId": line["id"], "quantity": "1.5"})
    assert typed["net"] == "120.00"


def test_that_an_hour_is_billed_and_that_it_is_not_stand_in_its_history(noon: Cast) -> None:
    job = make_hourly_job(noon)
    hour = make_approved_hour(noon, job)
    made = make_invoice(noon, jobId=job["id"], unbilled=True)
    noon.perform(delete_draft_invoice, invoiceId=made["id"], confirmed=True)
    assert operations_on(noon, hour)[-2:] == ["draft_invoice", "delete_draft_invoice"]


@pytest.mark.parametrize(
    ("hours", "rounding", "net", "cost"),
    [
        ({"minutes": 300, "billableMinutes": 60}, 0, "60.00", "125.00"),
        ({"minutes": 61}, 60, "120.00", "25.42"),
        ({"minutes": 60, "billableMinutes": 0}, 0, "0.00", None),
    ],
)
def test_what_was_worked_is_what_it_cost_whatever_is_billed_of_it(
    noon: Cast, hours: dict[str, int], rounding: int, net: str, cost: str | None
) -> None:
    job = make_hourly_job(noon)
    set_organisation_columns(noon, hours_rounding_minutes=rounding)
    make_time_entry(noon, Role.OFFICE, "approved", jobId=job["id"], personId=noon.people[Role.MEMBER], **hours)
    made = make_invoice(noon, jobId=job["id"], unbilled=True)
    assert (made["net"], made["cost"]) == (net, cost)
    if cost:
        assert noon.perform(get_job_costing, jobId=job["id"])["margin"] == made["margin"]


def test_what_is_to_be_billed_is_told_as_the_invoice_says(noon: Cast) -> None:
    job = make_hourly_job(noon)
    set_organisation_columns(noon, hours_rounding_minutes=6)
    for minutes in (7, 20, 59):
        make_approved_hour(noon, job, minutes=minutes)
    (result,) = noon.perform(list_unbilled)["data"]
    assert make_invoice(noon, jobId=job["id"], unbilled=True)["net"] == result["amount"] == "96.00"
    assert noon.perform(list_unbilled)["data"] == []


def test_up_to_a_date_or_only_those_that_are_named(noon: Cast) -> None:
    job = make_hourly_job(noon)
    hours = [make_approved_hour(noon, job, on=f"2026-11-1{day}") for day in (1, 2, 3)]
    assert source_ids(make_invoice(noon, jobId=job["id"], unbilled=True, until="2026-11-11")) == hours[:1]
    assert source_ids(make_invoice(noon, jobId=job["id"], sources=[hours[2]])) == hours[2:]
    assert source_ids(make_invoice(noon, jobId=job["id"], unbilled=True, lines=[BOILER])) == hours[1:2]


def test_hours_are_told_in_the_customer_s_language(noon: Cast) -> None:
    job = make_hourly_job(noon)
    noon.perform(update_customer, customerId=job["customerId"], language="de")
    make_approved_hour(noon, job, on="2026-11-12")
    (line,) = make_invoice(noon, jobId=job["id"], unbilled=True)["lines"]
    assert line["description"] == "12. November 2026, Mia Member"


def test_hours_without_a_rate_come_to_nothing_and_that_is_said(noon: Cast) -> None:
    job = make_hourly_job(noon)
    set_rates(noon, Role.MEMBER, None, None)
    make_approved_hour(noon, job)
    made = make_invoice(noon, jobId=job["id"], unbilled=True)
    assert (made["total"], made["cost"]) == ("0.00", None)
    assert made["warnings"] == ["1 time entry has no hourly rate and is invoiced at zero. Set its price."]


def test_where_there_is_nothing_to_bill_there_is_no_draft(noon: Cast) -> None:
    job = make_hourly_job(noon)
    make_time_entry(noon, jobId=job["id"], minutes=30, status="submitted")
    with pytest.raises(Blocked, match="This job has no approved hours or materials left to invoice") as refusal:
        make_invoice(noon, jobId=job["id"], unbilled=True)
    assert [reason.first for reason in refusal.value.reasons] == ["review_hours"]


def test_an_hour_is_on_one_invoice_and_the_refusal_of_another_names_it(noon: Cast) -> None:
    job = make_hourly_job(noon)
    hour = make_approved_hour(noon, job)
    draft = make_invoice(noon, jobId=job["id"], unbilled=True)
    message = f"^{hour} is already on a draft for Calder Property. Remove it there first."
    with pytest.raises(Conflict, match=message):
        make_invoice(noon, jobId=job["id"], sources=[hour])
    with pytest.raises(Blocked, match="no approved hours or materials left to invoice"):
        make_invoice(noon, jobId=job["id"], unbilled=True)
    issue_invoice(noon, draft)
    with pytest.raises(Conflict, match=f"^{hour} is already on INV-0001"):
        make_invoice(noon, jobId=job["id"], sources=[hour])
    other = make_invoice(noon, jobId=job["id"])
    with pytest.raises(Conflict, match=f"^{hour} is already on INV-0001"):
        noon.perform(update_invoice, Role.OFFICE, invoiceId=other["id"], sources=[hour])


def test_what_is_no_hour_to_bill_of_the_job_is_refused(noon: Cast, other_cast: Cast) -> None:
    job, elsewhere = make_hourly_job(noon), make_hourly_job(noon)
    foreign = cast_at(other_cast)
    strange = [
        make_time_entry(noon, jobId=job["id"], minutes=5)["id"],
        make_approved_hour(noon, elsewhere),
        make_approved_hour(foreign, make_hourly_job(foreign)),
        new_id("entry"),
        "x",
    ]
    for one in strange:
        with pytest.raises(
            Invalid, match=rf"^sources: includes {one}, which is not approved work of this job that is still to invoice"
        ):
            make_invoice(noon, jobId=job["id"], sources=[one])


def test_deleting_voiding_removing_and_crediting_in_whole_let_it_be_billed_again(noon: Cast) -> None:
    job = make_hourly_job(noon)
    hour = make_approved_hour(noon, job)

    def drafted() -> dict[str, Any]:
        made = make_invoice(noon, jobId=job["id"], unbilled=True, lines=[BOILER])
        assert is_billed(noon, hour)
        return made

    noon.perform(delete_draft_invoice, Role.OFFICE, invoiceId=drafted()["id"], confirmed=True)
    assert not is_billed(noon, hour)
    void_issued(noon, issue_invoice(noon, drafted()))
    assert not is_billed(noon, hour)
    draft = drafted()
    edit_invoice(noon, draft, {"edit": "remove", "lineId": draft["lines"][0]["id"]})
    assert not is_billed(noon, hour)
    invoice = issue_invoice(noon, drafted())
    credit_issued(noon, invoice, lines=[{"lineId": invoice["lines"][0]["id"]}])
    assert is_billed(noon, hour)
    credit_issued(noon, invoice)
    assert not is_billed(noon, hour)
    assert source_ids(drafted()) == [hour]


def test_goods_on_an_invoice_that_is_credited_can_be_billed_again_when_others_of_their_bill_are_on_one(
    noon: Cast,
) -> None:
    job = make_hourly_job(noon)
    order = receive_order(noon, place_order(noon, jobId=job["id"], lines=[PIPE]), "4")
    first = issue_invoice(noon, make_invoice(noon, jobId=job["id"], unbilled=True))
    receive_order(noon, order, "6")
    bill_order(noon, order, "10", total="60")
    second = issue_invoice(noon, make_invoice(noon, jobId=job["id"], unbilled=True))
    assert (first["net"], second["net"]) == ("24.00", "36.00")
    credit_issued(noon, first)
    costing = noon.perform(get_job_costing, jobId=job["id"])
    assert (costing["cost"], costing["unbilled"]) == ("60.00", "24.00")
    assert make_invoice(noon, jobId=job["id"], unbilled=True)["net"] == "24.00"


def test_a_billed_hour_stays_as_it_is(noon: Cast) -> None:
    job = make_hourly_job(noon)
    hour = make_approved_hour(noon, job)
    draft = make_invoice(noon, jobId=job["id"], unbilled=True)
    acts: list[Callable[[], object]] = [
        lambda: noon.perform(update_hours, Role.OFFICE, timeEntryId=hour, note="x"),
        lambda: noon.perform(delete_hours, Role.OFFICE, timeEntryId=hour, confirmed=True),
        lambda: noon.perform(review_hours, Role.OFFICE, timeEntryIds=[hour], decision="unapprove"),
    ]
    for act in acts:
        with pytest.raises(Conflict, match="invoice"):
            act()
    noon.perform(delete_draft_invoice, Role.OFFICE, invoiceId=draft["id"], confirmed=True)
    acts[2]()
    assert noon.perform(get_time_entry, timeEntryId=hour)["status"] != "approved"


def test_more_hours_come_onto_a_draft_and_the_others_stay(noon: Cast) -> None:
    job = make_hourly_job(noon)
    first, second = (make_approved_hour(noon, job, on=f"2026-11-1{day}") for day in (1, 2))
    draft = make_invoice(noon, jobId=job["id"], sources=[first])
    after = noon.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], sources=[second])
    assert source_ids(after) == [first, second]
    assert after["lines"][0] == draft["lines"][0]
    assert [is_billed(noon, hour) for hour in (first, second)] == [True, True]


def test_an_invoice_without_a_job_bills_no_hours(noon: Cast) -> None:
    draft = make_invoice(noon)
    with pytest.raises(Invalid, match=r"^jobId: is required to invoice work$"):
        noon.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], sources=["entry_1"])


def test_of_those_who_bill_an_hour_at_once_one_does(noon: Cast) -> None:
    job = make_hourly_job(noon)
    hour = make_approved_hour(noon, job)
    drafts = [make_invoice(noon, jobId=job["id"]) for _ in range(RACERS // 2)]

    def take(number: int) -> str | None:
        try:
            if number < len(drafts):
                given = {"invoiceId": drafts[number]["id"], "sources": [hour]}
                return str(noon.perform(update_invoice, Role.OFFICE, **given)["id"])
            return str(noon.perform(draft_invoice, Role.OFFICE, jobId=job["id"], sources=[hour])["id"])
        except (Conflict, Invalid):
            return None

    with ThreadPoolExecutor(RACERS) as racers:
        (taken,) = filter(None, racers.map(take, range(RACERS)))
    assert source_ids(noon.perform(get_invoice, invoiceId=taken)) == [hour]
    with noon.performer.database.read_transaction(noon.organisation) as db:
        stored = db.all("SELECT source_id, invoice_id FROM billed_source WHERE organisation_id = :organisation")
    assert [tuple(row) for row in stored] == [(hour, taken)]


def test_a_job_of_another_customer_is_not_billed_to_this_one(noon: Cast) -> None:
    job = make_job(noon, make_customer(noon))
    with pytest.raises(Invalid, match=r"^jobId: is for another customer"):
        make_invoice(noon, jobId=job["id"], customerId=make_customer(noon), unbilled=True)
