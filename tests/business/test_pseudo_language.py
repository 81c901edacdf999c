"""Emails and documents in a pseudo-language: no text of theirs escapes the translations."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mainstay.business.hours.approval import review_hours
from mainstay.business.invoices.issuing.sending import send_reminder
from mainstay.business.issuing.document_files import PRINT
from mainstay.business.people.operations import invite_person
from mainstay.business.purchasing.sending import send_purchase_order
from mainstay.business.reporting.statement_sending import send_statement
from mainstay.business.schedule.leave import cancel_time_off, decide_time_off, request_time_off
from mainstay.business.schedule.operations import move_visit
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.composition import open_performer
from mainstay.documents.messages import load_messages
from mainstay.documents.pdf import Copy, render_document
from mainstay.documents.snapshot import Snapshot
from mainstay.identity.emails import EMAIL_TASK
from mainstay.identity.person_sign_in import change_password
from mainstay.identity.sign_in import send_reset_link
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import moment_text, system_clock
from mainstay.values.totals import Discount
from mainstay.vocabulary.actor import Door, operator_actor, system_actor
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.disabling import disable_webhook
from mainstay.webhooks.retry_schedule import FAILING, GONE
from mainstay.worker.worker import Worker
from rules.message_texts import SOURCE, find_calls
from support.cast import EMAILS, Cast
from support.customers import make_customer, make_job
from support.hours import cast_at, make_time_entry
from support.installations import Installations
from support.invoices import credit_issued, issue_invoice, make_invoice
from support.pseudo_language import (
    CODE,
    TextCheck,
    collect_data,
    make_translated_cast,
    read_pdf_texts,
    use_pseudo_documents,
    visible_texts,
    walk_texts,
    write_pseudo_catalogue,
)
from support.purchases import make_order
from support.quotes import accept_quote, issue_quote, make_quote
from support.snapshots import EXEMPT, OUTSIDE, REVERSE_CHARGE, SnapshotItem, make_snapshot
from support.stored_state import actor_through_app
from support.visits import plan_test_visit
from support.webhooks import make_webhook, set_columns

EVENING = "2038-01-10T20:00:00Z"
SAME_EVERYWHERE = {"Mainstay", "GBP", "GB", "EUR", "pdf", "Royaume-Uni"}
# What does not hold stored data, or holds texts of emails.
_TABLES_WITHOUT_DATA = {"audit", "event", "outbox", "message", "search_word", "search_record", "search_fresh"}
_ADDRESS = re.compile(r"\S+://\S+")


@pytest.fixture(scope="module")
def french_cast(installations: Installations, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    """The cast of an organisation whose documents and emails are in the pseudo-language."""
    settings = installations.make_with_accounts("sqlite", tmp_path_factory.mktemp("translated"))
    write_pseudo_catalogue(DataFolder(settings.data).translations)
    performer = open_performer(settings)
    with use_pseudo_documents(tmp_path_factory.mktemp("languages")):
        yield cast_at(make_translated_cast(performer), EVENING)
    performer.database.close()


def send_emails(cast: Cast) -> list[dict[str, str]]:
    """Run all tasks that are due within an hour; return the emails."""
    emails: list[dict[str, str]] = []

    def deliver(task: LeasedTask) -> None:
        emails.append(dict(task.payload))

    moment = max(cast.performer.clock(), system_clock()) + timedelta(hours=1)
    performer = replace(cast.performer, clock=lambda: moment)
    worker = Worker(performer, {EMAIL_TASK: deliver, PRINT: lambda _: None}, ())
    while worker.run_next_tasks():
        pass
    return emails


def check_texts(cast: Cast, *texts: str) -> list[str]:
    """Return the parts of texts that are neither translated nor stored data."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        tables = {str(row[0]) for row in db.all("SELECT name FROM sqlite_master WHERE type = 'table'")}
        data = collect_data(db, {table for table in tables if table not in _TABLES_WITHOUT_DATA})
    check = TextCheck(data, SAME_EVERYWHERE)
    return [part for text in texts for part in check.find_untranslated(_ADDRESS.sub("", text))]


def invite_someone(cast: Cast) -> None:
    cast.perform(invite_person, name="Nina New", email="nina@new.example", role="office")
    operator = operator_actor(cast.organisation)
    cast.perform(invite_person, operator, name="Nils New", email="nils@new.example", role="member")


def set_passwords(cast: Cast) -> None:
    actor = cast.actor(Role.MEMBER, door=Door.OFFICE)
    cast.perform(change_password, actor, password="another password", session="ses_1")


def ask_for_reset(cast: Cast) -> None:
    performer = cast.performer
    send_reset_link(performer.database, performer.languages, EMAILS[Role.MEMBER], performer.clock())


def connect_app(cast: Cast) -> None:
    actor_through_app(cast, Role.OFFICE)


def disable_webhooks(cast: Cast) -> None:
    for reason in (GONE, FAILING):
        webhook, since = make_webhook(cast), moment_text(cast.performer.clock())
        set_columns(cast, "webhook", webhook, failing_since=since, url="https://1.1.1.1/hook")
        given = {"webhookId": webhook, "url": "https://1.1.1.1/hook", "failingSince": since, "reason": reason}
        cast.perform(disable_webhook, system_actor(cast.organisation), **given)


def reject_hours(cast: Cast) -> None:
    entry = make_time_entry(cast_at(cast), status="submitted")
    cast.perform(review_hours, timeEntryIds=[entry["id"]], decision="reject", reason="Which job?")


def decide_leave(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    times = {"startsAt": "2038-02-01T20:00", "endsAt": "2038-02-02T06:00"}
    for decision, given in (("approve", times), ("decline", {"from": "2038-03-01", "until": "2038-03-04"})):
        leave = cast.perform(request_time_off, Role.MEMBER, **given)
        cast.perform(decide_time_off, Role.OFFICE, timeOffId=leave["id"], decision=decision, note="We are three short.")
    sick: dict[str, object] = {"personId": member, "from": "2038-04-01", "kind": "sick", "approved": True}
    cast.perform(cancel_time_off, Role.OFFICE, timeOffId=cast.perform(request_time_off, Role.OFFICE, **sick)["id"])


def change_schedule(cast: Cast) -> None:
    moved = plan_test_visit(cast, kind="other", title="Stocktaking")
    plan_test_visit(cast, on="2038-01-12")
    [told] = [email for email in send_emails(cast) if email["to"] == EMAILS[Role.MEMBER]]
    assert check_texts(cast, told["subject"], told["text"]) == []
    visit = moved["data"][0] if "data" in moved else moved
    cast.perform(move_visit, visitId=visit["id"], startsAt="2038-01-11T12:00", endsAt="2038-01-11T13:00")


def accept_sent_quote(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast, email="ann@calder.example"), leadPersonId=cast.people[Role.ADMIN])
    accept_quote(cast, issue_quote(cast, make_quote(cast, jobId=job["id"], deposit={"percent": "25"}), deliver="none"))


# What sends an email to people, by the module that writes it.
EMAILS_TO_PEOPLE: dict[str, Callable[[Cast], None]] = {
    "business/people/reactions.py": invite_someone,
    "identity/person_sign_in.py": set_passwords,
    "identity/sign_in.py": ask_for_reset,
    "identity/connection_emails.py": connect_app,
    "webhooks/disabling.py": disable_webhooks,
    "business/hours/approval.py": reject_hours,
    "business/schedule/leave.py": decide_leave,
    "business/schedule/emails.py": change_schedule,
    "business/quotes/reactions.py": accept_sent_quote,
}


def test_every_email_to_people_is_tested() -> None:
    modules = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(find_calls(path, {"email_person", "PersonEmail"}))
    }
    assert modules - {"business/people/emails.py"} == EMAILS_TO_PEOPLE.keys()


@pytest.mark.parametrize("module", EMAILS_TO_PEOPLE)
def test_no_text_of_an_email_to_people_escapes(french_cast: Cast, module: str) -> None:
    send_emails(french_cast)
    EMAILS_TO_PEOPLE[module](french_cast)
    emails = [email for email in send_emails(french_cast) if "paper" not in email]
    assert emails
    for email in emails:
        assert "⟦" in email["subject"]
        assert check_texts(french_cast, email["subject"], *email["text"].splitlines()) == []


def email_quote(cast: Cast) -> None:
    accept_quote(cast, issue_quote(cast, make_quote(cast, deposit={"percent": "25"})))


def email_invoices(cast: Cast) -> None:
    day = cast_at(cast, "2026-11-01T12:00:00Z")
    invoice = issue_invoice(day, make_invoice(day, dueOn="2026-11-10"), deliver="email")
    for moment in ("2026-11-02T12:00:00Z", "2026-11-16T12:00:00Z"):
        cast_at(cast, moment).perform(send_reminder, Role.OFFICE, invoiceId=invoice["id"], confirmed=True)
    now = cast_at(cast, "2026-11-17T12:00:00Z")
    now.perform(send_statement, Role.OFFICE, customerId=invoice["customerId"], confirmed=True)
    credit_issued(now, invoice, deliver="email")


def email_order(cast: Cast) -> None:
    cast.perform(send_purchase_order, Role.OFFICE, purchaseOrderId=make_order(cast)["id"], confirmed=True)


def test_no_text_of_an_email_to_customers_and_its_document_escapes(french_cast: Cast) -> None:
    send_emails(french_cast)
    for trigger in (email_quote, email_invoices, email_order):
        trigger(french_cast)
    emails = [email for email in send_emails(french_cast) if "paper" in email]
    for email in emails:
        texts = (email["subject"], *email["text"].splitlines(), *visible_texts(email["html"]), email["paper_name"])
        assert check_texts(french_cast, *texts) == []
    for snapshot in read_snapshots(french_cast):
        printed = read_pdf_texts(render_document(snapshot))
        assert len(printed) > 10
        assert check_texts(french_cast, *printed) == []
    subjects = [text for key, text in load_messages(CODE).items() if key.startswith("mail.") and "Subject" in key]
    assert len(subjects) == 8
    for subject in subjects:
        pattern = re.sub(r"\\{\w+\\}", ".+", re.escape(subject))
        assert any(re.fullmatch(pattern, email["subject"]) for email in emails), subject


def read_snapshots(cast: Cast) -> list[Snapshot]:
    """Return the snapshot of one issued document of each kind."""
    tables = ("quote", "invoice", "credit_note", "purchase_order", "account_statement")
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        rows = [db.one(f"SELECT snapshot FROM {table} WHERE snapshot IS NOT NULL LIMIT 1") for table in tables]
    return [Snapshot.model_validate_json(str(row and row[0])) for row in rows]


_ITEM = SnapshotItem("Boiler", discount_percent="5")
_SITE = {"name": "North barn", "address": {"line1": "2 Weir Lane", "country": "GB"}}
_EXTRAS: dict[str, Any] = {
    "language": CODE,
    "site": _SITE,
    "title": "New heating",
    "reference": "Yours",
    "orderNumber": "4711",
    "job": {"number": "J-0001", "title": "New heating"},
    "notes": "Thanks",
    "terms": "Our conditions",
}
_PRECEDING = [{"number": "INV-0100", "issuedOn": "2026-10-01"}, {"number": "INV-0101"}]


def make_snapshots() -> Iterator[tuple[Snapshot, Copy | None]]:
    """Yield documents that together have every part."""
    discount = Discount(percent=33_333)
    untaxed = [SnapshotItem("Work", rate=rate) for rate in (EXEMPT, REVERSE_CHARGE)]
    period = {"from": "2026-11-09", "until": "2026-11-10"}
    yield make_snapshot(_ITEM, *untaxed, "# Parts", discount=discount, servicePeriod=period, **_EXTRAS), None
    yield make_snapshot(SnapshotItem(rate=OUTSIDE), servicePeriod={**period, "until": "2026-11-09"}, **_EXTRAS), "void"
    for kind in ("deposit", "progress", "final"):
        yield make_snapshot(_ITEM, type=kind, preceding=_PRECEDING, pricesIncludeTax=True, **_EXTRAS), "draft"
    options = [SnapshotItem("Option", optional=True, chosen=chosen) for chosen in (True, False)]
    for percent in ("25", None):
        deposit = {"percent": percent, "amount": "25"}
        more = {"validUntil": "2026-12-01", "revision": 2, "deposit": deposit, **_EXTRAS}
        yield make_snapshot(_ITEM, *options, kind="quote", **more), None
    yield make_snapshot(_ITEM, kind="creditNote", preceding=_PRECEDING, reason="Returned", **_EXTRAS), None
    yield make_snapshot(_ITEM, kind="purchaseOrder", neededOn="2026-12-01", collected=True, **_EXTRAS), None


@pytest.mark.usefixtures("french_cast")
def test_no_text_of_a_document_escapes() -> None:
    for snapshot, stamp in make_snapshots():
        check = TextCheck({*walk_texts(snapshot.model_dump(mode="json"))}, SAME_EVERYWHERE)
        printed = read_pdf_texts(render_document(snapshot, copy=stamp))
        assert [part for text in printed for part in check.find_untranslated(text)] == []
