from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from billing import BOILER, FLUE, a_sold_quote, an_hour, an_invoice, issued, now, paid, voided, worked_job
from cast import Cast
from evidence import as_told, events, last_event, mailed_about, mails
from labour import at as at_noon
from labour import decide
from mainstay.business.customers.operations import archive_customer, update_customer
from mainstay.business.invoices.sending import send_invoice
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.kernel.context import Envelope
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.refusal import Blocked, Forbidden, Invalid, Lapsed, NotFound, Stale
from mainstay.terms.rights import Role
from quoting import at, usual_tax
from trade import ADDRESS, a_contact, a_customer, a_job, a_site, left_to_do

RACERS = 6
INVOICES_TOO = {"quotes": False, "invoices": True}


def mailed(cast: Cast, invoice: dict[str, Any] | None = None, **given: object) -> dict[str, Any]:
    return issued(cast, invoice, deliver="email", **given)


def previewed(cast: Cast, invoice: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_invoice, Role.OFFICE, invoiceId=invoice["id"], **given)


def snapshot_of(cast: Cast, invoice: dict[str, Any]) -> Snapshot:
    with cast.stage.database.reading(cast.organisation) as rows:
        sql = "SELECT snapshot FROM invoice WHERE organisation_id = :organisation AND id = :id"
        row = rows.one(sql, id=invoice["id"])
    assert row is not None
    return Snapshot.model_validate_json(str(row[0]))


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_it_gets_its_number_its_date_and_when_it_is_due(cast: Cast, role: Role) -> None:
    cast.perform(update_organisation, timeZone="Europe/Berlin")
    # In Berlin it is the next day already.
    evening = at(cast, datetime(2030, 6, 30, 22, 30, tzinfo=UTC))
    draft = an_invoice(evening)
    sent = evening.perform(send_invoice, role, invoiceId=draft["id"], confirmed=True)
    assert (sent["number"], sent["status"]) == ("INV-0001", "sent")
    assert (sent["issuedOn"], sent["dueOn"], sent["due"]) == ("2030-07-01", "2030-07-15", "1000.00")
    assert sent["sentAt"] == "2030-06-30T22:30:00.000Z"
    assert sent["availableActions"] == ["void_invoice", "send_reminder", "credit_invoice"]
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("invoice.sent", as_told(sent))
    assert told["data"]["previous"]["number"] is None


def test_the_customer_s_time_to_pay_goes_before_the_organisation_s_and_what_is_said_before_both(cast: Cast) -> None:
    noon = at_noon(cast)
    decide(cast, payment_terms_days=30)
    assert issued(noon)["dueOn"] == "2026-12-16"
    customer = a_customer(cast, paymentTermsDays=0)
    assert issued(noon, an_invoice(noon, customerId=customer))["dueOn"] == "2026-11-16"
    assert issued(noon, an_invoice(noon, customerId=customer, dueOn="2026-11-20"))["dueOn"] == "2026-11-20"


def test_a_preview_takes_no_number_and_tells_everything(cast: Cast) -> None:
    noon, count = at_noon(cast), len(events(cast))
    draft = an_invoice(noon)
    preview = previewed(noon, draft)
    assert preview["summary"] == "INV-0001 New heating goes to Calder Property: 1000.00 GBP, due on 2026-11-30."
    mailed, says, told = preview["effects"]
    assert mailed == f"It is mailed to ann@calder.example: Invoice INV-0001 from {_name(cast)}"
    assert says.startswith("The mail says:\nHello Calder Property,")
    assert "[link]" in says
    assert told == "Webhooks are told: An invoice was issued."
    assert preview["blockers"] == []
    assert as_told(now(cast, draft)) == as_told(draft)
    assert (mails(cast), len(events(cast))) == ([], count + 1)
    assert [issued(noon)["number"], issued(noon)["number"]] == ["INV-0001", "INV-0002"]


def test_all_that_is_in_its_way_is_told_at_once(cast: Cast) -> None:
    customer = a_customer(cast, "Calder")
    lines = [{"kind": "text", "description": "Words"}]
    draft = an_invoice(cast, customerId=customer, lines=lines, dueOn="2020-01-01")
    cast.perform(archive_customer, customerId=customer)
    decide(cast, books_closed_until="2999-12-31")
    blockers = previewed(cast, draft)["blockers"]
    assert [blocker.partition(".")[0] for blocker in blockers] == [
        "Calder is archived",
        blockers[1].partition(".")[0],
        "There is no line with a price on it",
        "It is due on 2020-01-01, which is past",
        "There is no address to mail it to",
    ]
    assert blockers[1].startswith("The books are closed until 2999-12-31, so nothing of ")
    with pytest.raises(Blocked):
        mailed(cast, draft)


def test_less_than_nothing_is_not_issued_and_nothing_is_paid_at_once(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^It comes to less than nothing\. Credit the invoice that it takes off"):
        issued(cast, an_invoice(cast, lines=[BOILER | {"unitPrice": "-1"}]))
    free = issued(cast, an_invoice(cast, lines=[BOILER | {"unitPrice": "0"}]))
    assert (free["status"], free["due"], free["number"]) == ("paid", "0.00", "INV-0001")


def test_books_that_are_closed_until_yesterday_are_open_today(cast: Cast) -> None:
    noon = at_noon(cast)
    decide(cast, books_closed_until="2026-11-16")
    with pytest.raises(Blocked, match=r"^The books are closed until 2026-11-16, so nothing of 2026-11-16 changes"):
        issued(noon)
    decide(cast, books_closed_until="2026-11-15")
    assert issued(noon)["status"] == "sent"


def test_it_is_mailed_to_the_customer_and_to_contacts_who_receive_invoices(cast: Cast) -> None:
    customer = a_customer(cast, email="Office@calder.example")
    a_contact(cast, customer, "Ann", email="ann@calder.example", receives=INVOICES_TOO)
    a_contact(cast, customer, "Bob", email="bob@calder.example")
    a_contact(cast, customer, "Cat", email="office@CALDER.example", receives=INVOICES_TOO)
    sent = mailed(cast, an_invoice(cast, customerId=customer))
    assert [letter["to"] for letter in mails(cast)] == ["Office@calder.example", "ann@calder.example"]
    assert {recipient for recipient, *_ in mailed_about(cast, sent["id"])} == {
        "Office@calder.example",
        "ann@calder.example",
    }


def test_it_is_mailed_where_it_is_said_or_not_at_all(cast: Cast) -> None:
    mailed(cast, to=["zoe@else.example", "ZOE@else.example"])
    assert [letter["to"] for letter in mails(cast)] == ["zoe@else.example"]
    nobody = an_invoice(cast, customerId=a_customer(cast))
    with pytest.raises(Blocked, match=r"^There is no address to mail it to\. Give Calder Property one") as refusal:
        mailed(cast, nobody)
    assert refusal.value.unblocks == (("update_customer", nobody["customerId"]),)
    assert "Nobody is mailed: hand it over yourself." in previewed(cast, nobody, deliver="none")["effects"]
    assert issued(cast, nobody)["status"] == "sent"
    assert len(mails(cast)) == 1


def test_the_mail_is_from_the_organisation_in_the_customer_s_language(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr & Söhne", email="office@rohr.example", country="DE")
    customer = a_customer(cast, "Müller <b>", email="m@mueller.example", language="de")
    sent = mailed(cast, an_invoice(cast, customerId=customer, dueOn="2031-01-31"))
    [letter] = mails(cast)
    assert letter["subject"] == "Rechnung INV-0001 von Rohr & Söhne"
    assert (letter["sender_name"], letter["reply_to"]) == ("Rohr & Söhne", "office@rohr.example")
    assert (letter["paper"], letter["paper_name"]) == (sent["id"], "Rechnung INV-0001.pdf")
    assert (letter["link_kind"], letter["link"]) == ("invoice", sent["id"])
    assert "31. Januar 2031" in letter["text"]
    assert "1.000,00" in letter["text"]
    assert "Müller &lt;b&gt;" in letter["html"]
    assert sent["language"] == "de"


def test_the_organisation_s_own_words_are_taken_as_they_are(cast: Cast) -> None:
    words = {"subject": "{number} {title}", "text": "{customer} {total} {due} {dueOn} {organisation}"}
    decide(cast, mail_texts=orjson.dumps({"quote": None, "invoice": words, "reminder": None}).decode())
    mailed(cast, an_invoice(cast, customerId=a_customer(cast, "{number}", email="a@b.example"), dueOn="2031-01-31"))
    [letter] = mails(cast)
    assert letter["subject"] == "INV-0001 New heating"
    assert letter["text"].startswith("{number} £1,000.00 £1,000.00 31 January 2031 ")


def test_what_it_says_is_frozen_with_it(cast: Cast) -> None:
    tax, noon = usual_tax(cast), at_noon(cast)
    job = worked_job(noon, customerOrderNumber="PO 7")
    site = a_site(cast, job["customerId"], name="The mill")
    for day in ("2026-11-10", "2026-11-12"):
        an_hour(noon, job, on=day)
    draft = an_invoice(noon, jobId=job["id"], siteId=site, unbilled=True, lines=[FLUE], discount={"percent": "10"})
    sent = issued(noon, draft)
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
    quote = a_sold_quote(cast)
    deposit = issued(cast, an_invoice(cast, quoteId=quote["id"], part={"percent": "30"}))
    final = issued(cast, an_invoice(cast, quoteId=quote["id"]))
    frozen = snapshot_of(cast, final)
    assert [(one.number, one.issued_on) for one in frozen.preceding] == [("INV-0001", deposit["issuedOn"])]
    assert [line.deduction for line in frozen.lines] == [False, False, True]
    assert (final["kind"], frozen.type, snapshot_of(cast, deposit).type) == ("final", "final", "deposit")


def test_whether_it_is_an_e_invoice_is_told_and_stops_nothing(cast: Cast) -> None:
    usual_tax(cast)
    draft = an_invoice(cast)
    assert previewed(cast, draft)["warnings"][0].startswith("It is no e-invoice: your address country, ")
    incomplete = issued(cast, draft)
    assert incomplete["eInvoice"]["status"] == "incomplete"
    assert "buyer.address.country" in incomplete["eInvoice"]["missing"]
    cast.perform(update_organisation, taxNumber="GB123456789", address=ADDRESS)
    customer = a_customer(cast, billingAddress=ADDRESS)
    assert issued(cast, an_invoice(cast, customerId=customer))["eInvoice"] == {"status": "included", "missing": []}
    untaxed = an_invoice(cast, customerId=customer, lines=[BOILER | {"taxRateId": None}])
    assert issued(cast, untaxed)["eInvoice"]["status"] == "notApplicable"


def test_where_it_says_nowhere_to_pay_that_is_told(cast: Cast) -> None:
    told = "The organisation has no bank details, so the invoice does not say where to pay. Add them in settings, under"
    told = f"{told} Money, first."
    draft, free = an_invoice(cast), an_invoice(cast, lines=[BOILER | {"unitPrice": "0"}])
    assert told in previewed(cast, draft)["warnings"]
    assert told not in previewed(cast, free)["warnings"]
    cast.perform(update_organisation, bank={"name": "Calder Bank"})
    assert told in previewed(cast, draft, deliver="none")["warnings"]
    cast.perform(update_organisation, bank={"account": "12345678", "sortCode": "20-00-00"})
    assert told not in previewed(cast, draft)["warnings"]


def test_what_is_on_account_is_offered(cast: Cast) -> None:
    customer = a_customer(cast)
    first = issued(cast, an_invoice(cast, customerId=customer))
    paid(cast, first, "1250")
    draft = an_invoice(cast, customerId=customer)
    told = "Calder Property has 250.00 GBP on account. allocate_payment puts it to the invoice."
    assert told in previewed(cast, draft, deliver="none")["warnings"]


def test_its_job_is_invoiced_once_all_of_its_work_is(cast: Cast) -> None:
    noon = at_noon(cast)
    job = worked_job(noon)
    an_hour(noon, job)
    draft = an_invoice(noon, jobId=job["id"], unbilled=True)
    an_hour(noon, job, on="2026-11-15")
    issued(noon, draft)
    with cast.stage.database.reading(cast.organisation) as rows:
        sql = "SELECT invoiced, owed FROM job WHERE organisation_id = :organisation AND id = :id"
        assert rows.one(sql, id=job["id"]) == (0, 6000)
    issued(noon, an_invoice(noon, jobId=job["id"], unbilled=True))
    with cast.stage.database.reading(cast.organisation) as rows:
        assert rows.one(sql, id=job["id"]) == (1, 12000)


def test_what_was_issued_is_not_issued_again(cast: Cast) -> None:
    sent = mailed(cast)
    with pytest.raises(Blocked, match=r"^INV-0001 was issued already\. get_invoice shows it"):
        mailed(cast, sent)
    with pytest.raises(Blocked, match=r"^INV-0001 was issued already\. get_invoice shows it"):
        mailed(cast, voided(cast, sent))
    assert len(mails(cast)) == 1


@pytest.mark.parametrize("key", [None, "once"])
def test_however_often_at_once_it_is_sent_once(cast: Cast, key: str | None) -> None:
    draft = an_invoice(cast)

    def send(number: int) -> bytes:
        request = Envelope(f"req_{number}", replay_key=key)
        try:
            given = {"invoiceId": draft["id"], "confirmed": True}
            return cast.answer(send_invoice, Role.OFFICE, request=request, **given).body
        except Blocked:
            return b"refused"

    with ThreadPoolExecutor(RACERS) as racers:
        answers = list(racers.map(send, range(RACERS)))
    # With the same key, all are told the same; without, one sends and the others are told that it was.
    assert answers.count(b"refused") == (0 if key else RACERS - 1)
    assert len({*answers} - {b"refused"}) == 1
    assert len(mails(cast)) == 1
    assert left_to_do(cast).count("print") == 1
    assert [event["type"] for event in events(cast)].count("invoice.sent") == 1
    assert issued(cast)["number"] == "INV-0002"


def test_who_confirms_what_has_changed_since_is_told(cast: Cast) -> None:
    draft = an_invoice(cast)
    request = Envelope("req_1", versions=frozenset({draft["version"] + 1}))
    with pytest.raises(Stale):
        cast.answer(send_invoice, Role.OFFICE, request=request, invoiceId=draft["id"], confirmed=True)


@pytest.mark.parametrize(
    "wrong", [{"to": ["nobody"]}, {"to": ["a@b.example"] * 11}, {"deliver": "fax"}, {"confirmed": "true"}]
)
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object]) -> None:
    draft = an_invoice(cast)
    with pytest.raises(Invalid, match=f"^{next(iter(wrong))}"):
        issued(cast, draft, **wrong)
    assert now(cast, draft)["status"] == "draft"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_send_none(cast: Cast, role: Role) -> None:
    draft = an_invoice(cast)
    with pytest.raises(Forbidden):
        cast.perform(send_invoice, role, invoiceId=draft["id"], confirmed=True)


def test_not_while_lapsed_nor_another_organisation_s(cast: Cast, stranger: Cast) -> None:
    draft = an_invoice(cast)
    with pytest.raises(NotFound):
        issued(stranger, draft)
    cast.lapse()
    with pytest.raises(Lapsed):
        issued(cast, draft)


def test_each_gets_the_next_number_as_the_settings_say(cast: Cast) -> None:
    issued(cast)
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE number_series SET prefix = 'R-', padding = 5 WHERE organisation_id = :organisation")
    assert issued(cast)["number"] == "R-00002"


def test_drafts_of_one_job_are_issued_side_by_side(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))
    drafts = [an_invoice(cast, jobId=job["id"]) for _ in range(RACERS)]
    with ThreadPoolExecutor(RACERS) as racers:
        numbers = sorted(str(sent["number"]) for sent in racers.map(lambda draft: issued(cast, draft), drafts))
    assert numbers == [f"INV-{number:04}" for number in range(1, RACERS + 1)]


def _name(cast: Cast) -> str:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT name FROM organisation WHERE id = :organisation")
    assert row is not None
    return str(row[0])
