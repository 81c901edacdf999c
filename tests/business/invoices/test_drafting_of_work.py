"""Hours on invoices: each is billed once, and stays as it is while it is billed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from billing import BOILER, an_hour, an_invoice, changed, credited, issued, voided, worked_job
from cast import Cast
from evidence import history
from labour import at, decide, logged, price
from mainstay.business.costing.operations import get_job_costing
from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import update_customer
from mainstay.business.hours.operations import delete_hours, get_time_entry, update_hours
from mainstay.business.hours.review import review_hours
from mainstay.business.invoices.operations import delete_draft_invoice, draft_invoice, get_invoice, update_invoice
from mainstay.terms.refusal import Blocked, Conflict, Invalid
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from ordering import PIPE, billed, ordered, received
from quoting import usual_tax
from trade import a_customer, a_job

RACERS = 6


@pytest.fixture
def busy(cast: Cast) -> Cast:
    """The cast at noon of a day on which work was done."""
    return at(cast)


def sources(invoice: dict[str, Any]) -> list[str]:
    return [line["source"]["id"] for line in invoice["lines"] if line["source"]]


def is_billed(cast: Cast, hour: str) -> bool:
    return bool(cast.perform(get_time_entry, timeEntryId=hour)["billed"])


def test_all_approved_hours_of_a_job_are_billed_as_they_were_worked(busy: Cast) -> None:
    tax, job = usual_tax(busy), worked_job(busy)
    later = an_hour(busy, job, on="2026-11-15", minutes=100, note="Flushed the pipes")
    earlier = an_hour(busy, job, on="2026-11-12", minutes=60)
    logged(busy, jobId=job["id"], minutes=30)
    logged(busy, Role.OFFICE, jobId=job["id"], minutes=30, status="approved", billable=False)
    made = an_invoice(busy, jobId=job["number"], unbilled=True)
    assert sources(made) == [earlier, later]
    first, second = made["lines"]
    assert first["description"] == "12 November 2026, Mia Member"
    assert second["description"] == "15 November 2026, Mia Member\nFlushed the pipes"
    assert [line["quantity"] for line in made["lines"]] == ["1.00", "1.6667"]
    assert (second["unit"], second["unitPrice"], second["cost"], second["taxRateId"]) == ("h", "60.00", "25.00", tax)
    assert second["source"] == {"kind": "timeEntry", "id": later, "minutes": 100}
    assert (made["net"], made["cost"], made["title"]) == ("160.00", "66.67", job["title"])
    assert [is_billed(busy, hour) for hour in (earlier, later)] == [True, True]


def test_minutes_are_billed_exactly_and_not_by_rounded_hours(busy: Cast) -> None:
    job = worked_job(busy)
    price(busy, Role.MEMBER, 25, 80)
    an_hour(busy, job, on="2026-11-15", minutes=67)
    assert busy.perform(list_unbilled, Role.OFFICE, jobId=job["id"])["data"][0]["amount"] == "89.33"
    made = an_invoice(busy, jobId=job["id"], unbilled=True)
    (line,) = made["lines"]
    assert (line["quantity"], line["unitPrice"], line["amount"]) == ("1.1167", "80.00", "89.33")
    # What someone types counts as they type it.
    typed = changed(busy, made, {"edit": "set", "lineId": line["id"], "quantity": "1.5"})
    assert typed["net"] == "120.00"


def test_that_an_hour_is_billed_and_that_it_is_not_stand_in_its_history(busy: Cast) -> None:
    job = worked_job(busy)
    hour = an_hour(busy, job)
    made = an_invoice(busy, jobId=job["id"], unbilled=True)
    busy.perform(delete_draft_invoice, invoiceId=made["id"], confirmed=True)
    assert history(busy, hour)[-2:] == ["draft_invoice", "delete_draft_invoice"]


@pytest.mark.parametrize(
    ("hours", "rounding", "net", "cost"),
    [
        ({"minutes": 300, "billableMinutes": 60}, 0, "60.00", "125.00"),
        ({"minutes": 61}, 60, "120.00", "25.42"),
        ({"minutes": 60, "billableMinutes": 0}, 0, "0.00", None),
    ],
)
def test_what_was_worked_is_what_it_cost_whatever_is_billed_of_it(
    busy: Cast, hours: dict[str, int], rounding: int, net: str, cost: str | None
) -> None:
    job = worked_job(busy)
    decide(busy, hours_rounding_minutes=rounding)
    logged(busy, Role.OFFICE, "approved", jobId=job["id"], personId=busy.people[Role.MEMBER], **hours)
    made = an_invoice(busy, jobId=job["id"], unbilled=True)
    assert (made["net"], made["cost"]) == (net, cost)
    if cost:
        assert busy.perform(get_job_costing, jobId=job["id"])["margin"] == made["margin"]


def test_what_is_to_be_billed_is_told_as_the_invoice_says(busy: Cast) -> None:
    job = worked_job(busy)
    decide(busy, hours_rounding_minutes=6)
    for minutes in (7, 20, 59):
        an_hour(busy, job, minutes=minutes)
    (told,) = busy.perform(list_unbilled)["data"]
    assert an_invoice(busy, jobId=job["id"], unbilled=True)["net"] == told["amount"] == "96.00"
    assert busy.perform(list_unbilled)["data"] == []


def test_up_to_a_date_or_only_those_that_are_named(busy: Cast) -> None:
    job = worked_job(busy)
    hours = [an_hour(busy, job, on=f"2026-11-1{day}") for day in (1, 2, 3)]
    assert sources(an_invoice(busy, jobId=job["id"], unbilled=True, until="2026-11-11")) == hours[:1]
    assert sources(an_invoice(busy, jobId=job["id"], sources=[hours[2]])) == hours[2:]
    assert sources(an_invoice(busy, jobId=job["id"], unbilled=True, lines=[BOILER])) == hours[1:2]


def test_hours_are_told_in_the_customer_s_language(busy: Cast) -> None:
    job = worked_job(busy)
    busy.perform(update_customer, customerId=job["customerId"], language="de")
    an_hour(busy, job, on="2026-11-12")
    (line,) = an_invoice(busy, jobId=job["id"], unbilled=True)["lines"]
    assert line["description"] == "12. November 2026, Mia Member"


def test_hours_without_a_rate_come_to_nothing_and_that_is_said(busy: Cast) -> None:
    job = worked_job(busy)
    price(busy, Role.MEMBER, None, None)
    an_hour(busy, job)
    made = an_invoice(busy, jobId=job["id"], unbilled=True)
    assert (made["total"], made["cost"]) == ("0.00", None)
    assert made["warnings"] == ["1 of the hours have no rate to bill at, and come to nothing. Set their prices."]


def test_where_there_is_nothing_to_bill_there_is_no_draft(busy: Cast) -> None:
    job = worked_job(busy)
    logged(busy, jobId=job["id"], minutes=30, status="submitted")
    with pytest.raises(
        Blocked, match="There is nothing of this job that is approved and on no invoice or draft"
    ) as refusal:
        an_invoice(busy, jobId=job["id"], unbilled=True)
    assert [reason.unblock for reason in refusal.value.reasons] == ["review_hours"]


def test_an_hour_is_on_one_invoice_and_the_refusal_of_another_names_it(busy: Cast) -> None:
    job = worked_job(busy)
    hour = an_hour(busy, job)
    draft = an_invoice(busy, jobId=job["id"], unbilled=True)
    told = (
        f"^{hour} is on a draft for Calder Property already. Void or credit that invoice, or take it out of the draft"
    )
    with pytest.raises(Conflict, match=told):
        an_invoice(busy, jobId=job["id"], sources=[hour])
    with pytest.raises(Blocked, match="nothing of this job that is approved and on no invoice or draft"):
        an_invoice(busy, jobId=job["id"], unbilled=True)
    issued(busy, draft)
    with pytest.raises(Conflict, match=f"^{hour} is on INV-0001 already"):
        an_invoice(busy, jobId=job["id"], sources=[hour])
    other = an_invoice(busy, jobId=job["id"])
    with pytest.raises(Conflict, match=f"^{hour} is on INV-0001 already"):
        busy.perform(update_invoice, Role.OFFICE, invoiceId=other["id"], sources=[hour])


def test_what_is_no_hour_to_bill_of_the_job_is_refused(busy: Cast, stranger: Cast) -> None:
    job, elsewhere = worked_job(busy), worked_job(busy)
    foreign = at(stranger)
    strange = [
        logged(busy, jobId=job["id"], minutes=5)["id"],
        an_hour(busy, elsewhere),
        an_hour(foreign, worked_job(foreign)),
        new_id("entry"),
        "x",
    ]
    for one in strange:
        with pytest.raises(Invalid, match=rf"^sources: {one} is nothing of this job that is approved and to be billed"):
            an_invoice(busy, jobId=job["id"], sources=[one])


def test_deleting_voiding_removing_and_crediting_in_whole_let_it_be_billed_again(busy: Cast) -> None:
    job = worked_job(busy)
    hour = an_hour(busy, job)

    def drafted() -> dict[str, Any]:
        made = an_invoice(busy, jobId=job["id"], unbilled=True, lines=[BOILER])
        assert is_billed(busy, hour)
        return made

    busy.perform(delete_draft_invoice, Role.OFFICE, invoiceId=drafted()["id"], confirmed=True)
    assert not is_billed(busy, hour)
    voided(busy, issued(busy, drafted()))
    assert not is_billed(busy, hour)
    draft = drafted()
    changed(busy, draft, {"edit": "remove", "lineId": draft["lines"][0]["id"]})
    assert not is_billed(busy, hour)
    invoice = issued(busy, drafted())
    credited(busy, invoice, lines=[{"lineId": invoice["lines"][0]["id"]}])
    assert is_billed(busy, hour)
    credited(busy, invoice)
    assert not is_billed(busy, hour)
    assert sources(drafted()) == [hour]


def test_goods_on_an_invoice_that_is_credited_can_be_billed_again_when_others_of_their_bill_are_on_one(
    busy: Cast,
) -> None:
    job = worked_job(busy)
    order = received(busy, ordered(busy, jobId=job["id"], lines=[PIPE]), "4")
    first = issued(busy, an_invoice(busy, jobId=job["id"], unbilled=True))
    received(busy, order, "6")
    billed(busy, order, "10", total="60")
    second = issued(busy, an_invoice(busy, jobId=job["id"], unbilled=True))
    assert (first["net"], second["net"]) == ("24.00", "36.00")
    credited(busy, first)
    costing = busy.perform(get_job_costing, jobId=job["id"])
    assert (costing["cost"], costing["unbilled"]) == ("60.00", "24.00")
    assert an_invoice(busy, jobId=job["id"], unbilled=True)["net"] == "24.00"


def test_a_billed_hour_stays_as_it_is(busy: Cast) -> None:
    job = worked_job(busy)
    hour = an_hour(busy, job)
    draft = an_invoice(busy, jobId=job["id"], unbilled=True)
    acts: list[Callable[[], object]] = [
        lambda: busy.perform(update_hours, Role.OFFICE, timeEntryId=hour, note="x"),
        lambda: busy.perform(delete_hours, Role.OFFICE, timeEntryId=hour, confirmed=True),
        lambda: busy.perform(review_hours, Role.OFFICE, timeEntryIds=[hour], decision="unapprove"),
    ]
    for act in acts:
        with pytest.raises(Conflict, match="invoice"):
            act()
    busy.perform(delete_draft_invoice, Role.OFFICE, invoiceId=draft["id"], confirmed=True)
    acts[2]()
    assert busy.perform(get_time_entry, timeEntryId=hour)["status"] != "approved"


def test_more_hours_come_onto_a_draft_and_the_others_stay(busy: Cast) -> None:
    job = worked_job(busy)
    first, second = (an_hour(busy, job, on=f"2026-11-1{day}") for day in (1, 2))
    draft = an_invoice(busy, jobId=job["id"], sources=[first])
    after = busy.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], sources=[second])
    assert sources(after) == [first, second]
    assert after["lines"][0] == draft["lines"][0]
    assert [is_billed(busy, hour) for hour in (first, second)] == [True, True]


def test_an_invoice_without_a_job_bills_no_hours(busy: Cast) -> None:
    draft = an_invoice(busy)
    with pytest.raises(Invalid, match=r"^jobId: is required to bill work: of which job$"):
        busy.perform(update_invoice, Role.OFFICE, invoiceId=draft["id"], sources=["entry_1"])


def test_of_those_who_bill_an_hour_at_once_one_does(busy: Cast) -> None:
    job = worked_job(busy)
    hour = an_hour(busy, job)
    drafts = [an_invoice(busy, jobId=job["id"]) for _ in range(RACERS // 2)]

    def take(number: int) -> str | None:
        try:
            if number < len(drafts):
                given = {"invoiceId": drafts[number]["id"], "sources": [hour]}
                return str(busy.perform(update_invoice, Role.OFFICE, **given)["id"])
            return str(busy.perform(draft_invoice, Role.OFFICE, jobId=job["id"], sources=[hour])["id"])
        except (Conflict, Invalid):
            return None

    with ThreadPoolExecutor(RACERS) as racers:
        (taken,) = filter(None, racers.map(take, range(RACERS)))
    assert sources(busy.perform(get_invoice, invoiceId=taken)) == [hour]
    with busy.stage.database.reading(busy.organisation) as rows:
        kept = rows.all("SELECT source_id, invoice_id FROM billed_source WHERE organisation_id = :organisation")
    assert [tuple(row) for row in kept] == [(hour, taken)]


def test_a_job_of_another_customer_is_not_billed_to_this_one(busy: Cast) -> None:
    job = a_job(busy, a_customer(busy))
    with pytest.raises(Invalid, match=r"^jobId: is a job for another customer"):
        an_invoice(busy, jobId=job["id"], customerId=a_customer(busy), unbilled=True)
