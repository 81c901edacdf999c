from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from cast import Cast
from evidence import as_told, events, last_event
from mainstay.business.customers.operations import archive_customer, update_customer
from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.messages import list_messages
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.business.quotes.operations import get_quote, revise_quote
from mainstay.business.quotes.sending import send_quote
from mainstay.ledger import outbox
from mainstay.paper.snapshot import Snapshot
from mainstay.terms.refusal import Blocked, Forbidden, Invalid
from mainstay.terms.rights import Role
from quoting import BOILER, WARRANTY, a_draft, at, sent, usual_tax
from trade import a_contact, a_customer, a_job, a_site

QUOTES_TOO = {"quotes": True, "invoices": False}
OWN_WORDS = {"subject": "{number} {title}", "text": "Dear {customer}, {total} until {validUntil}. {organisation}"}


def letters(cast: Cast) -> list[dict[str, str]]:
    """The mails that wait, as they are kept."""
    with cast.stage.database.reading(cast.organisation) as rows:
        sql = "SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'mail' ORDER BY id"
        return [orjson.loads(str(payload)) for (payload,) in rows.all(sql)]


def snapshot_of(cast: Cast, quote: dict[str, Any]) -> Snapshot:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT snapshot FROM quote WHERE organisation_id = :organisation AND id = :id", id=quote["id"])
    assert row is not None
    return Snapshot.model_validate_json(str(row[0]))


def previewed(cast: Cast, quote: dict[str, Any], **given: object) -> dict[str, Any]:
    return cast.perform(send_quote, Role.OFFICE, quoteId=quote["id"], **given)


def test_it_is_sent_and_says_until_when_it_is_valid(cast: Cast) -> None:
    cast.perform(update_organisation, timeZone="Europe/Berlin")
    # In Berlin it is the next day already.
    evening = at(cast, datetime(2030, 6, 30, 22, 30, tzinfo=UTC))
    quote = sent(evening)
    assert (quote["status"], quote["issuedOn"], quote["validUntil"]) == ("sent", "2030-07-01", "2030-07-31")
    assert quote["sentAt"] == "2030-06-30T22:30:00.000Z"
    assert quote["availableActions"] == ["revise_quote", "withdraw_quote", "record_quote_decision"]
    told = last_event(cast)
    assert (told["type"], told["data"]["object"]) == ("quote.sent", as_told(quote))


def test_a_preview_changes_nothing_and_tells_everything(cast: Cast) -> None:
    draft, count = a_draft(cast), len(events(cast))
    preview = previewed(cast, draft)
    assert preview["summary"].startswith("Q-0001 New heating goes to Calder Property: 1000.00 GBP, valid until ")
    mailed, says, told = preview["effects"]
    assert mailed == "It is mailed to ann@calder.example: Quote Q-0001 from " + _name(cast)
    assert says.startswith("The mail says:\nHello Calder Property,")
    assert told == "Webhooks are told: A quote was sent."
    assert preview["warnings"] == [
        "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."
    ]
    assert preview["blockers"] == []
    assert as_told(cast.perform(get_quote, quoteId=draft["id"])) == as_told(draft)
    assert (letters(cast), len(events(cast))) == ([], count)


def test_all_that_is_in_its_way_is_told_at_once(cast: Cast) -> None:
    customer = a_customer(cast, "Calder")
    lines = [{"kind": "text", "description": "Words"}]
    draft = a_draft(cast, customerId=customer, lines=lines, validUntil="2020-01-01", deposit={"amount": "1"})
    cast.perform(archive_customer, customerId=customer)
    blockers = previewed(cast, draft)["blockers"]
    assert blockers == [
        "Calder is archived. Restore the customer first.",
        "Q-0001 has no line with a price. Add one first.",
        "Q-0001 is valid until 2020-01-01, which is past. Change that first.",
        "The deposit of Q-0001 is more than it comes to.",
        "There is no address to mail it to. Give Calder one, say where it is to go, or issue it without a mail.",
    ]
    with pytest.raises(Blocked):
        sent(cast, draft)


def test_a_discount_that_takes_nothing_off_is_not_spoken_of(cast: Cast) -> None:
    free = a_draft(cast, lines=[{"description": "Check", "unitPrice": "0"}], discount={"percent": "5"})
    after = cast.perform(send_quote, Role.OFFICE, quoteId=free["id"], confirmed=True)
    assert (after["status"], after["total"]) == ("sent", "0.00")
    assert snapshot_of(cast, after).discount is None


def test_less_than_nothing_is_not_offered(cast: Cast) -> None:
    draft = a_draft(cast, lines=[BOILER | {"unitPrice": "-1"}])
    with pytest.raises(Blocked, match=r"^Q-0001 comes to less than nothing\. Change its lines first\.$"):
        sent(cast, draft)


def test_it_is_mailed_to_the_customer_and_to_contacts_who_receive_quotes(cast: Cast) -> None:
    customer = a_customer(cast, email="Office@calder.example")
    a_contact(cast, customer, "Ann", email="ann@calder.example", receives=QUOTES_TOO)
    a_contact(cast, customer, "Bob", email="bob@calder.example")
    a_contact(cast, customer, "Cat", email="office@CALDER.example", receives=QUOTES_TOO)
    quote = sent(cast, a_draft(cast, customerId=customer))
    assert [letter["to"] for letter in letters(cast)] == ["Office@calder.example", "ann@calder.example"]
    messages = cast.perform(list_messages, about=quote["id"])["data"]
    assert {(one["recipient"], one["status"]) for one in messages} == {
        ("Office@calder.example", "queued"),
        ("ann@calder.example", "queued"),
    }


def test_it_is_mailed_where_it_is_said_or_not_at_all(cast: Cast) -> None:
    sent(cast, to=["zoe@else.example"])
    assert [letter["to"] for letter in letters(cast)] == ["zoe@else.example"]
    assert "Nobody is mailed: hand it over yourself." in previewed(cast, a_draft(cast), deliver="none")["effects"]
    quote = sent(cast, a_draft(cast, customerId=a_customer(cast)), deliver="none")
    assert (quote["status"], len(letters(cast))) == ("sent", 1)


def test_the_mail_is_from_the_organisation_in_the_customer_s_language(cast: Cast) -> None:
    cast.perform(update_organisation, name="Rohr & Söhne", email="office@rohr.example", country="DE")
    customer = a_customer(cast, "Müller <b>", email="m@mueller.example", language="de")
    sent(cast, a_draft(cast, customerId=customer, title="Heizung", validUntil="2031-01-31"))
    [letter] = letters(cast)
    assert letter["subject"] == "Angebot Q-0001 von Rohr & Söhne"
    assert (letter["sender_name"], letter["reply_to"]) == ("Rohr & Söhne", "office@rohr.example")
    assert "Guten Tag Müller <b>," in letter["text"]
    assert "31. Januar 2031" in letter["text"]
    assert "1.000,00" in letter["text"]
    assert "Guten Tag Müller &lt;b&gt;," in letter["html"]
    # What opens something is not kept: it is put in when the mail leaves.
    assert letter["text"].count("\x02") == 1
    assert letter["html"].count("\x02") == 1
    assert "/q/" not in orjson.dumps(letter).decode()


def test_the_organisation_s_own_words_are_taken_as_they_are(cast: Cast) -> None:
    cast.perform(update_settings, mailTexts={"quote": OWN_WORDS})
    customer = a_customer(cast, "{number} {0}", email="a@b.example")
    sent(cast, a_draft(cast, customerId=customer, validUntil="2031-01-31"))
    [letter] = letters(cast)
    assert letter["subject"] == "Q-0001 New heating"
    assert letter["text"].startswith("Dear {number} {0}, £1,000.00 until 31 January 2031.")
    assert letter["text"].endswith("\n\n\x02")
    told = cast.perform(update_settings, mailTexts={"quote": None})
    assert told["mailTexts"]["quote"] is None


def test_own_words_name_only_what_there_is(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^mailTexts\.quote\.text: knows no \{secret\}, there are \{customer\}, "):
        cast.perform(update_settings, mailTexts={"quote": OWN_WORDS | {"text": "{secret}"}})


def test_what_it_says_is_frozen_with_it(cast: Cast) -> None:
    tax = usual_tax(cast)
    customer = a_customer(cast, email="a@b.example", reference="Ref 7")
    job = a_job(cast, customer, siteId=a_site(cast, customer, name="The mill"), customerOrderNumber="PO 7")
    quote = sent(cast, a_draft(cast, jobId=job["id"], discount={"percent": "10"}, deposit={"percent": "50"}))
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
    customer = a_customer(cast, email="a@b.example")
    job = a_job(cast, customer, status="enquiry")
    sent(cast, a_draft(cast, jobId=job["id"]))
    told = cast.perform(get_job, jobId=job["id"])
    assert (told["stage"], told["nextAction"]) == ("quoting", "Wait for the answer")


def test_a_revision_says_what_it_replaces(cast: Cast) -> None:
    first = sent(cast)
    second = cast.perform(revise_quote, quoteId=first["id"])
    effects = previewed(cast, second)["effects"]
    assert effects[0] == "Q-0001 can no longer be accepted: this one replaces it."


def test_what_was_sent_is_not_sent_again(cast: Cast) -> None:
    quote = sent(cast)
    with pytest.raises(Blocked, match=r"^Q-0001 was sent already\. Revise it instead\.$"):
        sent(cast, quote)
    assert len(letters(cast)) == 1


def test_however_often_at_once_it_is_sent_once(cast: Cast) -> None:
    draft = a_draft(cast)

    def send(_: int) -> str:
        try:
            return str(sent(cast, draft)["status"])
        except Blocked:
            return "refused"

    with ThreadPoolExecutor(6) as racers:
        answers = sorted(racers.map(send, range(6)))
    assert answers == ["refused"] * 5 + ["sent"]
    assert len(letters(cast)) == 1
    assert [event["type"] for event in events(cast)].count("quote.sent") == 1


@pytest.mark.parametrize("wrong", [{"to": ["nobody"]}, {"to": ["a@b.example"] * 11}, {"deliver": "fax"}])
def test_what_is_wrong_is_told_by_field(cast: Cast, wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid, match=f"^{next(iter(wrong))}"):
        sent(cast, a_draft(cast), **wrong)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sends_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(send_quote, role, quoteId=a_draft(cast)["id"], confirmed=True)


def test_a_pdf_is_asked_for_once(cast: Cast) -> None:
    sent(cast, a_draft(cast, lines=[BOILER, WARRANTY]))
    with cast.stage.database.reading(cast.organisation) as rows:
        works = rows.all("SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'print'")
        assert len(works) == 1
        letter = outbox.Letter("print", orjson.loads(str(works[0][0])), lane=outbox.Lane.PRINTS)
        assert outbox.waits(rows, letter)
        assert not outbox.waits(rows, outbox.Letter("print", {"record": "quote_x"}, lane=outbox.Lane.PRINTS))


def _name(cast: Cast) -> str:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one("SELECT name FROM organisation WHERE id = :organisation")
    assert row is not None
    return str(row[0])


def test_its_taxes_are_told_by_the_names_they_have_when_it_is_sent(cast: Cast) -> None:
    rate = usual_tax(cast)
    draft = a_draft(cast)
    cast.perform(save_tax_rate, taxRateId=rate, name="MwSt 20 %", components=[{"name": "MwSt", "percent": "20"}])
    (tax,) = sent(cast, draft)["taxes"]
    assert (tax["name"], tax["components"][0]["name"]) == ("MwSt 20 %", "MwSt")
