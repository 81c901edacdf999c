from decimal import Decimal
from typing import Any

import pytest

from mainstay.business.invoices.issuing.crediting import credit_invoice, get_credit_note, list_credit_notes
from mainstay.business.invoices.payments.recording import get_payment
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import list_task_kinds, make_customer
from support.hours import cast_at as at_noon
from support.hours import set_organisation_columns
from support.invoices import (
    BOILER,
    FLUE,
    credit_issued,
    credit_notes_of,
    issue_invoice,
    make_invoice,
    pay_invoice,
    reread_invoice,
    sum_amounts,
    void_issued,
)
from support.quotes import make_default_tax_rate
from support.recorded_statements import count_reads
from support.stored_state import operations_on, read_last_event, to_event_record, waiting_emails

SUMS = ("net", "tax", "total")


def preview_credit(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(credit_invoice, Role.OFFICE, invoiceId=invoice["id"], reason="Returned", **given)


def fetch_credit_note(cast: Cast, note: dict[str, Any]) -> dict[str, Any]:
    return cast.perform(get_credit_note, Role.OFFICE, creditNoteId=note["id"])


def issue_taxed_invoice(cast: Cast, **given: object) -> dict[str, Any]:
    """Issue an invoice with two rates, a discount and a heading without a price."""
    make_default_tax_rate(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    heading = {"kind": "heading", "description": "Heating"}
    lines = [heading, BOILER, FLUE | {"taxRateId": low}, FLUE | {"discountPercent": "7.5"}]
    return issue_invoice(cast, make_invoice(cast, lines=lines, **{"discount": {"percent": "3.33"}, **given}))


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_all_of_it_is_mirrored_exactly(cast: Cast, role: Role) -> None:
    sent = issue_taxed_invoice(cast)
    after = cast.perform(credit_invoice, role, invoiceId="inv-0001", reason="Returned", deliver="none", confirmed=True)
    assert (after["status"], after["credited"], after["due"]) == ("credited", sent["total"], "0.00")
    assert after["availableActions"] == []
    (listed,) = credit_notes_of(cast, sent)
    note = fetch_credit_note(cast, listed)
    mirrored = ("lines", "taxes", "discount", "currency", "pricesIncludeTax", "customerId", "cost", *SUMS)
    assert {name: note[name] for name in mirrored} == {name: sent[name] for name in mirrored}
    assert (note["number"], note["invoiceNumber"], note["reason"]) == ("CN-0001", "INV-0001", "Returned")
    assert note["url"].endswith(f"/credit-notes/{note['id']}")
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("invoice.credited", to_event_record(after))
    assert operations_on(cast, sent["id"])[-1] == "credit_invoice"
    assert list_task_kinds(cast).count("print") == 2


def test_credit_notes_have_numbers_of_their_own_without_gaps(cast: Cast) -> None:
    for number in (1, 2):
        sent = issue_invoice(cast)
        preview_credit(cast, sent)
        credit_issued(cast, sent)
        assert credit_notes_of(cast, sent)[0]["number"] == f"CN-000{number}"


def test_a_preview_credits_nothing_and_says_what_would_happen(cast: Cast) -> None:
    sent = issue_invoice(cast)
    preview = preview_credit(cast, sent)
    assert preview["summary"] == "CN-0001 will credit 1000.00 GBP of INV-0001 New heating to Calder Property."
    assert any(effect.startswith("Email to ann@calder.example: Credit note CN-0001") for effect in preview["effects"])
    assert to_event_record(reread_invoice(cast, sent)) == to_event_record(sent)
    assert (credit_notes_of(cast, sent), waiting_emails(cast)) == ([], [])


def test_some_of_it_by_an_amount_is_shared_out_over_its_taxes(cast: Cast) -> None:
    sent = issue_taxed_invoice(cast)
    after = credit_issued(cast, sent, amount="100")
    assert (after["status"], after["credited"]) == ("sent", "100.00")
    assert sum_amounts(after["due"], "100.00") == sent["total"]
    note = fetch_credit_note(cast, credit_notes_of(cast, sent)[0])
    assert (note["total"], [tax["percent"] for tax in note["taxes"]]) == ("100.00", ["20.00", "5.00"])
    assert note["pricesIncludeTax"]
    assert {line["description"] for line in note["lines"]} == {"Invoice INV-0001"}


def test_some_of_it_by_lines_with_what_was_taken_off_them(cast: Cast) -> None:
    sent = issue_invoice(cast, make_invoice(cast, lines=[BOILER, FLUE], discount={"amount": "109.11"}))
    flue = sent["lines"][1]["id"]
    credit_issued(cast, sent, lines=[{"lineId": flue, "quantity": "1"}])
    note = fetch_credit_note(cast, credit_notes_of(cast, sent)[0])
    assert [(line["id"], line["quantity"], line["amount"]) for line in note["lines"]] == [(flue, "1.00", "45.55")]
    assert (note["discount"], note["net"]) == ({"percent": None, "amount": "4.56"}, "40.99")


def test_what_is_left_of_a_line_is_credited_where_nothing_else_is_said(cast: Cast) -> None:
    sent = issue_invoice(cast, make_invoice(cast, lines=[BOILER, FLUE | {"quantity": "5"}]))
    flue = sent["lines"][1]["id"]
    credit_issued(cast, sent, lines=[{"lineId": flue, "quantity": "2"}])
    credit_issued(cast, sent, lines=[{"lineId": flue}])
    assert fetch_credit_note(cast, credit_notes_of(cast, sent)[1])["lines"][0]["quantity"] == "3.00"
    with pytest.raises(Invalid, match=r"^lines\.0\.quantity: is not possible: 0\.00 of this line is left to credit$"):
        credit_issued(cast, sent, lines=[{"lineId": flue}])


@pytest.mark.parametrize("inclusive", [False, True])
def test_parts_and_the_rest_are_the_whole_to_the_cent(cast: Cast, *, inclusive: bool) -> None:
    set_organisation_columns(cast, prices_include_tax=int(inclusive))
    sent = issue_taxed_invoice(cast)
    lines = [line["id"] for line in sent["lines"] if line["kind"] == "item"]
    credit_issued(cast, sent, amount="33.33")
    credit_issued(cast, sent, lines=[{"lineId": lines[1], "quantity": "1"}])
    credit_issued(cast, sent, amount="0.01")
    after = credit_issued(cast, sent)
    assert (after["status"], after["credited"]) == ("credited", sent["total"])
    notes = [fetch_credit_note(cast, note) for note in credit_notes_of(cast, sent)]
    for name in SUMS:
        assert sum_amounts(*[note[name] for note in notes]) == sent[name]
    for tax in sent["taxes"]:
        of_rate = [one for note in notes for one in note["taxes"] if one["taxRateId"] == tax["taxRateId"]]
        assert sum_amounts(*[one["net"] for one in of_rate]) == tax["net"]
        assert sum_amounts(*[one["amount"] for one in of_rate]) == tax["amount"]


def test_all_lines_one_after_the_other_are_the_whole(cast: Cast) -> None:
    sent = issue_taxed_invoice(cast)
    lines = [line["id"] for line in sent["lines"] if line["kind"] == "item"]
    for line in lines:
        after = credit_issued(cast, sent, lines=[{"lineId": line}])
    assert (after["status"], after["credited"]) == ("credited", sent["total"])


def test_lines_that_come_to_all_that_is_left_are_all_of_it(cast: Cast) -> None:
    make_default_tax_rate(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    # The second and the third come to nothing together, though not at each rate.
    lines = [BOILER, {"description": "x", "unitPrice": "10.50", "taxRateId": None}]
    lines.append({"description": "y", "unitPrice": "-10", "taxRateId": low})
    sent = issue_invoice(cast, make_invoice(cast, lines=lines))
    after = credit_issued(cast, sent, lines=[{"lineId": sent["lines"][0]["id"]}])
    assert (after["status"], after["credited"]) == ("credited", sent["total"])
    assert fetch_credit_note(cast, credit_notes_of(cast, sent)[0])["taxes"] == sent["taxes"]


def test_what_was_credited_before_is_read_at_once(cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, lines=[FLUE | {"quantity": "9"}]))
    [line] = invoice["lines"]
    one_more = {"lines": [{"lineId": line["id"], "quantity": "1"}]}

    def read() -> int:
        return count_reads(cast, "credit_note", lambda watched: preview_credit(watched, invoice, **one_more))

    credit_issued(cast, invoice, **one_more)
    first = read()
    for _ in range(3):
        credit_issued(cast, invoice, **one_more)
    assert read() == first


def test_all_of_an_amount_is_all_of_it(cast: Cast) -> None:
    sent = issue_taxed_invoice(cast)
    credit_issued(cast, sent, amount=sent["total"])
    assert fetch_credit_note(cast, credit_notes_of(cast, sent)[0])["lines"] == sent["lines"]


@pytest.mark.parametrize("amount", ["0", "1000.01", "0.001", "-1", "1e2", "900000000000"])
def test_no_amount_is_more_than_what_is_left_nor_nothing(cast: Cast, amount: str) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Invalid, match=r"^amount: "):
        credit_issued(cast, sent, amount=amount)
    credit_issued(cast, sent, amount="400")
    with pytest.raises(Invalid, match=r"^amount: is more than the 600\.00 GBP left to credit on INV-0001$"):
        credit_issued(cast, sent, amount="600.01")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"lineId": "line_1"}, "lineId: is not a line with a price on this invoice, the lines with a price are line_"),
        ({"quantity": "2.0001"}, "quantity: is not possible: 2.00 of this line is left to credit"),
        ({"quantity": "0"}, "quantity: is not possible: 2.00 of this line is left to credit"),
        ({"quantity": "-1"}, "quantity: is not possible: 2.00 of this line is left to credit"),
    ],
)
def test_no_line_is_credited_beyond_what_it_says(cast: Cast, wrong: dict[str, str], told: str) -> None:
    sent = issue_invoice(cast, make_invoice(cast, lines=[BOILER, FLUE]))
    with pytest.raises(Invalid) as refusal:
        credit_issued(cast, sent, lines=[{"lineId": sent["lines"][1]["id"], **wrong}])
    assert refusal.value.text.startswith(f"lines.0.{told}")


def test_lines_and_an_amount_or_a_line_twice_are_refused(cast: Cast) -> None:
    sent = issue_invoice(cast)
    line = {"lineId": sent["lines"][0]["id"], "quantity": "0.1"}
    with pytest.raises(Invalid, match=r"^amount: can't be combined with lines"):
        credit_issued(cast, sent, lines=[line], amount="1")
    with pytest.raises(Invalid, match=r"^lines\.1\.lineId: is listed twice$"):
        credit_issued(cast, sent, lines=[line, line])
    with pytest.raises(Invalid, match=r"^lines: must add up to more than zero$"):
        credit_issued(cast, sent, lines=[])


def test_lines_after_an_amount_are_no_more_than_what_is_left(cast: Cast) -> None:
    sent = issue_invoice(cast, make_invoice(cast, lines=[BOILER, FLUE]))
    credit_issued(cast, sent, amount="1000")
    with pytest.raises(Invalid, match=r"^lines: add up to 1000\.00 GBP, but 91\.10 GBP is left to credit on INV-0001$"):
        credit_issued(cast, sent, lines=[{"lineId": sent["lines"][0]["id"]}])


def issue_at_two_rates(cast: Cast, *more: dict[str, object]) -> dict[str, Any]:
    """Issue an invoice of 100 at 20 %, 100 without tax, and more lines."""
    make_default_tax_rate(cast)
    fee = {"description": "Fee", "unitPrice": "100", "taxRateId": None}
    return issue_invoice(cast, make_invoice(cast, lines=[{"description": "Boiler", "unitPrice": "100"}, fee, *more]))


def remaining_nets(cast: Cast, sent: dict[str, Any]) -> list[Decimal]:
    """Return the net amounts of an invoice that are not credited yet, one for each rate."""
    notes = [fetch_credit_note(cast, note) for note in credit_notes_of(cast, sent)]
    credited_nets = [(tax["taxRateId"], Decimal(tax["net"])) for note in notes for tax in note["taxes"]]
    return [
        Decimal(tax["net"]) - sum(net for rate, net in credited_nets if rate == tax["taxRateId"])
        for tax in sent["taxes"]
    ]


def test_lines_after_an_amount_are_no_more_than_what_is_left_at_their_rate(cast: Cast) -> None:
    sent = issue_at_two_rates(cast)
    credit_issued(cast, sent, amount="110")
    boiler, fee = ({"lineId": line["id"]} for line in sent["lines"])
    with pytest.raises(Invalid) as refusal:
        credit_issued(cast, sent, lines=[fee])
    message = (
        "lines: add up to 100.00 GBP at no tax, but 50.00 GBP is left to credit at that rate: credit fewer lines, or an"
        " amount"
    )
    assert refusal.value.text == message
    with pytest.raises(
        Invalid, match=r"add up to 72\.00 GBP at VAT 20 %, but 60\.00 GBP is left to credit at that rate"
    ):
        credit_issued(cast, sent, lines=[boiler | {"quantity": "0.6"}])
    credit_issued(cast, sent, lines=[fee | {"quantity": "0.5"}])
    assert remaining_nets(cast, sent) == [50, 0]
    credit_issued(cast, sent, amount="20")
    assert remaining_nets(cast, sent) == [Decimal("33.33"), 0]
    assert credit_issued(cast, sent)["status"] == "credited"


def test_an_amount_is_shared_out_by_what_is_left_with_its_sign(cast: Cast) -> None:
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    sent = issue_at_two_rates(cast, {"description": "Returned before", "unitPrice": "-20", "taxRateId": low})
    credit_issued(cast, sent, amount="110")
    assert remaining_nets(cast, sent) == [Decimal("44.72"), Decimal("44.73"), Decimal("-8.95")]
    credit_issued(cast, sent)
    assert remaining_nets(cast, sent) == [0, 0, 0]


def test_what_takes_off_at_the_same_rate_can_stay_behind(cast: Cast) -> None:
    sent = issue_at_two_rates(cast, {"description": "Goodwill", "unitPrice": "-40", "taxRateId": None})
    credit_issued(cast, sent, amount="18")
    assert remaining_nets(cast, sent) == [Decimal(90), Decimal(54)]
    # Of the fee, 94 is left: the goodwill takes 40 off that.
    with pytest.raises(Invalid, match=r"add up to 95\.00 GBP at no tax, but 94\.00 GBP is left to credit at that rate"):
        credit_issued(cast, sent, lines=[{"lineId": sent["lines"][1]["id"], "quantity": "0.95"}])
    credit_issued(cast, sent, lines=[{"lineId": sent["lines"][1]["id"], "quantity": "0.94"}])
    assert remaining_nets(cast, sent) == [90, -40]
    credit_issued(cast, sent)
    assert remaining_nets(cast, sent) == [0, 0]


def test_what_was_paid_beyond_what_is_left_stays_on_account(cast: Cast) -> None:
    sent = issue_invoice(cast)
    first, second = pay_invoice(cast, sent, "600"), pay_invoice(cast, sent, "400")
    assert (
        "500.00 GBP that was paid will stay on account for Calder Property."
        in preview_credit(cast, sent, amount="500")["effects"]
    )
    after = credit_issued(cast, sent, amount="500")
    assert (after["status"], after["paid"], after["credited"], after["due"]) == ("paid", "500.00", "500.00", "0.00")
    # The newest is let go first.
    kept = [cast.perform(get_payment, paymentId=one["id"]) for one in (first, second)]
    assert [(one["unallocated"], [part["amount"] for part in one["allocations"]]) for one in kept] == [
        ("100.00", ["500.00"]),
        ("400.00", []),
    ]
    after = credit_issued(cast, sent)
    assert (after["status"], after["paid"], after["credited"]) == ("credited", "0.00", "1000.00")
    assert cast.perform(get_payment, paymentId=first["id"])["unallocated"] == "600.00"


def test_a_penny_that_was_paid_too_much_stays_on_account(cast: Cast) -> None:
    sent = issue_invoice(cast)
    payment = pay_invoice(cast, sent)
    credit_issued(cast, sent, amount="0.01")
    after = cast.perform(get_payment, paymentId=payment["id"])
    assert (after["unallocated"], after["allocations"][0]["amount"]) == ("0.01", "999.99")


def test_of_what_is_paid_in_part_only_what_is_too_much_is_let_go(cast: Cast) -> None:
    sent = issue_invoice(cast)
    payment = pay_invoice(cast, sent, "600")
    assert credit_issued(cast, sent, amount="300")["due"] == "100.00"
    after = credit_issued(cast, sent, amount="200")
    assert (after["status"], after["paid"], after["due"]) == ("paid", "500.00", "0.00")
    assert cast.perform(get_payment, paymentId=payment["id"])["unallocated"] == "100.00"


def test_what_was_never_issued_or_is_over_is_not_credited(cast: Cast) -> None:
    for over, expected in [
        (make_invoice(cast), r"^This is a draft\. Edit or delete it instead\.$"),
        (void_issued(cast, issue_invoice(cast)), r"^INV-0001 is void, so there's nothing to credit\.$"),
        (credit_issued(cast, issue_invoice(cast)), r"^INV-0002 is already credited in full\.$"),
        (
            issue_invoice(cast, make_invoice(cast, lines=[BOILER | {"unitPrice": "0"}])),
            r"^The total of INV-0003 is zero\. Void it",
        ),
    ]:
        with pytest.raises(Blocked, match=expected):
            credit_issued(cast, over)


def test_not_on_a_day_of_closed_books_but_after_them(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    set_organisation_columns(cast, books_closed_until="2026-11-16")
    with pytest.raises(Blocked, match=r"^The books are closed up to 2026-11-16"):
        credit_issued(noon, sent)
    set_organisation_columns(cast, books_closed_until="2026-11-15")
    assert credit_issued(noon, sent)["status"] == "credited"


def test_it_is_mailed_in_the_language_of_the_invoice(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr", country="DE")
    customer = make_customer(cast, "Müller", email="m@mueller.example", language="de")
    sent = issue_invoice(cast, make_invoice(cast, customerId=customer))
    credit_issued(cast, sent, amount="100", deliver="email")
    [mail] = waiting_emails(cast)
    (note,) = credit_notes_of(cast, sent)
    assert mail["subject"] == "Rechnungskorrektur CN-0001 zur Rechnung INV-0001 von Rohr"
    assert (mail["paper"], mail["paper_name"]) == (note["id"], "Rechnungskorrektur CN-0001.pdf")
    # Its page is the invoice's.
    assert (mail["link_kind"], mail["link"]) == ("invoice", sent["id"])
    assert "100,00" in mail["text"]
    assert "INV-0001" in mail["text"]
    nobody = issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast)))
    with pytest.raises(Blocked, match=r"^Calder Property has no email address\."):
        credit_issued(cast, nobody, deliver="email")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_credit_and_see_none(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    credit_issued(cast, sent, amount="1")
    (note,) = credit_notes_of(cast, sent)
    acts: list[tuple[Any, dict[str, object]]] = [
        (credit_invoice, {"invoiceId": sent["id"], "reason": "x", "confirmed": True}),
        (list_credit_notes, {}),
        (get_credit_note, {"creditNoteId": note["id"]}),
    ]
    for operation, given in acts:
        with pytest.raises(Forbidden):
            cast.perform(operation, role, **given)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    sent = issue_invoice(cast)
    credit_issued(cast, sent, amount="1")
    (note,) = credit_notes_of(cast, sent)
    with pytest.raises(NotFound):
        credit_issued(other_cast, sent)
    with pytest.raises(NotFound):
        other_cast.perform(get_credit_note, creditNoteId=note["id"])
    with pytest.raises(NotFound):
        other_cast.perform(get_credit_note, creditNoteId="CN-0001")
    cast.lapse()
    with pytest.raises(Lapsed):
        credit_issued(cast, sent)
    assert cast.perform(get_credit_note, creditNoteId="cn-0001")["id"] == note["id"]
