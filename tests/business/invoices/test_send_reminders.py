from typing import Any

import pytest

from mainstay.business.invoices.issuing.reminders import MAX_REMINDERS, send_reminders
from mainstay.business.organisation.operations import update_organisation
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at as at_noon
from support.invoices import issue_invoice, make_invoice, pay_invoice, reread_invoice
from support.quotes import cast_later
from support.stored_state import operations_on, waiting_emails


def remind(cast: Cast, *invoices: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_reminders, Role.OFFICE, invoiceIds=[one["id"] for one in invoices], **given)


def issue_to_new_customer(cast: Cast, name: str, **given: object) -> dict[str, Any]:
    """Issue an invoice to a new customer."""
    return issue_invoice(
        cast, make_invoice(cast, customerId=make_customer(cast, name, email=f"{name.lower()}@x.example"), **given)
    )


@pytest.fixture
def overdue_cast(cast: Cast) -> Cast:
    """The cast 20 days after invoices were issued, now overdue; the firm has a bank account and an address."""
    cast.perform(update_organisation, bank={"account": "12345678"}, email="office@x.example")
    return cast_later(at_noon(cast), days=20)


def test_one_preview_says_who_is_reminded_of_what_and_then_all_are(cast: Cast, overdue_cast: Cast) -> None:
    noon = at_noon(cast)
    ann, bob = issue_to_new_customer(noon, "Ann"), issue_to_new_customer(noon, "Bob")
    other = issue_to_new_customer(noon, "Cid")
    pay_invoice(noon, bob, "250")
    preview = remind(overdue_cast, ann, bob)
    assert preview["summary"] == "Reminders for 2 invoices will be sent to 2 customers: 1750.00 GBP to pay."
    effects = [effect for effect in preview["effects"] if not effect.startswith("Webhook event: ")]
    assert effects == [
        "INV-0001 by email to ann@x.example: Reminder: invoice INV-0001 from " + organisation_name(overdue_cast),
        "INV-0002 by email to bob@x.example: Reminder: invoice INV-0002 from " + organisation_name(overdue_cast),
    ]
    assert (preview["warnings"], preview["blockers"], waiting_emails(cast)) == ([], [], [])
    done = remind(overdue_cast, ann, bob, confirmed=True)
    assert (done["due"], done["currency"]) == ("1750.00", "GBP")
    assert [(one["number"], one["due"], one["reminders"]) for one in done["invoices"]] == [
        ("INV-0001", "1000.00", 1),
        ("INV-0002", "750.00", 1),
    ]
    assert sorted(mail["to"] for mail in waiting_emails(cast)) == ["ann@x.example", "bob@x.example"]
    assert operations_on(cast, ann["id"])[-1] == "send_reminders"
    assert reread_invoice(overdue_cast, other)["reminders"] == 0


def organisation_name(cast: Cast) -> str:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT name FROM organisation WHERE id = :organisation")
    return str(row[0]) if row else ""


def test_each_invoice_that_cannot_be_reminded_of_is_named_with_its_reason_and_nothing_is_sent(
    cast: Cast, overdue_cast: Cast
) -> None:
    noon = at_noon(cast)
    fine, draft, settled = issue_to_new_customer(noon, "Ann"), make_invoice(noon), issue_to_new_customer(noon, "Bob")
    pay_invoice(noon, settled)
    preview = remind(overdue_cast, fine, draft, settled)
    assert preview["blockers"] == [
        "Draft invoice New heating: This is a draft. Send it first.",
        "INV-0002 New heating: There's nothing left to pay on INV-0002.",
    ]
    with pytest.raises(Blocked):
        remind(overdue_cast, fine, draft, settled, confirmed=True)
    assert (reread_invoice(overdue_cast, fine)["reminders"], waiting_emails(cast)) == (0, [])


def test_whoever_has_no_address_is_named_and_nothing_is_sent(cast: Cast, overdue_cast: Cast) -> None:
    noon = at_noon(cast)
    fine, silent = (
        issue_to_new_customer(noon, "Ann"),
        issue_invoice(noon, make_invoice(noon, customerId=make_customer(noon, "Zoe"))),
    )
    [blocker] = remind(overdue_cast, fine, silent)["blockers"]
    assert blocker.startswith("INV-0002 New heating: Zoe has no email address. Add one")
    with pytest.raises(Blocked):
        remind(overdue_cast, fine, silent, confirmed=True)
    assert waiting_emails(cast) == []


def test_what_is_worth_a_look_names_the_invoice(cast: Cast, overdue_cast: Cast) -> None:
    noon = at_noon(cast)
    customer = make_customer(noon, "Ann", email="ann@x.example")
    first, second = (issue_invoice(noon, make_invoice(noon, customerId=customer)) for _ in range(2))
    fresh = issue_invoice(overdue_cast, make_invoice(overdue_cast, customerId=customer))
    remind(overdue_cast, first, confirmed=True)
    assert remind(cast_later(overdue_cast, days=1), first, second, fresh)["warnings"] == [
        "The customer was already reminded of INV-0001 on 2026-12-06.",
        "INV-0003 is not overdue yet: it is due on 2026-12-20.",
        (
            "Ann gets 3 emails, one for each invoice. A statement lists them all in one email."
            " To send one statement instead, call send_statement."
        ),
    ]


def test_the_same_invoice_is_not_named_twice_nor_too_many_at_once(cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Invalid, match=r"^invoiceIds\.1: is listed twice$"):
        cast.perform(send_reminders, Role.OFFICE, invoiceIds=[sent["id"], sent["number"]])
    for wrong in ([], [sent["id"]] * (MAX_REMINDERS + 1)):
        with pytest.raises(Invalid, match=r"^invoiceIds"):
            cast.perform(send_reminders, Role.OFFICE, invoiceIds=wrong)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_remind_nobody(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_reminders, role, invoiceIds=[sent["id"]], confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    sent, theirs = issue_invoice(cast), issue_invoice(other_cast)
    with pytest.raises(NotFound):
        remind(other_cast, theirs, sent, confirmed=True)
    assert waiting_emails(other_cast) == []
    cast.lapse()
    with pytest.raises(Lapsed):
        remind(cast, sent, confirmed=True)
