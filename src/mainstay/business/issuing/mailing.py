"""The mail that a document goes with: in the customer's language or the organisation's own words, and from its name."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal, NamedTuple

import orjson

from mainstay.business.customers.model import Customer
from mainstay.business.organisation.mail_texts import put_in
from mainstay.identity.mails import LINK, MAIL
from mainstay.kernel.context import Context
from mainstay.ledger.outbox import Letter, Message
from mainstay.paper.messages import say
from mainstay.paper.snapshot import Snapshot
from mainstay.values.mailbox import fold_address


class Enclosed(NamedTuple):
    """What is mailed: a record that was issued, what its PDF is called, and the kind of the link, to whose page."""

    # Which words go with it: those of a quote, an invoice, a reminder.
    words: str
    record: str
    file_name: str
    link_kind: str | None = None
    linked: str = ""


# The words that go with each kind of mail: its subject, its text, and what one presses there.
_WORDS: dict[str, tuple[str, str, str | None]] = {
    "quote": ("mail.quoteSubject", "mail.quoteText", "mail.quoteButton"),
    "invoice": ("mail.invoiceSubject", "mail.invoiceText", "mail.invoiceButton"),
    "reminder": ("mail.reminderSubject", "mail.reminderText", "mail.reminderButton"),
    "credit": ("mail.creditSubject", "mail.creditText", "mail.creditButton"),
    "order": ("mail.orderSubject", "mail.orderText", None),
}


def addresses(ctx: Context, customer: Customer, receives: Literal["quotes", "invoices"]) -> list[str]:
    """Where a customer is mailed such documents: their own address, and those of contacts who receive them."""
    rows = ctx.rows.all(
        "SELECT email, receives FROM contact WHERE organisation_id = :organisation AND customer_id = :customer"
        " AND status = 'active' AND email IS NOT NULL ORDER BY id",
        customer=customer.id,
    )
    theirs = [str(email) for email, told in rows if orjson.loads(str(told))[receives]]
    return each_once([*([customer.email] if customer.email else []), *theirs])


def each_once(found: Sequence[str]) -> list[str]:
    """Addresses without those that are the same mailbox."""
    once: dict[str, str] = {}
    for address in found:
        once.setdefault(fold_address(address), address)
    return list(once.values())


def letters(
    enclosed: Enclosed, snapshot: Snapshot, to: list[str], own: Mapping[str, str] | None, values: dict[str, str]
) -> list[Letter]:
    """A mail for each address: the organisation's own words or the usual ones, with these values in them."""
    language, (subject_key, text_key, button) = snapshot.language, _WORDS[enclosed.words]
    values = values | {"link": LINK}
    if own:
        text = own["text"] if "{link}" in own["text"] else f"{own['text']}\n\n{{link}}"
        subject, text = put_in(own["subject"], values), put_in(text, values)
    else:
        subject, text = say(language, subject_key, **values), say(language, text_key, **values)
    # A name may have a line break where a subject has none.
    subject = " ".join(subject.split())
    payload = {
        "subject": subject,
        "text": text,
        "html": _html(text, say(language, button) if button else "", language),
        "sender_name": snapshot.issuer.name,
        "reply_to": snapshot.issuer.email or "",
        "paper": enclosed.record,
        "paper_name": enclosed.file_name,
    }
    if enclosed.link_kind:
        payload |= {"link_kind": enclosed.link_kind, "link": enclosed.linked}
    return [_letter(address, payload) for address in to]


def _letter(to: str, payload: dict[str, str]) -> Letter:
    subject = payload["subject"]
    message = Message(payload["paper"], to, subject)
    return Letter(MAIL, {"to": to, **payload}, f"Mail to {to}: {subject}", message)


def _html(text: str, button: str, language: str) -> str:
    """The same as a page: paragraphs, and the link as something to press."""
    paragraphs = [escape(part).replace("\n", "<br>") for part in text.split("\n\n")]
    link = f'<a href="{LINK}" style="{_BUTTON}">{escape(button)}</a>'
    # The name of the page is not read out: what one presses says what it does.
    body = "".join(f"<p>{part.replace(LINK, link)}</p>" for part in paragraphs)
    return f'<!doctype html><html lang="{language}"><body style="{_BODY}">{body}</body></html>'


_BODY = "font-family:sans-serif;font-size:16px;line-height:1.5;color:#1f2328;max-width:40em"
_BUTTON = (
    "display:inline-block;padding:10px 18px;background:#1f4d3a;color:#ffffff;border-radius:6px;text-decoration:none"
)
