from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import archive_customer, update_customer
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.documents.snapshot import Snapshot
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound, Stale, UnblockingAction
from support.cast import Cast
from support.customers import ADDRESS, list_task_kinds, make_contact, make_customer, make_job, make_site
from support.hours import cast_at as at_noon
from support.hours import set_organisation_columns
from support.invoices import (
    BOILER,
    FLUE,
    issue_invoice,
    make_accepted_quote,
    make_approved_hour,
    make_hourly_job,
    make_invoice,
    pay_invoice,
    reread_invoice,
    void_issued,
)
from support.quotes import cast_at, make_default_tax_rate
from support.stored_state import emails_about, list_events_of, read_last_event, to_event_record, waiting_emails

RACERS = 6
INVOICES_TOO = {"quotes": False, "invoices": True}


def issue_by_email(cast: Cast, invoice: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    return issue_invoice(cast, invoice, deliver="email", **given)


def preview_send(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_invoice, Role.OFFICE, invoiceId=invoice["id"], **given)


def snapshot_of(cast: Cast, invoice: dict[str, Any]) -> Snapshot:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = "SELECT snapshot FROM invoice WHERE organisation_id = :organisation AND id = :id"
        row = db.one(sql, id=invoice["id"])
    assert row is not None
    return Snapshot.model_validate_json(str(row[0]))


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_it_gets_its_number_its_date_and_when_it_is_due(cast: Cast, role: Role) -> None:
    cast.perform(update_organisation, timeZone="Europe/Berlin")
    # In Berlin it is the next day already.
    evening = cast_at(cast, datetime(2030, 6, 30, 22, 30, tzinfo=UTC))
    draft = make_invoice(evening)
    sent = evening.perform(send_invoice, role, invoiceId=draft["id"], confirmed=True)
    assert (sent["number"], sent["status"]) == ("INV-0001", "sent")
    assert (sent["issuedOn"], sent["dueOn"], sent["due"]) == ("2030-07-01", "2030-07-15", "1000.00")
    assert sent["sentAt"] == "2030-06-30T22:30:00.000Z"
    assert sent["availableActions"] == ["void_invoice", "send_reminder", "credit_invoice"]
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("invoice.sent", to_event_record(sent))
    assert event["data"]["previous"]["number"] is None


def test_the_customer_s_time_to_pay_goes_before_the_organisation_s_and_what_is_said_before_both(cast: Cast) -> None:
    noon = at_noon(cast)
    set_organisation_columns(cast, payment_terms_days=30)
    assert issue_invoice(noon)["dueOn"] == "2026-12-16"
    customer = make_customer(cast, paymentTermsDays=0)
    assert issue_invoice(noon, make_invoice(noon, customerId=customer))["dueOn"] == "2026-11-16"
    assert issue_invoice(noon, make_invoice(noon, customerId=customer, dueOn="2026-11-20"))["dueOn"] == "2026-11-20"


def test_a_preview_takes_no_number_and_tells_everything(cast: Cast) -> None:
    noon, count = at_noon(cast), len(list_events_of(cast))
    draft = make_invoice(noon)
    preview = preview_send(noon, draft)
    assert (
        preview["summary"] == "INV-0001 New heating will be issued to Calder Property: 1000.00 GBP, due on 2026-11-30."
    )
    mailed, says, webhook_effect = preview["effects"]
    assert mailed == f"Email to ann@calder.example: Invoice INV-0001 from {_organisation_name(cast)}"
    assert says.startswith("The email says:\nHello Calder Property,")
    assert "[link]" in says
    assert webhook_effect == "Webhook event: An invoice was issued."
    assert preview["blockers"] == []
    assert to_event_record(reread_invoice(cast, draft)) == to_event_record(draft)
    assert (waiting_emails(cast), len(list_events_of(cast))) == ([], count + 1)
    assert [issue_invoice(noon)["number"], issue_invoice(noon)["number"]] == ["INV-0001", "INV-0002"]


def test_all_that_is_in_its_way_is_told_at_once(cast: Cast) -> None:
    customer = make_customer(cast, "Calder")
    lines = [{"kind": "text", "description": "Words"}]
    draft = make_invoice(cast, customerId=customer, lines=lines, dueOn="2020-01-01")
    cast.perform(archive_customer, customerId=customer)
    set_organisation_columns(cast, books_closed_until="2999-12-31")
    blockers = preview_send(cast, draft)["blockers"]
    assert [blocker.partition(".")[0] for blocker in blockers] == [
        "Calder is archived",
        blockers[1].partition(".")[0],
        "There's no line with a price",
        "The due date 2020-01-01 is in the past",
        "Calder has no email address",
    ]
    assert blockers[1].startswith("The books are closed up to 2999-12-31, so nothing dated ")
    with pytest.raises(Blocked):
        issue_by_email(cast, draft)


def test_less_than_nothing_is_not_issued_and_nothing_is_paid_at_once(cast: Cast) -> None:
    with pytest.raises(
        Blocked, match=r"^The total is below zero\. Change the lines, or credit the invoice that they deduct"
    ):
        issue_invoice(cast, make_invoice(cast, lines=[BOILER | {"unitPrice": "-1"}]))
    free = issue_invoice(cast, make_invoice(cast, lines=[BOILER | {"unitPrice": "0"}]))
    assert (free["status"], free["due"], free["number"]) == ("paid", "0.00", "INV-0001")


def test_books_that_are_closed_until_yesterday_are_open_today(cast: Cast) -> None:
    noon = at_noon(cast)
    set_organisation_columns(cast, books_closed_until="2026-11-16")
    with pytest.raises(
        Blocked, match=r"^The books are closed up to 2026-11-16, so nothing dated 2026-11-16 can be changed"
    ):
        issue_invoice(noon)
    set_organisation_columns(cast, books_closed_until="2026-11-15")
    assert issue_invoice(noon)["status"] == "sent"


def test_it_is_mailed_to_the_customer_and_to_contacts_who_receive_invoices(cast: Cast) -> None:
    customer = make_customer(cast, email="Office@calder.example")
    make_contact(cast, customer, "Ann", email="ann@calder.example", receives=INVOICES_TOO)
    make_contact(cast, customer, "Bob", email="bob@calder.example")
    make_contact(cast, customer, "Cat", email="office@CALDER.example", receives=INVOICES_TOO)
    sent = issue_by_email(cast, make_invoice(cast, customerId=customer))
    assert [mail["to"] for mail in waiting_emails(cast)] == ["Office@calder.example", "ann@calder.example"]
    assert {recipient for recipient, *_ in emails_about(cast, sent["id"])} == {
        "Office@calder.example",
        "ann@calder.example",
    }


def test_it_is_mailed_where_it_is_said_or_not_at_all(cast: Cast) -> None:
    issue_by_email(cast, to=["zoe@else.example", "ZOE@else.example"])
    assert [mail["to"] for mail in waiting_emails(cast)] == ["zoe@else.example"]
    nobody = make_invoice(cast, customerId=make_customer(cast))
    with pytest.raises(Blocked, match=r"^Calder Property has no email address\. Add one, ") as refusal:
        issue_by_email(cast, nobody)
    assert refusal.value.unblocking_actions == (UnblockingAction("update_customer", nobody["customerId"]),)
    assert (
        "No email will be sent. Send or hand over the invoice yourself."
        in preview_send(cast, nobody, deliver="none")["effects"]
    )
    assert issue_invoice(cast, nobody)["status"] == "sent"
    assert len(waiting_emails(cast)) == 1


def test_the_mail_is_from_the_organisation_in_the_customer_s_language(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr & Söhne", email="office@rohr.example", country="DE")
    customer = make_customer(cast, "Müller <b>", email="m@mueller.example", language="de")
    sent = issue_by_email(cast, make_invoice(cast, customerId=customer, dueOn="2031-01-31"))
    [mail] = waiting_emails(cast)
    assert mail["subject"] == "Rechnung INV-0001 von Rohr & Söhne"
    assert (mail["sender_name"], mail["reply_to"]) == ("Rohr & Söhne", "office@rohr.example")
    assert (mail["paper"], mail["paper_name"]) == (sent["id"], "Rechnung INV-0001.pdf")
    assert (mail["link_kind"], mail["link"]) == ("invoice", sent["id"])
    assert "31. Januar 2031" in mail["text"]
    assert "1.000,00" in mail["text"]
    assert "Müller &lt;b&gt;" in mail["html"]
    assert sent["language"] == "de"


def test_the_organisation_s_own_words_are_taken_as_they_are(cast: Cast) -> None:
    words = {"subject": "{number} {title}", "text": "{customer} {total} {due} {dueOn} {organisation}"}
    set_organisation_columns(
        cast, mail_texts=orjson.dumps({"quote": None, "invoice": words, "reminder": None}).decode()
    )
    issue_by_email(
        cast, make_invoice(cast, customerId=make_customer(cast, "{number}", email="a@b.example"), dueOn="2031-01-31")
    )
    [mail] = waiting_emails(cast)
    assert mail["subject"] == "INV-0001 New heating"
    assert mail["text"].startswith("{number} £1,000.00 £1,000.00 31 January 2031 ")


def test_what_it_says_is_frozen_with_it(cast: Cast) -> None:
    tax, noon = make_default_tax_rate(cast), at_noon(cast)
    job = make_hourly_job(noon, customerOrderNumber="PO 7")
    site = make_site(cast, job["customerId"], name="The mill")
    for day in ("2026-11-10", "2026-11-12"):
        make_approved_hour(noon, job, on=day)
    draft = make_invoice(noon, jobId=job["id"], siteId=site, unbilled=True, lines=[FLUE], discount={"percent": "10"})
    sent = issue_invoice(noon, draft)
    cast.perform(update_customer, customerId=job["customerId"], name="Renamed")
    cast.perform(save_tax_rate, taxRateId=tax, name="Another name")
    frozen = snapshot_of(cast, sent)
    assert (frozen.kind, frozen.type, frozen.number, frozen.issued_on) == (
        "invoice",
        "standard",
        "INV-0001",
        "2026-11-16",
    )
    assert (frozen.buyer.name, frozen.order_number, frozen.due_on) == ("Calder Property", "PO 7", "2026-11-30")
    assert frozen.service_period is not None
    assert (frozen.service_period.from_, frozen.service_period.until) == ("2026-11-10", "2026-11-12")
    assert [(rate.id, rate.name) for rate in frozen.tax_rates] == [(tax, "VAT 20 %")]
    assert (frozen.totals.net, frozen.totals.total) == (sent["net"], sent["total"])
    assert "cost" not in frozen.lines[0].model_dump()


def test_a_final_invoice_names_what_it_takes_off(cast: Cast) -> None:
    quote = make_accepted_quote(cast)
    deposit = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    final = issue_invoice(cast, make_invoice(cast, quoteId=quote["id"]))
    frozen = snapshot_of(cast, final)
    assert [(one.number, one.issued_on) for one in frozen.preceding] == [("INV-0001", deposit["issuedOn"])]
    assert [line.deduction for line in frozen.lines] == [False, False, True]
    assert (final["kind"], frozen.type, snapshot_of(cast, deposit).type) == ("final", "final", "deposit")


def test_whether_it_is_an_e_invoice_is_told_and_stops_nothing(cast: Cast) -> None:
    make_default_tax_rate(cast)
    draft = make_invoice(cast)
    assert preview_send(cast, draft)["warnings"][0].startswith(
        "No e-invoice will be included. Missing: the country in your address, "
    )
    incomplete = issue_invoice(cast, draft)
    assert incomplete["eInvoice"]["status"] == "incomplete"
    assert "buyer.address.country" in incomplete["eInvoice"]["missing"]
    cast.perform(update_organisation, taxNumber="GB123456789", address=ADDRESS)
    customer = make_customer(cast, billingAddress=ADDRESS)
    assert issue_invoice(cast, make_invoice(cast, customerId=customer))["eInvoice"] == {
        "status": "included",
        "missing": [],
    }
    untaxed = make_invoice(cast, customerId=customer, lines=[BOILER | {"taxRateId": None}])
    assert issue_invoice(cast, untaxed)["eInvoice"]["status"] == "notApplicable"


def test_where_it_says_nowhere_to_pay_that_is_told(cast: Cast) -> None:
    message = (
        "The invoice doesn't say where to pay, because you have no bank details. Add them in Settings → Money first."
    )
    draft, free = make_invoice(cast), make_invoice(cast, lines=[BOILER | {"unitPrice": "0"}])
    assert message in preview_send(cast, draft)["warnings"]
    assert message not in preview_send(cast, free)["warnings"]
    cast.perform(update_organisation, bank={"name": "Calder Bank"})
    assert message in preview_send(cast, draft, deliver="none")["warnings"]
    cast.perform(update_organisation, bank={"account": "12345678", "sortCode": "20-00-00"})
    assert message not in preview_send(cast, draft)["warnings"]


def test_what_is_on_account_is_offered(cast: Cast) -> None:
    customer = make_customer(cast)
    first = issue_invoice(cast, make_invoice(cast, customerId=customer))
    pay_invoice(cast, first, "1250")
    draft = make_invoice(cast, customerId=customer)
    message = (
        "Calder Property has 250.00 GBP on account, which can be allocated to this invoice. To allocate it, call"
        " allocate_payment."
    )
    assert message in preview_send(cast, draft, deliver="none")["warnings"]


def test_its_job_is_invoiced_once_all_of_its_work_is(cast: Cast) -> None:
    noon = at_noon(cast)
    job = make_hourly_job(noon)
    make_approved_hour(noon, job)
    draft = make_invoice(noon, jobId=job["id"], unbilled=True)
    make_approved_hour(noon, job, on="2026-11-15")
    issue_invoice(noon, draft)
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = "SELECT invoiced, owed FROM job WHERE organisation_id = :organisation AND id = :id"
        assert db.one(sql, id=job["id"]) == (0, 6000)
    issue_invoice(noon, make_invoice(noon, jobId=job["id"], unbilled=True))
    with cast.performer.database.read_transaction(cast.organisation) as db:
        assert db.one(sql, id=job["id"]) == (1, 12000)


def test_what_was_issued_is_not_issued_again(cast: Cast) -> None:
    sent = issue_by_email(cast)
    with pytest.raises(Blocked, match=r"^INV-0001 has already been issued\.$"):
        issue_by_email(cast, sent)
    with pytest.raises(Blocked, match=r"^INV-0001 has already been issued\.$"):
        issue_by_email(cast, void_issued(cast, sent))
    assert len(waiting_emails(cast)) == 1


@pytest.mark.parametrize("key", [None, "once"])
def test_however_often_at_once_it_is_sent_once(cast: Cast, key: str | None) -> None:
    draft = make_invoice(cast)

    def send(number: int) -> bytes:
        request = RequestDetails(f"req_{number}", idempotency_key=key)
        try:
            given = {"invoiceId": draft["id"], "confirmed": True}
            return cast.answer(send_invoice, Role.OFFICE, request=request, **given).body
        except Blocked:
            return b"refused"

    with ThreadPoolExecutor(RACERS) as racers:
        answers = list(racers.map(send, range(RACERS)))
    # With the same key, all get the same answer; without, one sends and the others are refused.
    assert answers.count(b"refused") == (0 if key else RACERS - 1)
    assert len({*answers} - {b"refused"}) == 1
    assert len(waiting_emails(cast)) == 1
    assert list_task_kinds(cast).count("print") == 1
    assert [event["type"] for event in list_events_of(cast)].count("invoice.sent") == 1
    assert issue_invoice(cast)["number"] == "INV-0002"


def test_who_confirms_what_has_changed_since_is_told(cast: Cast) -> None:
    draft = make_invoice(cast)
    request = RequestDetails("req_1", if_match_versions=frozenset({draft["version"] + 1}))
    with pytest.raises(Stale):
        cast.answer(send_invoice, Role.OFFICE, request=request, invoiceId=draft["id"], confirmed=True)


@pytest.mark.parametrize(
    "wrong", [{"to": ["nobody"]}, {"to": ["a@b.example"] * 11}, {"deliver": "fax"}, {"confirmed": "true"}]
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object]) -> None:
    draft = make_invoice(cast)
    with pytest.raises(Invalid, match=f"^{next(iter(wrong))}"):
        issue_invoice(cast, draft, **wrong)
    assert reread_invoice(cast, draft)["status"] == "draft"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_send_none(cast: Cast, role: Role) -> None:
    draft = make_invoice(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_invoice, role, invoiceId=draft["id"], confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, other_cast: Cast) -> None:
    draft = make_invoice(cast)
    with pytest.raises(NotFound):
        issue_invoice(other_cast, draft)
    cast.lapse()
    with pytest.raises(Lapsed):
        issue_invoice(cast, draft)


def test_each_gets_the_next_number_as_the_settings_say(cast: Cast) -> None:
    issue_invoice(cast)
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE number_series SET prefix = 'R-', padding = 5 WHERE organisation_id = :organisation")
    assert issue_invoice(cast)["number"] == "R-00002"


def test_drafts_of_one_job_are_issued_side_by_side(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))
    drafts = [make_invoice(cast, jobId=job["id"]) for _ in range(RACERS)]
    with ThreadPoolExecutor(RACERS) as racers:
        numbers = sorted(str(sent["number"]) for sent in racers.map(lambda draft: issue_invoice(cast, draft), drafts))
    assert numbers == [f"INV-{number:04}" for number in range(1, RACERS + 1)]


def _organisation_name(cast: Cast) -> str:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT name FROM organisation WHERE id = :organisation")
    assert row is not None
    return str(row[0])
