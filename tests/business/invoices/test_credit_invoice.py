from decimal import Decimal
from typing import Any

import pytest

from billing import BOILER, FLUE, an_invoice, credited, issued, notes_of, now, paid, together, voided
from cast import Cast
from evidence import as_told, history, last_event, mails
from labour import at as at_noon
from labour import decide
from mainstay.business.invoices.crediting import credit_invoice, get_credit_note, list_credit_notes
from mainstay.business.invoices.paying import get_payment
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from quoting import usual_tax
from recording import readings
from trade import a_customer, left_to_do

SUMS = ("net", "tax", "total")


def previewed(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(credit_invoice, Role.OFFICE, invoiceId=invoice["id"], reason="Returned", **given)


def whole_note(cast: Cast, note: dict[str, Any]) -> dict[str, Any]:
    return cast.perform(get_credit_note, Role.OFFICE, creditNoteId=note["id"])


def taxed(cast: Cast, **given: object) -> dict[str, Any]:
    """An invoice with two rates, a discount and something that is told only."""
    usual_tax(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    heading = {"kind": "heading", "description": "Heating"}
    lines = [heading, BOILER, FLUE | {"taxRateId": low}, FLUE | {"discountPercent": "7.5"}]
    return issued(cast, an_invoice(cast, lines=lines, **{"discount": {"percent": "3.33"}, **given}))


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_all_of_it_is_mirrored_exactly(cast: Cast, role: Role) -> None:
    sent = taxed(cast)
    after = cast.perform(credit_invoice, role, invoiceId="inv-0001", reason="Returned", deliver="none", confirmed=True)
    assert (after["status"], after["credited"], after["due"]) == ("credited", sent["total"], "0.00")
    assert after["availableActions"] == []
    (listed,) = notes_of(cast, sent)
    note = whole_note(cast, listed)
    mirrored = ("lines", "taxes", "discount", "currency", "pricesIncludeTax", "customerId", "cost", *SUMS)
    assert {name: note[name] for name in mirrored} == {name: sent[name] for name in mirrored}
    assert (note["number"], note["invoiceNumber"], note["reason"]) == ("CN-0001", "INV-0001", "Returned")
    assert note["url"].endswith(f"/credit-notes/{note['id']}")
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("invoice.credited", as_told(after))
    assert history(cast, sent["id"])[-1] == "credit_invoice"
    assert left_to_do(cast).count("print") == 2


def test_credit_notes_have_numbers_of_their_own_without_gaps(cast: Cast) -> None:
    for number in (1, 2):
        sent = issued(cast)
        previewed(cast, sent)
        credited(cast, sent)
        assert notes_of(cast, sent)[0]["number"] == f"CN-000{number}"


def test_a_preview_credits_nothing_and_says_what_would_happen(cast: Cast) -> None:
    sent = issued(cast)
    preview = previewed(cast, sent)
    assert preview["summary"] == "CN-0001 credits 1000.00 GBP of INV-0001 New heating to Calder Property."
    assert any(
        effect.startswith("It is mailed to ann@calder.example: Credit note CN-0001") for effect in preview["effects"]
    )
    assert as_told(now(cast, sent)) == as_told(sent)
    assert (notes_of(cast, sent), mails(cast)) == ([], [])


def test_some_of_it_by_an_amount_is_shared_out_over_its_taxes(cast: Cast) -> None:
    sent = taxed(cast)
    after = credited(cast, sent, amount="100")
    assert (after["status"], after["credited"]) == ("sent", "100.00")
    assert together(after["due"], "100.00") == sent["total"]
    note = whole_note(cast, notes_of(cast, sent)[0])
    assert (note["total"], [tax["percent"] for tax in note["taxes"]]) == ("100.00", ["20.00", "5.00"])
    assert note["pricesIncludeTax"]
    assert {line["description"] for line in note["lines"]} == {"Invoice INV-0001"}


def test_some_of_it_by_lines_with_what_was_taken_off_them(cast: Cast) -> None:
    sent = issued(cast, an_invoice(cast, lines=[BOILER, FLUE], discount={"amount": "109.11"}))
    flue = sent["lines"][1]["id"]
    credited(cast, sent, lines=[{"lineId": flue, "quantity": "1"}])
    note = whole_note(cast, notes_of(cast, sent)[0])
    assert [(line["id"], line["quantity"], line["amount"]) for line in note["lines"]] == [(flue, "1.00", "45.55")]
    assert (note["discount"], note["net"]) == ({"percent": None, "amount": "4.56"}, "40.99")


def test_what_is_left_of_a_line_is_credited_where_nothing_else_is_said(cast: Cast) -> None:
    sent = issued(cast, an_invoice(cast, lines=[BOILER, FLUE | {"quantity": "5"}]))
    flue = sent["lines"][1]["id"]
    credited(cast, sent, lines=[{"lineId": flue, "quantity": "2"}])
    credited(cast, sent, lines=[{"lineId": flue}])
    assert whole_note(cast, notes_of(cast, sent)[1])["lines"][0]["quantity"] == "3.00"
    with pytest.raises(Invalid, match=r"^lines\.0\.quantity: is not among the 0\.00 that are left of it$"):
        credited(cast, sent, lines=[{"lineId": flue}])


@pytest.mark.parametrize("inclusive", [False, True])
def test_parts_and_the_rest_are_the_whole_to_the_cent(cast: Cast, *, inclusive: bool) -> None:
    decide(cast, prices_include_tax=int(inclusive))
    sent = taxed(cast)
    lines = [line["id"] for line in sent["lines"] if line["kind"] == "item"]
    credited(cast, sent, amount="33.33")
    credited(cast, sent, lines=[{"lineId": lines[1], "quantity": "1"}])
    credited(cast, sent, amount="0.01")
    after = credited(cast, sent)
    assert (after["status"], after["credited"]) == ("credited", sent["total"])
    notes = [whole_note(cast, note) for note in notes_of(cast, sent)]
    for name in SUMS:
        assert together(*[note[name] for note in notes]) == sent[name]
    for tax in sent["taxes"]:
        of_rate = [one for note in notes for one in note["taxes"] if one["taxRateId"] == tax["taxRateId"]]
        assert together(*[one["net"] for one in of_rate]) == tax["net"]
        assert together(*[one["amount"] for one in of_rate]) == tax["amount"]


def test_all_lines_one_after_the_other_are_the_whole(cast: Cast) -> None:
    sent = taxed(cast)
    lines = [line["id"] for line in sent["lines"] if line["kind"] == "item"]
    for line in lines:
        after = credited(cast, sent, lines=[{"lineId": line}])
    assert (after["status"], after["credited"]) == ("credited", sent["total"])


def test_lines_that_come_to_all_that_is_left_are_all_of_it(cast: Cast) -> None:
    usual_tax(cast)
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    # The second and the third come to nothing together, though not at each rate.
    lines = [BOILER, {"description": "x", "unitPrice": "10.50", "taxRateId": None}]
    lines.append({"description": "y", "unitPrice": "-10", "taxRateId": low})
    sent = issued(cast, an_invoice(cast, lines=lines))
    after = credited(cast, sent, lines=[{"lineId": sent["lines"][0]["id"]}])
    assert (after["status"], after["credited"]) == ("credited", sent["total"])
    assert whole_note(cast, notes_of(cast, sent)[0])["taxes"] == sent["taxes"]


def test_what_was_credited_before_is_read_at_once(cast: Cast) -> None:
    invoice = issued(cast, an_invoice(cast, lines=[FLUE | {"quantity": "9"}]))
    [line] = invoice["lines"]
    one_more = {"lines": [{"lineId": line["id"], "quantity": "1"}]}

    def read() -> int:
        return readings(cast, "credit_note", lambda watched: previewed(watched, invoice, **one_more))

    credited(cast, invoice, **one_more)
    first = read()
    for _ in range(3):
        credited(cast, invoice, **one_more)
    assert read() == first


def test_all_of_an_amount_is_all_of_it(cast: Cast) -> None:
    sent = taxed(cast)
    credited(cast, sent, amount=sent["total"])
    assert whole_note(cast, notes_of(cast, sent)[0])["lines"] == sent["lines"]


@pytest.mark.parametrize("amount", ["0", "1000.01", "0.001", "-1", "1e2", "900000000000"])
def test_no_amount_is_more_than_what_is_left_nor_nothing(cast: Cast, amount: str) -> None:
    sent = issued(cast)
    with pytest.raises(Invalid, match=r"^amount: "):
        credited(cast, sent, amount=amount)
    credited(cast, sent, amount="400")
    with pytest.raises(Invalid, match=r"^amount: is not between nothing and the 600\.00 that is left of INV-0001$"):
        credited(cast, sent, amount="600.01")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"lineId": "line_1"}, "lineId: is no line of it that costs something, there are: line_"),
        ({"quantity": "2.0001"}, "quantity: is not among the 2.00 that are left of it"),
        ({"quantity": "0"}, "quantity: is not among the 2.00 that are left of it"),
        ({"quantity": "-1"}, "quantity: is not among the 2.00 that are left of it"),
    ],
)
def test_no_line_is_credited_beyond_what_it_says(cast: Cast, wrong: dict[str, str], told: str) -> None:
    sent = issued(cast, an_invoice(cast, lines=[BOILER, FLUE]))
    with pytest.raises(Invalid) as refusal:
        credited(cast, sent, lines=[{"lineId": sent["lines"][1]["id"], **wrong}])
    assert refusal.value.text.startswith(f"lines.0.{told}")


def test_lines_and_an_amount_or_a_line_twice_are_refused(cast: Cast) -> None:
    sent = issued(cast)
    line = {"lineId": sent["lines"][0]["id"], "quantity": "0.1"}
    with pytest.raises(Invalid, match=r"^amount: is not sent with lines"):
        credited(cast, sent, lines=[line], amount="1")
    with pytest.raises(Invalid, match=r"^lines\.1\.lineId: is named twice$"):
        credited(cast, sent, lines=[line, line])
    with pytest.raises(Invalid, match=r"^lines: come to 0\.00"):
        credited(cast, sent, lines=[])


def test_lines_after_an_amount_are_no_more_than_what_is_left(cast: Cast) -> None:
    sent = issued(cast, an_invoice(cast, lines=[BOILER, FLUE]))
    credited(cast, sent, amount="1000")
    with pytest.raises(Invalid, match=r"^lines: come to 1000\.00, and 91\.10 is left of INV-0001$"):
        credited(cast, sent, lines=[{"lineId": sent["lines"][0]["id"]}])


def at_two_rates(cast: Cast, *more: dict[str, object]) -> dict[str, Any]:
    """An invoice of 100 at 20 % and 100 without tax, and more."""
    usual_tax(cast)
    fee = {"description": "Fee", "unitPrice": "100", "taxRateId": None}
    return issued(cast, an_invoice(cast, lines=[{"description": "Boiler", "unitPrice": "100"}, fee, *more]))


def left_at_rates(cast: Cast, sent: dict[str, Any]) -> list[Decimal]:
    """What is left of an invoice at each of its rates, net."""
    notes = [whole_note(cast, note) for note in notes_of(cast, sent)]
    gone = [(tax["taxRateId"], Decimal(tax["net"])) for note in notes for tax in note["taxes"]]
    return [Decimal(tax["net"]) - sum(net for rate, net in gone if rate == tax["taxRateId"]) for tax in sent["taxes"]]


def test_lines_after_an_amount_are_no_more_than_what_is_left_at_their_rate(cast: Cast) -> None:
    sent = at_two_rates(cast)
    credited(cast, sent, amount="110")
    boiler, fee = ({"lineId": line["id"]} for line in sent["lines"])
    with pytest.raises(Invalid) as refusal:
        credited(cast, sent, lines=[fee])
    told = "lines: come to 100.00 at no tax, of which 50.00 is left in INV-0001, credit fewer of them, or an amount"
    assert refusal.value.text == told
    with pytest.raises(Invalid, match=r"come to 72\.00 at VAT 20 %, of which 60\.00 is left"):
        credited(cast, sent, lines=[boiler | {"quantity": "0.6"}])
    credited(cast, sent, lines=[fee | {"quantity": "0.5"}])
    assert left_at_rates(cast, sent) == [50, 0]
    credited(cast, sent, amount="20")
    assert left_at_rates(cast, sent) == [Decimal("33.33"), 0]
    assert credited(cast, sent)["status"] == "credited"


def test_an_amount_is_shared_out_by_what_is_left_with_its_sign(cast: Cast) -> None:
    low = cast.perform(save_tax_rate, name="Low", components=[{"name": "VAT", "percent": "5"}])["id"]
    sent = at_two_rates(cast, {"description": "Returned before", "unitPrice": "-20", "taxRateId": low})
    credited(cast, sent, amount="110")
    assert left_at_rates(cast, sent) == [Decimal("44.72"), Decimal("44.73"), Decimal("-8.95")]
    credited(cast, sent)
    assert left_at_rates(cast, sent) == [0, 0, 0]


def test_what_takes_off_at_the_same_rate_can_stay_behind(cast: Cast) -> None:
    sent = at_two_rates(cast, {"description": "Goodwill", "unitPrice": "-40", "taxRateId": None})
    credited(cast, sent, amount="18")
    assert left_at_rates(cast, sent) == [Decimal(90), Decimal(54)]
    # Of the fee, 94 is left: the goodwill takes 40 off that.
    with pytest.raises(Invalid, match=r"come to 95\.00 at no tax, of which 94\.00 is left"):
        credited(cast, sent, lines=[{"lineId": sent["lines"][1]["id"], "quantity": "0.95"}])
    credited(cast, sent, lines=[{"lineId": sent["lines"][1]["id"], "quantity": "0.94"}])
    assert left_at_rates(cast, sent) == [90, -40]
    credited(cast, sent)
    assert left_at_rates(cast, sent) == [0, 0]


def test_what_was_paid_beyond_what_is_left_stays_on_account(cast: Cast) -> None:
    sent = issued(cast)
    first, second = paid(cast, sent, "600"), paid(cast, sent, "400")
    assert (
        "500.00 GBP that was paid stays on the account of Calder Property."
        in previewed(cast, sent, amount="500")["effects"]
    )
    after = credited(cast, sent, amount="500")
    assert (after["status"], after["paid"], after["credited"], after["due"]) == ("paid", "500.00", "500.00", "0.00")
    # The newest is let go first.
    kept = [cast.perform(get_payment, paymentId=one["id"]) for one in (first, second)]
    assert [(one["unallocated"], [part["amount"] for part in one["allocations"]]) for one in kept] == [
        ("100.00", ["500.00"]),
        ("400.00", []),
    ]
    after = credited(cast, sent)
    assert (after["status"], after["paid"], after["credited"]) == ("credited", "0.00", "1000.00")
    assert cast.perform(get_payment, paymentId=first["id"])["unallocated"] == "600.00"


def test_of_what_is_paid_in_part_only_what_is_too_much_is_let_go(cast: Cast) -> None:
    sent = issued(cast)
    payment = paid(cast, sent, "600")
    assert credited(cast, sent, amount="300")["due"] == "100.00"
    after = credited(cast, sent, amount="200")
    assert (after["status"], after["paid"], after["due"]) == ("paid", "500.00", "0.00")
    assert cast.perform(get_payment, paymentId=payment["id"])["unallocated"] == "100.00"


def test_what_was_never_issued_or_is_over_is_not_credited(cast: Cast) -> None:
    for over, told in [
        (an_invoice(cast), r"^A draft was never issued\. Change or delete it instead\.$"),
        (voided(cast, issued(cast)), r"^INV-0001 is void, so there is nothing to credit\.$"),
        (credited(cast, issued(cast)), r"^INV-0002 is credited already\.$"),
        (issued(cast, an_invoice(cast, lines=[BOILER | {"unitPrice": "0"}])), r"^INV-0003 comes to nothing\. Void it"),
    ]:
        with pytest.raises(Blocked, match=told):
            credited(cast, over)


def test_not_on_a_day_of_closed_books_but_after_them(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issued(noon)
    decide(cast, books_closed_until="2026-11-16")
    with pytest.raises(Blocked, match=r"^The books are closed until 2026-11-16"):
        credited(noon, sent)
    decide(cast, books_closed_until="2026-11-15")
    assert credited(noon, sent)["status"] == "credited"


def test_it_is_mailed_in_the_language_of_the_invoice(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr", country="DE")
    customer = a_customer(cast, "Müller", email="m@mueller.example", language="de")
    sent = issued(cast, an_invoice(cast, customerId=customer))
    credited(cast, sent, amount="100", deliver="email")
    [letter] = mails(cast)
    (note,) = notes_of(cast, sent)
    assert letter["subject"] == "Rechnungskorrektur CN-0001 zur Rechnung INV-0001 von Rohr"
    assert (letter["paper"], letter["paper_name"]) == (note["id"], "Rechnungskorrektur CN-0001.pdf")
    # Its page is the invoice's.
    assert (letter["link_kind"], letter["link"]) == ("invoice", sent["id"])
    assert "100,00" in letter["text"]
    assert "INV-0001" in letter["text"]
    nobody = issued(cast, an_invoice(cast, customerId=a_customer(cast)))
    with pytest.raises(Blocked, match=r"^There is no address to mail it to\."):
        credited(cast, nobody, deliver="email")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_credit_and_see_none(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    credited(cast, sent, amount="1")
    (note,) = notes_of(cast, sent)
    acts: list[tuple[Any, dict[str, object]]] = [
        (credit_invoice, {"invoiceId": sent["id"], "reason": "x", "confirmed": True}),
        (list_credit_notes, {}),
        (get_credit_note, {"creditNoteId": note["id"]}),
    ]
    for operation, given in acts:
        with pytest.raises(Forbidden):
            cast.perform(operation, role, **given)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    sent = issued(cast)
    credited(cast, sent, amount="1")
    (note,) = notes_of(cast, sent)
    with pytest.raises(NotFound):
        credited(stranger, sent)
    with pytest.raises(NotFound):
        stranger.perform(get_credit_note, creditNoteId=note["id"])
    with pytest.raises(NotFound):
        stranger.perform(get_credit_note, creditNoteId="CN-0001")
    cast.lapse()
    with pytest.raises(Lapsed):
        credited(cast, sent)
    assert cast.perform(get_credit_note, creditNoteId="cn-0001")["id"] == note["id"]
