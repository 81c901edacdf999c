from typing import Any

import pytest

from mainstay.business.invoices.issuing.sending import send_reminder
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at as at_noon
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice, reread_invoice, void_issued
from support.quotes import cast_later
from support.stored_state import operations_on, read_last_event, to_event_record, waiting_emails


def remind(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_reminder, Role.OFFICE, invoiceId=invoice["id"], **given)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_they_are_mailed_what_is_still_to_be_paid(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    pay_invoice(cast, sent, "250")
    after = cast.perform(send_reminder, role, invoiceId=sent["id"], confirmed=True)
    assert (after["reminders"], after["status"]) == (1, "partPaid")
    assert after["remindedAt"] is not None
    [mail] = waiting_emails(cast)
    assert mail["to"] == "ann@calder.example"
    assert "£750.00" in mail["text"]
    assert (mail["paper"], mail["paper_name"]) == (sent["id"], "Invoice INV-0001.pdf")
    assert operations_on(cast, sent["id"])[-1] == "send_reminder"
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("invoice.updated", to_event_record(after))
    assert event["data"]["previous"] == {"reminders": 0, "remindedAt": None}


def test_a_preview_mails_nothing_and_says_what_would_happen(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    preview = remind(noon, sent)
    assert preview["summary"] == "Calder Property will be reminded of INV-0001 New heating: 1000.00 GBP to pay."
    assert "INV-0001 is not overdue yet: it is due on 2026-11-30." in preview["warnings"]
    assert waiting_emails(cast) == []
    assert to_event_record(reread_invoice(noon, sent)) == to_event_record(sent)


def test_the_mail_says_truly_whether_it_is_overdue(cast: Cast) -> None:
    own = {"subject": "Overdue", "text": "Pay {due}, which has been due since {dueOn}."}
    cast.perform(update_settings, mailTexts={"reminder": own})
    sent = issue_invoice(at_noon(cast))
    remind(at_noon(cast), sent, confirmed=True)
    remind(cast_later(cast, days=20), sent, confirmed=True)
    early, late = waiting_emails(cast)
    assert "£1,000.00 of our invoice INV-0001 is due on 30 November 2026." in early["text"]
    assert early["subject"].endswith("is due on 30 November 2026")
    assert late["subject"] == "Overdue"


def test_whoever_was_reminded_lately_is_given_time(cast: Cast) -> None:
    cast.perform(update_organisation, bank={"account": "12345678"})
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    overdue = cast_later(noon, days=20)
    assert remind(overdue, sent)["warnings"] == [
        "Your organisation has no email address, so nobody can reply. Add one in Settings."
    ]
    remind(overdue, sent, confirmed=True)
    soon, patient = cast_later(overdue, days=2), cast_later(overdue, days=4)
    assert remind(soon, sent)["warnings"][0] == "The customer was already reminded of INV-0001 on 2026-12-06."
    assert len(remind(patient, sent)["warnings"]) == 1


def test_a_second_reminder_within_a_day_takes_a_word_of_its_own(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issue_invoice(noon)
    remind(noon, sent, confirmed=True)
    soon = cast_later(noon, seconds=1)
    message = (
        "Calder Property was reminded of INV-0001 less than 24 hours ago, on 2026-11-16. Wait, or choose to remind them"
    )
    message += " again. To send it anyway, send `again`: true."
    assert remind(soon, sent)["blockers"] == [message]
    with pytest.raises(Blocked) as refused:
        remind(soon, sent, confirmed=True)
    assert refused.value.text == message
    assert len(waiting_emails(cast)) == 1
    assert remind(soon, sent, again=True)["blockers"] == []
    assert remind(soon, sent, again=True, confirmed=True)["reminders"] == 2
    assert remind(cast_later(soon, days=1), sent, confirmed=True)["reminders"] == 3


def test_where_the_invoice_says_nowhere_to_pay_that_is_told(cast: Cast) -> None:
    message = "The invoice doesn't say where to pay, because you had no bank details when it was issued. Tell"
    message = f"{message} the customer yourself."
    silent = issue_invoice(cast)
    assert message in remind(cast, silent)["warnings"]
    cast.perform(update_organisation, bank={"account": "12345678", "sortCode": "20-00-00"})
    # What was issued stays as it was, and is what they are reminded with.
    assert message in remind(cast, silent)["warnings"]
    assert message not in remind(cast, issue_invoice(cast))["warnings"]


def test_where_nothing_is_to_be_paid_nobody_is_reminded(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^This is a draft\. Send it first\.$"):
        remind(cast, make_invoice(cast), confirmed=True)
    settled = issue_invoice(cast)
    pay_invoice(cast, settled)
    for over in (settled, void_issued(cast, issue_invoice(cast)), credit_issued(cast, issue_invoice(cast))):
        with pytest.raises(Blocked, match=r"^There's nothing left to pay on INV-000\d\.$"):
            remind(cast, over, confirmed=True)


def test_it_goes_where_it_is_said_and_nobody_is_refused(cast: Cast) -> None:
    sent = issue_invoice(cast, make_invoice(cast, customerId=make_customer(cast)))
    with pytest.raises(Blocked, match=r"^Calder Property has no email address\."):
        remind(cast, sent, confirmed=True)
    remind(cast, sent, to=["zoe@else.example"], confirmed=True)
    assert [mail["to"] for mail in waiting_emails(cast)] == ["zoe@else.example"]
    with pytest.raises(Invalid, match=r"^to"):
        remind(cast, sent, to=["x"], confirmed=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_remind_nobody(cast: Cast, role: Role) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_reminder, role, invoiceId=sent["id"], confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    sent = issue_invoice(cast)
    with pytest.raises(NotFound):
        remind(other_cast, sent, confirmed=True)
    cast.lapse()
    with pytest.raises(Lapsed):
        remind(cast, sent, confirmed=True)
