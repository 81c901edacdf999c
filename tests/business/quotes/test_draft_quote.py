from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainstay.business.customers.operations import archive_customer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import draft_quote, get_quote
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.quotes import BOILER, WARRANTY, make_default_tax_rate, make_quote
from support.stored_state import operations_on, read_last_event, to_event_record

RACERS = 8


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_it_is_kept(cast: Cast, role: Role) -> None:
    tax, customer = make_default_tax_rate(cast), make_customer(cast)
    site = make_site(cast, customer, name="The mill")
    given: dict[str, Any] = {
        "title": "New heating",
        "siteId": site,
        "validUntil": "2031-01-31",
        "terms": "Half before the work.",
        "discount": {"percent": "10", "amount": None},
        "deposit": {"percent": None, "amount": "100.00"},
    }
    lines = [{"kind": "heading", "description": "Heating"}, BOILER, WARRANTY]
    made = cast.perform(draft_quote, role, customerId=customer, lines=lines, **given)
    assert {name: made[name] for name in given} == given | {"discount": {"percent": "10.00", "amount": None}}
    assert (made["number"], made["revision"], made["status"]) == ("Q-0001", 1, "draft")
    assert (made["customerName"], made["siteName"], made["currency"]) == ("Calder Property", "The mill", "GBP")
    assert [line["kind"] for line in made["lines"]] == ["heading", "item", "item"]
    assert [line["taxRateId"] for line in made["lines"]] == [None, tax, tax]
    assert to_event_record(cast.perform(get_quote, role, quoteId="q-0001")) == to_event_record(made)
    assert operations_on(cast, made["id"]) == ["draft_quote"]


def test_it_comes_to_what_its_lines_come_to_and_options_wait_to_be_chosen(cast: Cast) -> None:
    make_default_tax_rate(cast)
    made = make_quote(cast)
    assert (made["net"], made["tax"], made["total"]) == ("1000.00", "200.00", "1200.00")
    assert [(line["optional"], line["chosen"], line["amount"]) for line in made["lines"]] == [
        (False, True, "1000.00"),
        (True, False, "200.00"),
    ]
    assert made["taxes"][0]["components"] == [{"name": "VAT", "percent": "20.00", "amount": "200.00"}]
    assert (made["cost"], made["margin"]) == ("700.00", "300.00")
    assert (made["uncostedLines"], made["uncostedNet"]) == (0, "0.00")


def test_a_line_without_a_cost_is_not_profit(cast: Cast) -> None:
    made = make_quote(cast, lines=[BOILER, WARRANTY | {"optional": False}])
    assert (made["cost"], made["margin"]) == ("700.00", "300.00")
    assert (made["uncostedLines"], made["uncostedNet"]) == (1, "200.00")
    unknown = make_quote(cast, lines=[WARRANTY | {"optional": False}])
    assert (unknown["cost"], unknown["margin"], unknown["uncostedLines"]) == (None, None, 1)


def test_an_item_of_the_price_list_fills_in_its_line(cast: Cast) -> None:
    make_default_tax_rate(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    item = cast.perform(
        save_price_item, code="BLR-24", name="Boiler", description="24 kW", sellPrice="890", costPrice="600", unit="pcs"
    )
    kit = cast.perform(
        save_price_item, name="Heating", components=[{"itemId": item["id"], "quantity": "2"}], taxRateId=low
    )
    lines = [{"itemId": "blr-24", "quantity": "2"}, {"itemId": kit["id"]}, {"itemId": item["id"], "unitPrice": "1"}]
    boiler, heating, cheap = make_quote(cast, lines=lines)["lines"]
    assert (boiler["description"], boiler["unit"], boiler["unitPrice"]) == ("Boiler\n24 kW", "pcs", "890.00")
    assert (boiler["amount"], boiler["cost"], boiler["itemId"]) == ("1780.00", "600.00", item["id"])
    assert (heating["unitPrice"], heating["cost"], heating["taxRateId"]) == ("1780.00", "1200.00", low)
    assert cheap["unitPrice"] == "1.00"


def test_for_a_job_it_is_for_its_customer_at_its_site_and_called_like_it(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, siteId=make_site(cast, customer), status="enquiry")
    made = cast.perform(draft_quote, Role.OFFICE, jobId=job["number"])
    assert (made["customerId"], made["siteId"], made["title"]) == (customer, job["siteId"], job["title"])
    assert (made["jobId"], made["jobNumber"]) == (job["id"], job["number"])
    assert made["availableActions"] == ["update_quote", "send_quote", "withdraw_quote"]


def test_an_event_tells_of_it_as_it_is(cast: Cast) -> None:
    made = make_quote(cast)
    event = read_last_event(cast)
    assert event["type"] == "quote.created"
    assert event["data"] == {"object": to_event_record(made), "previous": {}}


def test_the_organisation_s_terms_stand_below_it_unless_it_says_otherwise(cast: Cast) -> None:
    cast.perform(update_settings, quoteTerms="Ours.")
    assert make_quote(cast)["terms"] == "Ours."
    assert make_quote(cast, terms="Another's.")["terms"] == "Another's."
    assert make_quote(cast, terms=None)["terms"] is None


def test_each_gets_the_next_number_as_the_settings_say(cast: Cast) -> None:
    assert make_quote(cast)["number"] == "Q-0001"
    result = cast.perform(update_settings, quoteNumbers={"prefix": "AN-", "next": 41})
    assert result["quoteNumbers"] == {"prefix": "AN-", "digits": 4, "next": 41}
    assert result["jobNumbers"]["prefix"] == "J-"
    assert make_quote(cast)["number"] == "AN-0041"
    with pytest.raises(Invalid, match=r"^quoteNumbers\.next: is below 42, numbers can't be used twice$"):
        cast.perform(update_settings, quoteNumbers={"next": 1})


def test_however_many_at_once_no_number_is_given_twice(cast: Cast) -> None:
    customer = make_customer(cast)
    with ThreadPoolExecutor(RACERS) as racers:
        made = list(racers.map(lambda _: make_quote(cast, customerId=customer), range(RACERS)))
    assert sorted(quote["number"] for quote in made) == [f"Q-{number:04}" for number in range(1, RACERS + 1)]


def test_what_is_archived_is_not_sold(cast: Cast) -> None:
    item = cast.perform(save_price_item, name="Boiler", sellPrice="1", status="archived")["id"]
    tax = make_default_tax_rate(cast)
    cast.perform(save_tax_rate, taxRateId=tax, status="archived", isDefault=False)
    with pytest.raises(Invalid) as refusal:
        make_quote(cast, lines=[{"itemId": item}, BOILER | {"taxRateId": tax}])
    assert [fault.field for fault in refusal.value.faults] == ["lines.0.itemId", "lines.1.taxRateId"]


def test_a_rate_that_it_names_stays_as_it_is(cast: Cast) -> None:
    tax = make_default_tax_rate(cast)
    make_quote(cast)
    with pytest.raises(Conflict, match="is used on documents"):
        cast.perform(save_tax_rate, taxRateId=tax, components=[{"name": "VAT", "percent": "25"}])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"lines": [{}]}, "lines.0.description: is required without itemId; lines.0.unitPrice: is required"),
        ({"lines": [{"kind": "text"}]}, "lines.0.description: is required"),
        ({"lines": [{"itemId": "NONE"}]}, "lines.0.itemId: is not on the price list, list_price_items lists the items"),
        ({"lines": [BOILER | {"taxRateId": "x"}]}, "lines.0.taxRateId: is not a tax rate, list_tax_rates lists them"),
        ({"lines": [BOILER | {"amount": "1"}]}, "lines.0.amount: is not known here"),
        ({"lines": [BOILER] * 201}, "lines: has more than 200 entries"),
        (
            {"lines": [BOILER | {"quantity": "9999999", "unitPrice": "900000000000"}]},
            "lines.0: is more than the largest possible amount",
        ),
        (
            {"lines": [BOILER | {"quantity": "10000000", "unitPrice": "0", "cost": "900000000000"}]},
            "lines.0: is more than",
        ),
        ({"discount": {}}, "discount: must have either a percentage or an amount"),
        ({"discount": {"percent": "1", "amount": "1"}}, "discount: must have either a percentage or an amount"),
        ({"deposit": {"amount": "0.005"}}, "deposit.amount: has more than 2 decimals"),
        ({"deposit": {"percent": "101"}}, "deposit.percent: is too large, the maximum is 100"),
        ({"validUntil": "31.1.2031"}, "validUntil: is not a date"),
        ({"status": "sent"}, "status: is not known here"),
        ({"title": None}, "title: is not text"),
    ],
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_quote(cast, **wrong)
    assert refusal.value.text.startswith(text)


def test_a_customer_and_a_title_are_needed_without_a_job(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^customerId: is required without jobId; title: is required without jobId$"):
        cast.perform(draft_quote, Role.OFFICE)


def test_what_is_another_customer_s_is_refused(cast: Cast, other_cast: Cast) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Ryburn")
    with pytest.raises(Invalid, match=r"^siteId: belongs to another customer"):
        make_quote(cast, customerId=customer, siteId=make_site(cast, other))
    with pytest.raises(Invalid, match=r"^jobId: is for another customer"):
        make_quote(cast, customerId=customer, jobId=make_job(cast, other)["id"])
    with pytest.raises(NotFound):
        make_quote(cast, customerId=make_customer(other_cast))


def test_there_is_none_for_what_is_over(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)
    cast.perform(cancel_job, jobId=job["id"], reason="No.", confirmed=True)
    with pytest.raises(Blocked, match=r"is cancelled\. Reopen it first\."):
        make_quote(cast, jobId=job["id"])
    cast.perform(archive_customer, customerId=customer)
    with pytest.raises(Blocked, match=r"is archived\. Restore the customer first\."):
        make_quote(cast, customerId=customer)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_drafts_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(draft_quote, role, customerId=make_customer(cast), title="X")


def test_a_lapsed_organisation_drafts_none(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        make_quote(cast, customerId=customer)
