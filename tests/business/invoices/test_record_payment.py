from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainstay.business.customers.operations import archive_customer
from mainstay.business.invoices.payments.payment import share_out
from mainstay.business.invoices.payments.recording import get_payment, list_payments, record_payment
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at as at_noon
from support.hours import set_organisation_columns
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, reread_invoice, void_issued
from support.stored_state import list_events_of, operations_on, to_event_record

RACERS = 6


def make_payment(cast: Cast, **given: object) -> dict[str, Any]:
    return cast.perform(record_payment, Role.OFFICE, **given)


def list_shares(payment: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["invoiceNumber"], one["amount"]) for one in payment["allocations"]]


def issue_due_on(cast: Cast, customer: str, due_on: str, price: str = "1000") -> dict[str, Any]:
    """Issue an invoice to a customer that is due on this date."""
    lines = [{"description": "Boiler", "unitPrice": price}]
    return issue_invoice(cast, make_invoice(cast, customerId=customer, dueOn=due_on, lines=lines))


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_everything_that_is_said_of_it_is_kept(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    given: dict[str, Any] = {
        "amount": "250.00",
        "on": "2026-11-12",
        "method": "cheque",
        "reference": "INV-0001",
        "note": "By hand",
        "externalRef": "bank-7",
    }
    payment = cast.perform(record_payment, role, invoiceId="inv-0001", **given)
    assert {name: payment[name] for name in given} == given
    assert (payment["customerId"], payment["status"], payment["unallocated"]) == (
        sent["customerId"],
        "recorded",
        "0.00",
    )
    assert list_shares(payment) == [("INV-0001", "250.00")]
    assert payment["availableActions"] == ["allocate_payment", "reverse_payment"]
    assert to_event_record(cast.perform(get_payment, role, paymentId=payment["id"])) == to_event_record(payment)
    after = reread_invoice(cast, sent)
    assert (after["status"], after["paid"], after["due"]) == ("partPaid", "250.00", "750.00")
    assert operations_on(cast, sent["id"])[-1] == operations_on(cast, payment["id"])[-1] == "record_payment"


def test_part_and_all_of_it_are_told(cast: Cast) -> None:
    sent = issue_invoice(cast)
    pay_invoice(cast, sent, "999.99")
    pay_invoice(cast, sent, "0.01")
    new_events = [event for event in list_events_of(cast) if event["type"].startswith("invoice.pa")]
    assert [(event["type"], event["data"]["object"]["due"]) for event in new_events] == [
        ("invoice.partPaid", "0.01"),
        ("invoice.paid", "0.00"),
    ]
    assert new_events[-1]["data"]["object"] == to_event_record(reread_invoice(cast, sent))
    assert reread_invoice(cast, sent)["status"] == "paid"


def test_it_is_today_s_and_by_the_bank_where_nothing_is_said(cast: Cast) -> None:
    noon = at_noon(cast)
    payment = pay_invoice(noon, issue_invoice(noon))
    assert (payment["on"], payment["method"], payment["reference"]) == ("2026-11-16", "bank", None)


def test_what_is_more_than_is_due_stays_on_account(cast: Cast) -> None:
    sent = issue_invoice(cast)
    payment = pay_invoice(cast, sent, "1200")
    assert (list_shares(payment), payment["unallocated"]) == ([("INV-0001", "1000.00")], "200.00")
    assert payment["warnings"] == ["200.00 GBP stays on account for Calder Property."]
    assert reread_invoice(cast, sent)["due"] == "0.00"


def test_without_an_invoice_it_is_for_those_due_first(cast: Cast) -> None:
    customer = make_customer(cast)
    late = issue_due_on(cast, customer, "2031-03-01")
    first = issue_due_on(cast, customer, "2031-01-01", "100")
    issue_due_on(cast, make_customer(cast), "2030-01-01")
    void_issued(cast, issue_due_on(cast, customer, "2030-01-01"))
    payment = make_payment(cast, customerId=customer, amount="150")
    assert list_shares(payment) == [(first["number"], "100.00"), (late["number"], "50.00")]
    assert make_payment(cast, customerId=customer, amount="1000")["unallocated"] == "50.00"


def test_it_may_be_for_several_or_for_none(cast: Cast) -> None:
    customer = make_customer(cast)
    one, two = (issue_due_on(cast, customer, f"2031-0{month}-01") for month in (1, 2))
    wanted = [{"invoiceId": two["number"], "amount": "70"}, {"invoiceId": one["id"], "amount": "20"}]
    payment = make_payment(cast, customerId=customer, amount="100", allocations=wanted)
    assert (sorted(list_shares(payment)), payment["unallocated"]) == (
        [("INV-0001", "20.00"), ("INV-0002", "70.00")],
        "10.00",
    )
    kept = make_payment(cast, customerId=customer, amount="5", allocations=[])
    assert (list_shares(kept), kept["unallocated"]) == ([], "5.00")


@pytest.mark.parametrize("amount", ["0", "0.001", "-1", "NaN", "1e3", "1000000000000", "9999999999999", "x", ""])
def test_no_amount_is_nothing_or_cannot_be_paid(cast: Cast, amount: str) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Invalid, match=r"^amount: "):
        pay_invoice(cast, sent, amount) if amount else make_payment(cast, invoiceId=sent["id"], amount=amount)
    assert reread_invoice(cast, sent)["paid"] == "0.00"


@pytest.mark.parametrize("amount", ["0.01", "900000000000"])
def test_the_smallest_and_the_largest_can_be_paid(cast: Cast, amount: str) -> None:
    payment = make_payment(cast, customerId=make_customer(cast), amount=amount)
    assert payment["unallocated"] == payment["amount"]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ([("INV-0001", "100.01")], r"^allocations: add up to 0\.01 GBP more than was paid$"),
        ([("INV-0001", "60"), ("INV-0002", "40.01")], r"^allocations: add up to 0\.01 GBP more than was paid$"),
        ([("INV-0002", "50.01")], r"^allocations: put 50\.01 GBP on INV-0002, but only 50\.00 GBP is due$"),
        ([("INV-0001", "1"), ("inv-0001", "1")], r"^allocations\.1\.invoiceId: is listed twice$"),
        ([("INV-0001", "0.001")], r"^allocations\.0\.amount: has more than 2 decimals$"),
        ([("INV-0001", "-1")], r"^allocations\.0\.amount: "),
        (
            [("INV-0003", "1")],
            r"^allocations: include INV-0003 New heating, which is for another customer, Ryburn, list_invoices lists",
        ),
    ],
)
def test_what_it_cannot_be_for_is_refused(cast: Cast, wanted: list[tuple[str, str]], told: str) -> None:
    customer = make_customer(cast)
    issue_due_on(cast, customer, "2031-01-01")
    issue_due_on(cast, customer, "2031-01-01", "50")
    issue_due_on(cast, make_customer(cast, "Ryburn"), "2031-01-01")
    allocations = [{"invoiceId": name, "amount": amount} for name, amount in wanted]
    with pytest.raises(Invalid, match=told):
        make_payment(cast, customerId=customer, amount="100", allocations=allocations)
    assert cast.perform(list_payments)["data"] == []


def test_whose_it_is_must_be_known_and_agree(cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Invalid, match=r"^customerId: is required without invoiceId$"):
        make_payment(cast, amount="1")
    with pytest.raises(Invalid, match=r"^invoiceId: is for another customer"):
        make_payment(cast, invoiceId=sent["id"], customerId=make_customer(cast), amount="1")
    with pytest.raises(Invalid, match=r"^allocations: can't be combined with invoiceId"):
        make_payment(cast, invoiceId=sent["id"], amount="1", allocations=[])


def test_only_what_is_owed_is_paid(cast: Cast) -> None:
    settled = issue_invoice(cast)
    pay_invoice(cast, settled)
    for over, expected in [
        (make_invoice(cast), r"^A draft can't be paid\. Send it first\.$"),
        (settled, r"^INV-0001 is already paid\. The money can stay on account\.$"),
        (void_issued(cast, issue_invoice(cast)), r"^INV-0002 is void"),
        (credit_issued(cast, issue_invoice(cast)), r"^INV-0003 is credited"),
    ]:
        with pytest.raises(Blocked, match=expected):
            pay_invoice(cast, over, "1")
        with pytest.raises(Blocked, match=expected):
            make_payment(
                cast, customerId=over["customerId"], amount="1", allocations=[{"invoiceId": over["id"], "amount": "1"}]
            )


def test_not_before_it_came_nor_into_closed_books(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    with pytest.raises(Invalid, match=r"^on: is in the future"):
        pay_invoice(noon, sent, on="2026-11-17")
    set_organisation_columns(cast, books_closed_until="2026-11-10")
    with pytest.raises(
        Blocked, match=r"^The books are closed up to 2026-11-10, so nothing dated 2026-11-10 can be changed"
    ):
        pay_invoice(noon, sent, on="2026-11-10")
    assert pay_invoice(noon, sent, on="2026-11-11")["status"] == "recorded"


def test_what_looks_like_another_is_warned_of(cast: Cast) -> None:
    sent = issue_invoice(cast)
    assert "warnings" not in pay_invoice(cast, sent, "100")
    message = "This may be a duplicate: Calder Property already has a payment with the same amount and date."
    assert pay_invoice(cast, sent, "100")["warnings"] == [message]


def test_what_a_bank_calls_it_is_there_once(cast: Cast, other_cast: Cast) -> None:
    sent = issue_invoice(cast)
    payment = pay_invoice(cast, sent, "1", externalRef="tx-1")
    with pytest.raises(
        Invalid, match=rf"^externalRef: already belongs to the payment of 1\.00 GBP on .*, it is {payment['id']}$"
    ):
        pay_invoice(cast, sent, "2", externalRef="tx-1")
    assert pay_invoice(other_cast, issue_invoice(other_cast), "1", externalRef="tx-1")["status"] == "recorded"


def test_of_those_who_record_the_same_at_once_one_does(cast: Cast) -> None:
    sent = issue_invoice(cast)

    def record(number: int) -> bool:
        try:
            pay_invoice(cast, sent, f"{number + 1}", externalRef="tx-1")
        except Invalid:
            return False
        return True

    with ThreadPoolExecutor(RACERS) as racers:
        assert sum(racers.map(record, range(RACERS))) == 1


def test_however_many_pay_at_once_no_more_is_put_to_it_than_is_due(cast: Cast) -> None:
    sent = issue_invoice(cast)
    with ThreadPoolExecutor(RACERS) as racers:
        payments = list(racers.map(lambda _: _try_to_pay(cast, sent), range(RACERS)))
    after = reread_invoice(cast, sent)
    assert (after["paid"], after["status"]) == ("1000.00", "paid")
    # Three payments fill it, the third with a remainder on account; the others are refused because it is paid.
    assert [payment["unallocated"] for payment in payments if payment].count("200.00") == 1
    assert payments.count(None) == RACERS - 3


def _try_to_pay(cast: Cast, sent: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return pay_invoice(cast, sent, "400")
    except Blocked:
        return None


def test_the_same_request_again_pays_once(cast: Cast) -> None:
    sent = issue_invoice(cast)
    request = RequestDetails("req_1", idempotency_key="once")
    given = {"invoiceId": sent["id"], "amount": "100"}
    answers = {cast.answer(record_payment, Role.OFFICE, request=request, **given).body for _ in range(2)}
    assert (len(answers), reread_invoice(cast, sent)["paid"]) == (1, "100.00")


def test_an_archived_customer_may_still_pay(cast: Cast) -> None:
    sent = issue_invoice(cast)
    cast.perform(archive_customer, customerId=sent["customerId"])
    assert pay_invoice(cast, sent)["unallocated"] == "0.00"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_record_and_see_none(cast: Cast, role: Role) -> None:
    payment = pay_invoice(cast, issue_invoice(cast), "1")
    acts: list[tuple[Any, dict[str, object]]] = [
        (record_payment, {"invoiceId": "INV-0001", "amount": "1"}),
        (list_payments, {}),
        (get_payment, {"paymentId": payment["id"]}),
    ]
    for operation, given in acts:
        with pytest.raises(Forbidden):
            cast.perform(operation, role, **given)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    sent = issue_invoice(cast)
    payment = pay_invoice(cast, sent, "1")
    with pytest.raises(NotFound):
        make_payment(other_cast, invoiceId=sent["id"], amount="1")
    with pytest.raises(NotFound):
        make_payment(other_cast, customerId=sent["customerId"], amount="1")
    wanted = [{"invoiceId": sent["id"], "amount": "1"}]
    with pytest.raises(NotFound):
        make_payment(other_cast, customerId=make_customer(other_cast), amount="1", allocations=wanted)
    with pytest.raises(NotFound):
        other_cast.perform(get_payment, paymentId=payment["id"])
    cast.lapse()
    with pytest.raises(Lapsed):
        pay_invoice(cast, sent, "1")


@pytest.mark.parametrize(
    ("amount", "dues", "shares"), [(100, [60, 60], [60, 40]), (100, [100, 20], [100, 0]), (100, [30, 20], [30, 20])]
)
def test_a_payment_is_shared_out_to_invoices_in_their_order(amount: int, dues: list[int], shares: list[int]) -> None:
    assert share_out(amount, dues) == shares
