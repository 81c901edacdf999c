from typing import Any

import pytest

from billing import an_invoice, credited, issued, now, paid, voided
from cast import Cast
from evidence import as_told, history, last_event, mails
from labour import at as at_noon
from mainstay.business.invoices.sending import send_reminder
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound
from mainstay.terms.rights import Role
from quoting import later
from trade import a_customer


def reminded(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_reminder, Role.OFFICE, invoiceId=invoice["id"], **given)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_they_are_mailed_what_is_still_to_be_paid(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    paid(cast, sent, "250")
    after = cast.perform(send_reminder, role, invoiceId=sent["id"], confirmed=True)
    assert (after["reminders"], after["status"]) == (1, "partPaid")
    assert after["remindedAt"] is not None
    [letter] = mails(cast)
    assert letter["to"] == "ann@calder.example"
    assert "£750.00" in letter["text"]
    assert (letter["paper"], letter["paper_name"]) == (sent["id"], "Invoice INV-0001.pdf")
    assert history(cast, sent["id"])[-1] == "send_reminder"
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("invoice.updated", as_told(after))
    assert told["data"]["previous"] == {"reminders": 0, "remindedAt": None}


def test_a_preview_mails_nothing_and_says_what_would_happen(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issued(noon)
    preview = reminded(noon, sent)
    assert preview["summary"] == "Calder Property is reminded of INV-0001 New heating: 1000.00 GBP is to be paid."
    assert "INV-0001 is not overdue: there is time until 2026-11-30." in preview["warnings"]
    assert mails(cast) == []
    assert as_told(now(noon, sent)) == as_told(sent)


def test_the_mail_says_truly_whether_it_is_overdue(cast: Cast) -> None:
    own = {"subject": "Overdue", "text": "Pay {due}, which has been due since {dueOn}."}
    cast.perform(update_settings, mailTexts={"reminder": own})
    sent = issued(at_noon(cast))
    reminded(at_noon(cast), sent, confirmed=True)
    reminded(later(cast, days=20), sent, confirmed=True)
    early, late = mails(cast)
    assert "£1,000.00 of our invoice INV-0001 is due on 30 November 2026." in early["text"]
    assert early["subject"].endswith("is due on 30 November 2026")
    assert late["subject"] == "Overdue"


def test_whoever_was_reminded_lately_is_given_time(cast: Cast) -> None:
    cast.perform(update_organisation, bank={"account": "12345678"})
    noon = at_noon(cast)
    sent = issued(noon)
    overdue = later(noon, days=20)
    assert reminded(overdue, sent)["warnings"] == [
        "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."
    ]
    reminded(overdue, sent, confirmed=True)
    soon, patient = later(overdue, days=2), later(overdue, days=4)
    assert reminded(soon, sent)["warnings"][0] == "They were reminded of INV-0001 on 2026-12-06 already."
    assert len(reminded(patient, sent)["warnings"]) == 1


def test_a_second_reminder_within_a_day_takes_a_word_of_its_own(cast: Cast) -> None:
    noon = at_noon(cast)
    sent = issued(noon)
    reminded(noon, sent, confirmed=True)
    soon = later(noon, seconds=1)
    told = "Calder Property was reminded of INV-0001 less than a day ago, on 2026-11-16. Wait, or choose to remind them"
    told += " again (send `again` as true)."
    assert reminded(soon, sent)["blockers"] == [told]
    with pytest.raises(Blocked) as refused:
        reminded(soon, sent, confirmed=True)
    assert refused.value.text == told
    assert len(mails(cast)) == 1
    assert reminded(soon, sent, again=True)["blockers"] == []
    assert reminded(soon, sent, again=True, confirmed=True)["reminders"] == 2
    assert reminded(later(soon, days=1), sent, confirmed=True)["reminders"] == 3


def test_where_the_invoice_says_nowhere_to_pay_that_is_told(cast: Cast) -> None:
    told = "The organisation had no bank details when the invoice was issued, so it does not say where to pay. Tell"
    told = f"{told} them that yourself."
    silent = issued(cast)
    assert told in reminded(cast, silent)["warnings"]
    cast.perform(update_organisation, bank={"account": "12345678", "sortCode": "20-00-00"})
    # What was issued stays as it was, and is what they are reminded with.
    assert told in reminded(cast, silent)["warnings"]
    assert told not in reminded(cast, issued(cast))["warnings"]


def test_where_nothing_is_to_be_paid_nobody_is_reminded(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^A draft was never sent\. Send it first\.$"):
        reminded(cast, an_invoice(cast), confirmed=True)
    settled = issued(cast)
    paid(cast, settled)
    for over in (settled, voided(cast, issued(cast)), credited(cast, issued(cast))):
        with pytest.raises(Blocked, match=r"^There is nothing left to pay of INV-000\d\.$"):
            reminded(cast, over, confirmed=True)


def test_it_goes_where_it_is_said_and_nobody_is_refused(cast: Cast) -> None:
    sent = issued(cast, an_invoice(cast, customerId=a_customer(cast)))
    with pytest.raises(Blocked, match=r"^There is no address to mail it to\."):
        reminded(cast, sent, confirmed=True)
    reminded(cast, sent, to=["zoe@else.example"], confirmed=True)
    assert [letter["to"] for letter in mails(cast)] == ["zoe@else.example"]
    with pytest.raises(Invalid, match=r"^to"):
        reminded(cast, sent, to=["x"], confirmed=True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_remind_nobody(cast: Cast, role: Role) -> None:
    sent = issued(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_reminder, role, invoiceId=sent["id"], confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    sent = issued(cast)
    with pytest.raises(NotFound):
        reminded(stranger, sent, confirmed=True)
    cast.lapse()
    with pytest.raises(Lapsed):
        reminded(cast, sent, confirmed=True)
