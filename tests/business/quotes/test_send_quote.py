from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import archive_customer, update_customer
from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.sent_emails import list_messages
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import get_quote, revise_quote
from mainstay.business.quotes.sending import send_quote
from mainstay.changes import outbox
from mainstay.documents.snapshot import Snapshot
from mainstay.kernel.preview import PreviewDiffers
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, Invalid
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job, make_site
from support.quotes import BOILER, WARRANTY, cast_at, issue_quote, make_default_tax_rate, make_quote
from support.stored_state import list_events_of, read_last_event, to_event_record

QUOTES_TOO = {"quotes": True, "invoices": False}
OWN_WORDS = {"subject": "{number} {title}", "text": "Dear {customer}, {total} until {validUntil}. {organisation}"}


def read_mails(cast: Cast) -> list[dict[str, str]]:
    """Read the waiting emails from the outbox."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        sql = "SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'mail' ORDER BY id"
        return [orjson.loads(str(payload)) for (payload,) in db.all(sql)]


def snapshot_of(cast: Cast, quote: dict[str, Any]) -> Snapshot:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT snapshot FROM quote WHERE organisation_id = :organisation AND id = :id", id=quote["id"])
    assert row is not None
    return Snapshot.model_validate_json(str(row[0]))


def preview_send(cast: Cast, quote: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_quote, Role.OFFICE, quoteId=quote["id"], **given)


def test_it_is_sent_and_says_until_when_it_is_valid(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="Europe/Berlin")
    # In Berlin it is the next day already.
    evening = cast_at(cast, datetime(2030, 6, 30, 22, 30, tzinfo=UTC))
    quote = issue_quote(evening)
    assert (quote["status"], quote["issuedOn"], quote["validUntil"]) == ("sent", "2030-07-01", "2030-07-31")
    assert quote["sentAt"] == "2030-06-30T22:30:00.000Z"
    assert quote["availableActions"] == ["revise_quote", "withdraw_quote", "record_quote_decision"]
    event = read_last_event(cast)
    assert (event["type"], event["data"]["object"]) == ("quote.sent", to_event_record(quote))


def test_a_preview_changes_nothing_and_tells_everything(cast: Cast) -> None:
    draft, count = make_quote(cast), len(list_events_of(cast))
    preview = preview_send(cast, draft)
    assert preview["summary"].startswith(
        "Q-0001 New heating will be sent to Calder Property: 1000.00 GBP, valid until "
    )
    mailed, says, webhook_effect = preview["effects"]
    assert mailed == "Email to ann@calder.example: Quote Q-0001 from " + _organisation_name(cast)
    assert says.startswith("The email says:\nHello Calder Property,")
    assert webhook_effect == "Webhook event: A quote was sent."
    assert preview["warnings"] == ["Your organisation has no email address, so nobody can reply. Add one in Settings."]
    assert preview["blockers"] == []
    assert to_event_record(cast.perform(get_quote, quoteId=draft["id"])) == to_event_record(draft)
    assert (read_mails(cast), len(list_events_of(cast))) == ([], count)


def test_all_that_is_in_its_way_is_told_at_once(cast: Cast) -> None:
    customer = make_customer(cast, "Calder")
    lines = [{"kind": "text", "description": "Words"}]
    draft = make_quote(cast, customerId=customer, lines=lines, validUntil="2020-01-01", deposit={"amount": "1"})
    cast.perform(archive_customer, customerId=customer)
    blockers = preview_send(cast, draft)["blockers"]
    assert blockers == [
        "Calder is archived. Restore the customer first.",
        "Q-0001 has no line with a price. Add one first.",
        "Q-0001 is valid until 2020-01-01, which is in the past. Change the date first.",
        "The deposit of Q-0001 is more than its total. Change it first.",
        "Calder has no email address. Add one, enter where to send it, or issue it without an email.",
    ]
    with pytest.raises(Blocked):
        issue_quote(cast, draft)


def test_a_discount_that_takes_nothing_off_is_not_spoken_of(cast: Cast) -> None:
    free = make_quote(cast, lines=[{"description": "Check", "unitPrice": "0"}], discount={"percent": "5"})
    after = cast.perform(send_quote, Role.OFFICE, quoteId=free["id"], confirmed=True)
    assert (after["status"], after["total"]) == ("sent", "0.00")
    assert snapshot_of(cast, after).discount is None


def test_less_than_nothing_is_not_offered(cast: Cast) -> None:
    draft = make_quote(cast, lines=[BOILER | {"unitPrice": "-1"}])
    with pytest.raises(Blocked, match=r"^The total of Q-0001 is below zero\. Change its lines first\.$"):
        issue_quote(cast, draft)


def test_it_is_mailed_to_the_customer_and_to_contacts_who_receive_quotes(cast: Cast) -> None:
    customer = make_customer(cast, email="Office@calder.example")
    make_contact(cast, customer, "Ann", email="ann@calder.example", receives=QUOTES_TOO)
    make_contact(cast, customer, "Bob", email="bob@calder.example")
    make_contact(cast, customer, "Cat", email="office@CALDER.example", receives=QUOTES_TOO)
    quote = issue_quote(cast, make_quote(cast, customerId=customer))
    assert [mail["to"] for mail in read_mails(cast)] == ["Office@calder.example", "ann@calder.example"]
    messages = cast.perform(list_messages, about=quote["id"])["data"]
    assert {(one["recipient"], one["status"]) for one in messages} == {
        ("Office@calder.example", "queued"),
        ("ann@calder.example", "queued"),
    }


def test_it_is_mailed_where_it_is_said_or_not_at_all(cast: Cast) -> None:
    issue_quote(cast, to=["zoe@else.example"])
    assert [mail["to"] for mail in read_mails(cast)] == ["zoe@else.example"]
    assert (
        "No email will be sent. Send or hand over the quote yourself."
        in preview_send(cast, make_quote(cast), deliver="none")["effects"]
    )
    quote = issue_quote(cast, make_quote(cast, customerId=make_customer(cast)), deliver="none")
    assert (quote["status"], len(read_mails(cast))) == ("sent", 1)


def test_the_email_goes_out_as_it_was_written(cast: Cast) -> None:
    customer = make_customer(cast, email="office@calder.example")
    draft = make_quote(cast, customerId=customer)
    usual = preview_send(cast, draft)["email"]
    assert (usual["to"], usual["cc"]) == (["office@calder.example"], [])
    assert usual["subject"].startswith("Quote Q-0001 from ")
    assert usual["message"].count("{link}") == 1
    words = {"subject": "Your boiler <1>", "message": "Dear Ann,\n\nsee {link} & accept {total}.\n\nRuth"}
    given = {"to": ["ann@calder.example"], "cc": ["bob@calder.example", "BOB@calder.example", "Ann@calder.example"]}
    preview = preview_send(cast, draft, **given, **words)
    assert preview["email"] == {"to": ["ann@calder.example"], "cc": ["bob@calder.example"], **words}
    assert "Copy to bob@calder.example" in preview["effects"]
    quote = preview_send(cast, draft, **given, **words, confirmed=True, previewToken=preview["previewToken"])
    mails = read_mails(cast)
    assert [(mail["to"], mail["all_to"], mail["cc"]) for mail in mails] == [
        ("ann@calder.example", "ann@calder.example", "bob@calder.example"),
        ("bob@calder.example", "ann@calder.example", "bob@calder.example"),
    ]
    for mail in mails:
        assert mail["subject"] == "Your boiler <1>"
        assert mail["text"] == "Dear Ann,\n\nsee \x02 & accept {total}.\n\nRuth"
        assert "&amp; accept {total}." in mail["html"]
    messages = cast.perform(list_messages, about=quote["id"])["data"]
    kept = "Dear Ann,\n\nsee [link] & accept {total}.\n\nRuth"
    assert {(one["recipient"], one["isCopy"], one["text"]) for one in messages} == {
        ("ann@calder.example", False, kept),
        ("bob@calder.example", True, kept),
    }


def test_without_a_place_for_the_link_it_comes_last(cast: Cast) -> None:
    issue_quote(cast, message="As discussed.")
    assert [mail["text"] for mail in read_mails(cast)] == ["As discussed.\n\n\x02"]


def test_a_confirmation_is_of_the_recipients_and_words_in_the_preview(cast: Cast) -> None:
    draft = make_quote(cast)
    shown = {"to": ["ann@calder.example"], "cc": ["bob@calder.example"], "subject": "One", "message": "Two {link}"}
    token = preview_send(cast, draft, **shown)["previewToken"]
    for changed in ({"to": ["eve@else.example"]}, {"cc": ["eve@else.example"]}, {"subject": "A"}, {"message": "B"}):
        with pytest.raises(PreviewDiffers):
            preview_send(cast, draft, **shown | changed, confirmed=True, previewToken=token)
    assert read_mails(cast) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"cc": ["ann@calder.example\nBcc: eve@else.example"]},
        {"cc": ["ann@calder.example,eve@else.example"]},
        {"cc": [f"a{number}@calder.example" for number in range(11)]},
        {"subject": "One\nBcc: eve@else.example"},
        {"subject": "x" * 501},
        {"subject": " "},
        {"message": "x" * 10_001},
        {"message": "\x02"},
    ],
    ids=["line in cc", "two in one", "too many", "line in subject", "long subject", "no subject", "long", "link mark"],
)
def test_what_could_forge_an_email_is_refused(cast: Cast, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        issue_quote(cast, **wrong)
    assert read_mails(cast) == []


def test_the_mail_is_from_the_organisation_in_the_customer_s_language(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr & Söhne", email="office@rohr.example", country="DE")
    customer = make_customer(cast, "Müller <b>", email="m@mueller.example", language="de")
    issue_quote(cast, make_quote(cast, customerId=customer, title="Heizung", validUntil="2031-01-31"))
    [mail] = read_mails(cast)
    assert mail["subject"] == "Angebot Q-0001 von Rohr & Söhne"
    assert (mail["sender_name"], mail["reply_to"]) == ("Rohr & Söhne", "office@rohr.example")
    assert "Guten Tag Müller <b>," in mail["text"]
    assert "31. Januar 2031" in mail["text"]
    assert "1.000,00" in mail["text"]
    assert "Guten Tag Müller &lt;b&gt;," in mail["html"]
    # What opens something is not kept: it is put in when the mail leaves.
    assert mail["text"].count("\x02") == 1
    assert mail["html"].count("\x02") == 1
    assert "/q/" not in orjson.dumps(mail).decode()


def test_the_organisation_s_own_words_are_taken_as_they_are(cast: Cast) -> None:
    cast.perform(update_settings, mailTexts={"quote": OWN_WORDS})
    customer = make_customer(cast, "{number} {0}", email="a@b.example")
    issue_quote(cast, make_quote(cast, customerId=customer, validUntil="2031-01-31"))
    [mail] = read_mails(cast)
    assert mail["subject"] == "Q-0001 New heating"
    assert mail["text"].startswith("Dear {number} {0}, £1,000.00 until 31 January 2031.")
    assert mail["text"].endswith("\n\n\x02")
    mails_by_address = cast.perform(update_settings, mailTexts={"quote": None})
    assert mails_by_address["mailTexts"]["quote"] is None


def test_own_words_name_only_what_there_is(cast: Cast) -> None:
    with pytest.raises(
        Invalid, match=r"^mailTexts\.quote\.text: has the unknown placeholder \{secret\}, use \{customer\}, "
    ):
        cast.perform(update_settings, mailTexts={"quote": OWN_WORDS | {"text": "{secret}"}})


def test_what_it_says_is_frozen_with_it(cast: Cast) -> None:
    tax = make_default_tax_rate(cast)
    customer = make_customer(cast, email="a@b.example", reference="Ref 7")
    job = make_job(cast, customer, siteId=make_site(cast, customer, name="The mill"), customerOrderNumber="PO 7")
    quote = issue_quote(cast, make_quote(cast, jobId=job["id"], discount={"percent": "10"}, deposit={"percent": "50"}))
    cast.perform(update_customer, customerId=customer, name="Renamed")
    frozen = snapshot_of(cast, quote)
    assert (frozen.kind, frozen.number, frozen.revision) == ("quote", "Q-0001", 1)
    assert (frozen.buyer.name, frozen.reference, frozen.order_number) == ("Calder Property", "Ref 7", "PO 7")
    assert frozen.site is not None
    assert frozen.job is not None
    assert (frozen.site.name, frozen.job.number) == ("The mill", job["number"])
    assert [(rate.id, str(rate.percent)) for rate in frozen.tax_rates] == [(tax, "20.00")]
    assert (frozen.totals.net, frozen.totals.total) == ("900.00", "1080.00")
    assert frozen.discount is not None
    assert (frozen.discount.percent, frozen.discount.taken) == ("10.00", "100.00")
    assert frozen.deposit is not None
    assert (frozen.deposit.percent, frozen.deposit.amount) == ("50.00", "540.00")
    assert [(line.optional, line.chosen) for line in frozen.lines] == [(False, True), (True, False)]
    assert "cost" not in frozen.lines[0].model_dump()


def test_the_job_waits_for_the_answer(cast: Cast) -> None:
    customer = make_customer(cast, email="a@b.example")
    job = make_job(cast, customer, status="enquiry")
    issue_quote(cast, make_quote(cast, jobId=job["id"]))
    result = cast.perform(get_job, jobId=job["id"])
    assert (result["stage"], result["nextAction"]) == ("quoting", "Waiting for an answer")


def test_a_revision_says_what_it_replaces(cast: Cast) -> None:
    first = issue_quote(cast)
    second = cast.perform(revise_quote, quoteId=first["id"])
    effects = preview_send(cast, second)["effects"]
    assert effects[0] == "Q-0001 can then no longer be accepted, because this one replaces it."


def test_what_was_sent_is_not_sent_again(cast: Cast) -> None:
    quote = issue_quote(cast)
    with pytest.raises(Blocked, match=r"^Q-0001 has already been sent\. Revise it instead\.$"):
        issue_quote(cast, quote)
    assert len(read_mails(cast)) == 1


def test_however_often_at_once_it_is_sent_once(cast: Cast) -> None:
    draft = make_quote(cast)

    def send(_: int) -> str:
        try:
            return str(issue_quote(cast, draft)["status"])
        except Blocked:
            return "refused"

    with ThreadPoolExecutor(6) as racers:
        answers = sorted(racers.map(send, range(6)))
    assert answers == ["refused"] * 5 + ["sent"]
    assert len(read_mails(cast)) == 1
    assert [event["type"] for event in list_events_of(cast)].count("quote.sent") == 1


@pytest.mark.parametrize("wrong", [{"to": ["nobody"]}, {"to": ["a@b.example"] * 11}, {"deliver": "fax"}])
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=f"^{next(iter(wrong))}"):
        issue_quote(cast, make_quote(cast), **wrong)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sends_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(send_quote, role, quoteId=make_quote(cast)["id"], confirmed=True)


def test_a_pdf_is_asked_for_once(cast: Cast) -> None:
    issue_quote(cast, make_quote(cast, lines=[BOILER, WARRANTY]))
    with cast.performer.database.read_transaction(cast.organisation) as db:
        tasks = db.all("SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'print'")
        assert len(tasks) == 1
        task = outbox.OutboxTask("print", orjson.loads(str(tasks[0][0])), lane=outbox.Lane.PDFS)
        assert outbox.is_waiting(db, task)
        assert not outbox.is_waiting(db, outbox.OutboxTask("print", {"record": "quote_x"}, lane=outbox.Lane.PDFS))


def _organisation_name(cast: Cast) -> str:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one("SELECT name FROM organisation WHERE id = :organisation")
    assert row is not None
    return str(row[0])


def test_its_taxes_are_told_by_the_names_they_have_when_it_is_sent(cast: Cast) -> None:
    rate = make_default_tax_rate(cast)
    draft = make_quote(cast)
    cast.perform(save_tax_rate, taxRateId=rate, name="MwSt 20 %", components=[{"name": "MwSt", "percent": "20"}])
    (tax,) = issue_quote(cast, draft)["taxes"]
    assert (tax["name"], tax["components"][0]["name"]) == ("MwSt 20 %", "MwSt")
