"""The price that was agreed for a job is billed where only the job is named, and never more of it."""

from typing import Any

import pytest

from billing import BOILER, credited, issued, voided
from cast import Cast
from labour import at, logged, price
from mainstay.business.invoices.operations import delete_draft_invoice, draft_invoice
from mainstay.business.organisation.settings import update_settings
from mainstay.terms.rights import Role
from quoting import usual_tax
from trade import a_customer, a_job


def a_priced_job(cast: Cast, **given: object) -> dict[str, Any]:
    told = {"title": "Outside tap", "billing": "fixed", "budget": "120", **given}
    return a_job(cast, a_customer(cast), Role.MEMBER, **told)


def drafted(cast: Cast, job: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(draft_invoice, Role.OFFICE, jobId=job["id"], **given)


def told(invoice: dict[str, Any]) -> list[tuple[str, str]]:
    return [(line["description"], line["amount"]) for line in invoice["lines"]]


def warned(invoice: dict[str, Any]) -> str:
    return " ".join(invoice.get("warnings", []))


def test_the_price_is_one_line_with_the_title_of_the_job(cast: Cast) -> None:
    tax = usual_tax(cast)
    made = drafted(cast, a_priced_job(cast))
    assert told(made) == [("Outside tap", "120.00")]
    assert (made["net"], made["total"], made["lines"][0]["taxRateId"]) == ("120.00", "144.00", tax)
    assert "warnings" not in made


def test_a_price_is_before_tax_also_where_others_include_it(cast: Cast) -> None:
    usual_tax(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    made = drafted(cast, a_priced_job(cast))
    assert (made["net"], made["total"], made["pricesIncludeTax"]) == ("120.00", "144.00", False)


def test_what_is_on_invoices_and_drafts_is_taken_off_and_named(cast: Cast) -> None:
    job = a_priced_job(cast)
    half = issued(cast, drafted(cast, job, lines=[{"description": "Half of it", "unitPrice": "50"}]))
    rest = drafted(cast, job)
    assert told(rest) == [("Outside tap", "70.00")]
    assert warned(rest) == (
        f"Of the 120.00 GBP that was agreed for {job['number']}, 50.00 GBP is on invoices already:"
        f" {half['number']}. The rest is billed."
    )
    none = drafted(cast, job)
    assert told(none) == []
    assert warned(none).endswith(f"{half['number']}, a draft. Nothing is left: add lines for what is more.")


@pytest.mark.parametrize("taken_back", ["deleted", "voided", "credited"])
def test_what_was_taken_back_is_billed_again(cast: Cast, taken_back: str) -> None:
    job = a_priced_job(cast)
    first = drafted(cast, job)
    if taken_back == "deleted":
        cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=first["id"], confirmed=True)
    elif taken_back == "voided":
        voided(cast, issued(cast, first))
    else:
        credited(cast, issued(cast, first))
    assert told(drafted(cast, job)) == [("Outside tap", "120.00")]


def hour_on(cast: Cast, job: dict[str, Any], day: str) -> str:
    """An hour that is billed beside the price."""
    given = {"jobId": job["id"], "on": day, "minutes": 60, "billable": True}
    return str(logged(cast, Role.OFFICE, "approved", personId=cast.people[Role.MEMBER], **given)["id"])


def test_work_that_was_billed_on_top_is_not_a_part_of_the_price(cast: Cast) -> None:
    busy = at(cast)
    price(busy, Role.MEMBER, 25, 60)
    job = a_priced_job(busy)
    extra = drafted(busy, job, sources=[hour_on(busy, job, "2026-11-11")])
    assert told(extra) == [("11 November 2026, Mia Member", "60.00")]
    drafted(busy, job, sources=[hour_on(busy, job, "2026-11-12")], lines=[{"description": "Paid", "unitPrice": "30"}])
    assert told(drafted(busy, job)) == [("Outside tap", "90.00")]


def test_who_names_what_is_billed_bills_that_and_no_price(cast: Cast) -> None:
    assert told(drafted(cast, a_priced_job(cast), lines=[BOILER])) == [("Combi boiler", "1000.00")]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (
            {"billing": "timeAndMaterials"},
            "is not billed at a fixed price: bill its hours and materials, or add lines.",
        ),
        ({"budget": None}, "No price was agreed for"),
    ],
)
def test_an_estimate_is_not_billed_and_what_is_missing_is_said(
    cast: Cast, given: dict[str, object], missing: str
) -> None:
    made = drafted(cast, a_priced_job(cast, **given))
    assert told(made) == []
    assert missing in warned(made)
