"""An invoice draft that names only a job bills the price agreed for it, and never more."""

from typing import Any

import pytest

from mainstay.business.invoices.drafting.operations import delete_draft_invoice, draft_invoice
from mainstay.business.organisation.settings import update_settings
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.hours import cast_at, make_time_entry, set_rates
from support.invoices import BOILER, credit_issued, issue_invoice, void_issued
from support.quotes import make_default_tax_rate


def make_priced_job(cast: Cast, **given: object) -> dict[str, Any]:
    values = {"title": "Outside tap", "billing": "fixed", "budget": "120", **given}
    return make_job(cast, make_customer(cast), Role.MEMBER, **values)


def draft_for_job(cast: Cast, job: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(draft_invoice, Role.OFFICE, jobId=job["id"], **given)


def lines_and_amounts(invoice: dict[str, Any]) -> list[tuple[str, str]]:
    return [(line["description"], line["amount"]) for line in invoice["lines"]]


def join_warnings(invoice: dict[str, Any]) -> str:
    return " ".join(invoice.get("warnings", []))


def test_the_price_is_one_line_with_the_title_of_the_job(cast: Cast) -> None:
    tax = make_default_tax_rate(cast)
    made = draft_for_job(cast, make_priced_job(cast))
    assert lines_and_amounts(made) == [("Outside tap", "120.00")]
    assert (made["net"], made["total"], made["lines"][0]["taxRateId"]) == ("120.00", "144.00", tax)
    assert "warnings" not in made


def test_a_price_is_before_tax_also_where_others_include_it(cast: Cast) -> None:
    make_default_tax_rate(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    made = draft_for_job(cast, make_priced_job(cast))
    assert (made["net"], made["total"], made["pricesIncludeTax"]) == ("120.00", "144.00", False)


def test_what_is_on_invoices_and_drafts_is_taken_off_and_named(cast: Cast) -> None:
    job = make_priced_job(cast)
    half = issue_invoice(cast, draft_for_job(cast, job, lines=[{"description": "Half of it", "unitPrice": "50"}]))
    rest = draft_for_job(cast, job)
    assert lines_and_amounts(rest) == [("Outside tap", "70.00")]
    assert join_warnings(rest) == (
        f"50.00 GBP of the 120.00 GBP agreed for {job['number']} is already on {half['number']}. This invoice is for"
        f" the rest."
    )
    none = draft_for_job(cast, job)
    assert lines_and_amounts(none) == []
    assert join_warnings(none).endswith(f"{half['number']} and a draft, so nothing is left. Add lines for extras.")


@pytest.mark.parametrize("taken_back", ["deleted", "voided", "credited"])
def test_what_was_taken_back_is_billed_again(cast: Cast, taken_back: str) -> None:
    job = make_priced_job(cast)
    first = draft_for_job(cast, job)
    if taken_back == "deleted":
        cast.perform(delete_draft_invoice, Role.OFFICE, invoiceId=first["id"], confirmed=True)
    elif taken_back == "voided":
        void_issued(cast, issue_invoice(cast, first))
    else:
        credit_issued(cast, issue_invoice(cast, first))
    assert lines_and_amounts(draft_for_job(cast, job)) == [("Outside tap", "120.00")]


def log_hour(cast: Cast, job: dict[str, Any], day: str) -> str:
    """Log an approved hour that is billed in addition to the price; return its id."""
    given = {"jobId": job["id"], "on": day, "minutes": 60, "billable": True}
    return str(make_time_entry(cast, Role.OFFICE, "approved", personId=cast.people[Role.MEMBER], **given)["id"])


def test_work_that_was_billed_on_top_is_not_a_part_of_the_price(cast: Cast) -> None:
    busy = cast_at(cast)
    set_rates(busy, Role.MEMBER, 25, 60)
    job = make_priced_job(busy)
    extra = draft_for_job(busy, job, sources=[log_hour(busy, job, "2026-11-11")])
    assert lines_and_amounts(extra) == [("11 November 2026, Mia Member", "60.00")]
    draft_for_job(
        busy, job, sources=[log_hour(busy, job, "2026-11-12")], lines=[{"description": "Paid", "unitPrice": "30"}]
    )
    assert lines_and_amounts(draft_for_job(busy, job)) == [("Outside tap", "90.00")]


def test_who_names_what_is_billed_bills_that_and_no_price(cast: Cast) -> None:
    assert lines_and_amounts(draft_for_job(cast, make_priced_job(cast), lines=[BOILER])) == [
        ("Combi boiler", "1000.00")
    ]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (
            {"billing": "timeAndMaterials"},
            "has no fixed price. Invoice its hours and materials, or add lines.",
        ),
        ({"budget": None}, "because no price was agreed for"),
    ],
)
def test_an_estimate_is_not_billed_and_what_is_missing_is_said(
    cast: Cast, given: dict[str, object], missing: str
) -> None:
    made = draft_for_job(cast, make_priced_job(cast, **given))
    assert lines_and_amounts(made) == []
    assert missing in join_warnings(made)
