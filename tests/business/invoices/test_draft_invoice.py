from typing import Any

import pytest

from mainstay.business.customers.operations import archive_customer
from mainstay.business.invoices.drafting.operations import draft_invoice, get_invoice
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.operations import save_price_item
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Conflict, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.hours import set_organisation_columns
from support.invoices import BOILER, FLUE, make_accepted_quote, make_invoice
from support.quotes import issue_quote as sent_quote
from support.quotes import make_default_tax_rate, make_quote
from support.stored_state import operations_on, read_last_event, to_event_record


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_it_is_kept(cast: Cast, role: Role) -> None:
    tax, customer = make_default_tax_rate(cast), make_customer(cast)
    given: dict[str, Any] = {
        "title": "New heating",
        "siteId": make_site(cast, customer, name="The mill"),
        "dueOn": "2031-01-31",
        "notes": "Thank you.",
        "discount": {"percent": "10.00", "amount": None},
    }
    lines = [{"kind": "heading", "description": "Heating"}, BOILER, FLUE]
    made = cast.perform(draft_invoice, role, customerId=customer, lines=lines, **given)
    assert {name: made[name] for name in given} == given
    assert (made["number"], made["kind"], made["status"]) == (None, "standard", "draft")
    assert (made["customerName"], made["siteName"], made["currency"]) == ("Calder Property", "The mill", "GBP")
    assert [line["taxRateId"] for line in made["lines"]] == [None, tax, tax]
    assert (made["net"], made["tax"], made["total"]) == ("981.99", "196.40", "1178.39")
    assert (made["paid"], made["credited"], made["due"]) == ("0.00", "0.00", "1178.39")
    # The flue has no known cost, so what it brings is not in the margin.
    assert (made["cost"], made["margin"]) == ("700.00", "200.00")
    assert (made["uncostedLines"], made["uncostedNet"]) == (1, "81.99")
    assert (made["issuedOn"], made["sentAt"], made["eInvoice"], made["peppol"]) == (None, None, None, None)
    assert to_event_record(cast.perform(get_invoice, role, invoiceId=made["id"])) == to_event_record(made)
    assert operations_on(cast, made["id"]) == ["draft_invoice"]
    assert made["url"].endswith(f"/invoices/{made['id']}")
    assert made["availableActions"] == ["update_invoice", "delete_draft_invoice", "send_invoice"]


def test_an_event_tells_of_it_as_it_is(cast: Cast) -> None:
    made = make_invoice(cast)
    event = read_last_event(cast)
    assert event["type"] == "invoice.created"
    assert event["data"] == {"object": to_event_record(made), "previous": {}}


def test_for_a_job_it_is_for_its_customer_at_its_site_and_called_like_it(cast: Cast) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, siteId=make_site(cast, customer))
    made = cast.perform(draft_invoice, Role.OFFICE, jobId=job["number"], lines=[BOILER])
    assert (made["customerId"], made["siteId"], made["title"]) == (customer, job["siteId"], job["title"])
    assert (made["jobId"], made["jobNumber"]) == (job["id"], job["number"])
    assert cast.perform(draft_invoice, Role.OFFICE, jobId=job["id"], siteId=None)["siteId"] is None


def test_it_may_be_empty_at_first(cast: Cast) -> None:
    made = cast.perform(draft_invoice, Role.OFFICE, customerId=make_customer(cast))
    assert (made["lines"], made["total"], made["title"]) == ([], "0.00", None)


def test_the_organisation_s_notes_stand_below_it_unless_it_says_otherwise(cast: Cast) -> None:
    set_organisation_columns(cast, invoice_notes="Ours.")
    assert make_invoice(cast)["notes"] == "Ours."
    assert make_invoice(cast, notes="Another's.")["notes"] == "Another's."
    assert make_invoice(cast, notes=None)["notes"] is None


def test_an_item_of_the_price_list_fills_in_its_line(cast: Cast) -> None:
    item = cast.perform(save_price_item, code="BLR", name="Boiler", sellPrice="890", costPrice="600", unit="pcs")
    (line,) = make_invoice(cast, lines=[{"itemId": "blr", "quantity": "2"}])["lines"]
    assert (line["description"], line["unit"], line["amount"]) == ("Boiler", "pcs", "1780.00")
    assert (line["itemId"], line["cost"], line["source"]) == (item["id"], "600.00", None)


def test_prices_are_with_tax_where_the_organisation_s_are(cast: Cast) -> None:
    make_default_tax_rate(cast)
    cast.perform(update_settings, pricesIncludeTax=True)
    made = make_invoice(cast, lines=[BOILER])
    assert (made["pricesIncludeTax"], made["net"], made["tax"], made["total"]) == (
        True,
        "833.33",
        "166.67",
        "1000.00",
    )


def test_the_same_request_again_answers_with_the_same_draft(cast: Cast) -> None:
    customer = make_customer(cast)
    request = RequestDetails("req_1", idempotency_key="once")
    first, second = (
        cast.answer(draft_invoice, Role.OFFICE, request=request, customerId=customer, lines=[BOILER]).body
        for _ in range(2)
    )
    assert first == second
    assert operations_on(cast, cast.perform(get_invoice, invoiceId=_parse_id(first))["id"]) == ["draft_invoice"]


def _parse_id(body: bytes) -> str:
    return body.decode().partition('"id":"')[2].partition('"')[0]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "customerId"),
        ({"part": {"percent": "10"}}, "part"),
        ({"quoteLines": ["line_1"]}, "quoteLines"),
        ({"lines": [{"description": "x"}]}, "lines.0.unitPrice"),
        ({"lines": [{"unitPrice": "1"}]}, "lines.0.description"),
        ({"lines": [BOILER | {"optional": True}]}, "lines.0.optional"),
        ({"lines": [BOILER | {"unitPrice": "1e3"}]}, "lines.0.unitPrice"),
        ({"lines": [BOILER | {"taxRateId": "tax_1"}]}, "lines.0.taxRateId"),
        ({"lines": [BOILER] * 201}, "lines"),
        ({"lines": [{"description": "x", "unitPrice": "900000000000", "quantity": "9000000"}]}, "lines.0"),
        ({"discount": {"percent": "10", "amount": "1"}}, "discount"),
        ({"discount": {"amount": "0.005"}}, "discount.amount"),
        ({"dueOn": "31.1.2031"}, "dueOn"),
        ({"unbilled": True}, "jobId"),
        ({"sources": ["entry_1"]}, "jobId"),
        ({"unbilled": True, "sources": []}, "sources"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_told_by_its_field(cast: Cast, given: dict[str, object], field: str) -> None:
    named = {} if field == "customerId" else {"customerId": make_customer(cast)}
    with pytest.raises(Invalid) as refusal:
        cast.perform(draft_invoice, Role.OFFICE, **named, **given)
    assert field in [fault.field for fault in refusal.value.faults]


# Amounts at every border: in what cannot be reckoned with, nobody gets an answer that is wrong.
@pytest.mark.parametrize(
    ("price", "total"),
    [
        ("0", "0.00"),
        ("0.005", "0.01"),
        ("0.0049", "0.00"),
        ("-0.005", "-0.01"),
        ("-1", "-1.00"),
        ("100000000000", "100000000000.00"),
        ("900000000000", "900000000000.00"),
    ],
)
def test_amounts_at_the_borders_come_to_what_they_are(cast: Cast, price: str, total: str) -> None:
    assert make_invoice(cast, lines=[{"description": "x", "unitPrice": price}])["total"] == total


@pytest.mark.parametrize(
    "price", ["1000000000000", "9999999999999", "NaN", "Infinity", "1E3", "0.00001", "", "x", "1,5"]
)
def test_amounts_beyond_the_borders_are_refused_by_their_field(cast: Cast, price: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_invoice(cast, lines=[{"description": "x", "unitPrice": price}])
    assert [fault.field for fault in refusal.value.faults] == ["lines.0.unitPrice"]


def test_what_belongs_to_another_customer_is_refused(cast: Cast) -> None:
    mine, theirs = make_customer(cast), make_customer(cast, "Ryburn")
    job, quote = make_job(cast, theirs), make_accepted_quote(cast)
    with pytest.raises(Invalid) as refusal:
        cast.perform(draft_invoice, Role.OFFICE, customerId=mine, jobId=job["id"], quoteId=quote["id"])
    assert [fault.field for fault in refusal.value.faults] == ["quoteId", "jobId"]
    with pytest.raises(Invalid, match="belongs to another customer"):
        cast.perform(draft_invoice, Role.OFFICE, customerId=mine, siteId=make_site(cast, theirs))


def test_only_an_accepted_quote_is_billed(cast: Cast) -> None:
    quote = sent_quote(cast, make_quote(cast))
    with pytest.raises(Blocked, match=r"^Q-0001 has not been accepted, so it can't be invoiced\.") as refusal:
        make_invoice(cast, quoteId=quote["id"])
    assert [reason.first for reason in refusal.value.reasons] == ["record_quote_decision"]


def test_for_an_archived_customer_there_is_no_draft(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    with pytest.raises(Conflict, match="archived"):
        make_invoice(cast, customerId=customer)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_draft_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(draft_invoice, role, customerId=make_customer(cast))


def test_not_while_lapsed(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.lapse()
    with pytest.raises(Lapsed):
        cast.perform(draft_invoice, Role.OFFICE, customerId=customer)


def test_what_is_another_organisation_s_is_not_there(cast: Cast, other_cast: Cast) -> None:
    theirs = make_customer(other_cast)
    foreign: list[dict[str, object]] = [
        {"customerId": theirs},
        {"jobId": make_job(other_cast, theirs)["id"]},
        {"quoteId": make_accepted_quote(other_cast)["id"]},
        {"customerId": make_customer(cast), "siteId": make_site(other_cast, theirs)},
        {"customerId": new_id("customer")},
    ]
    for given in foreign:
        with pytest.raises(NotFound):
            cast.perform(draft_invoice, Role.OFFICE, **given)


def test_no_money_is_without_tax_where_there_is_a_usual_one_and_none_is_named(cast: Cast) -> None:
    make_default_tax_rate(cast)
    cast.perform(update_organisation, currency="JPY")
    made = make_invoice(cast, lines=[BOILER, BOILER | {"taxRateId": None}])
    assert (made["net"], made["tax"], made["total"], made["currency"]) == ("2000", "200", "2200", "JPY")


def test_more_lines_than_an_invoice_may_have_are_refused_with_a_way_out(cast: Cast) -> None:
    quote = make_accepted_quote(cast, *[FLUE] * 150)
    message = r"^lines: would be more than 200: invoice a part of the work, such as up to a date, send `sources` or"
    " `until`$"
    with pytest.raises(Invalid, match=message):
        make_invoice(cast, quoteId=quote["id"], lines=[BOILER] * 51)
    assert len(make_invoice(cast, quoteId=quote["id"], lines=[BOILER] * 50)["lines"]) == 200
