"""The mail that a document goes with: in the customer's language or the organisation's own words, and from its name."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.issuing.printed import Document, paper_of, snapshot_of
from mainstay.business.organisation.house import house_of
from mainstay.business.organisation.mail_texts import put_in, worded
from mainstay.business.pricelist.model import Supplier
from mainstay.identity.mails import LINK, MAIL
from mainstay.kernel.context import Context
from mainstay.ledger.outbox import Lane, Letter, Mention
from mainstay.paper.locales import Locale
from mainstay.terms.refusal import Reason
from mainstay.values.mailbox import fold_address

_MOST_ADDRESSES = 10
_NOBODY = "There is no address to mail it to. Give {} one, {}."
_NO_ANSWER = "The organisation has no e-mail address, so nobody can answer the mail. Add one in settings."


class Enclosed(NamedTuple):
    """What is mailed: a document that was issued, and the kind of the link, to whose page."""

    # Which words go with it: those of a quote, an invoice, a reminder, a credit note, an order.
    words: str
    document: Document
    link_kind: str | None = None
    linked: str = ""


# What is put into the words, written as the reader writes it.
Values = Callable[[Locale], Mapping[str, str]]

# A mail that is not sent at all is handed over otherwise.
Deliver = Literal["email", "none"]
DELIVER: Any = Field("email", description="`none` issues it without a mail.")


def addressed(whose: str) -> Any:
    """The field for addresses, where a document does not go to the usual ones."""
    return Field(None, max_length=_MOST_ADDRESSES, title="To", description=f"Addresses, in place of {whose}.")


_WAYS: dict[Deliver | None, str] = {
    "email": "say where it is to go, or issue it without a mail",
    None: "or say where it is to go",
}


class Recipients(NamedTuple):
    """Where a document is mailed, and why it cannot be."""

    to: list[str]
    against: list[Reason]


def customer_s(
    ctx: Context,
    customer: Customer,
    receives: Literal["quotes", "invoices"],
    asked: Sequence[str] | None,
    deliver: Deliver | None = None,
) -> Recipients:
    """Where a customer is mailed: where asked, or at their own address and those of contacts who receive such.

    What is nothing but a mail says nothing of how it is delivered.
    """
    if deliver == "none":
        return Recipients([], [])
    to = asked or _usual(ctx, customer, receives)
    return _recipients(to, Reason(_NOBODY.format(customer.name, _WAYS[deliver]), "update_customer", at=customer.id))


def supplier_s(supplier: Supplier, asked: Sequence[str] | None, deliver: Deliver) -> Recipients:
    """Where a supplier is mailed."""
    if deliver == "none":
        return Recipients([], [])
    to = asked or ([supplier.email] if supplier.email else [])
    return _recipients(to, Reason(_NOBODY.format(supplier.name, _WAYS[deliver]), "save_supplier", at=supplier.id))


def mail(ctx: Context, enclosed: Enclosed, to: Sequence[str], told: Values, *, brief: bool = False) -> None:
    """Mail a document to each address, in the organisation's own words or the usual ones, with values in them.

    The preview shows the words, unless it is `brief` because there are many such mails.
    """
    if not to:
        return
    snapshot = snapshot_of(enclosed.document)
    own = house_of(ctx).words_for(enclosed.words)
    words = worded(enclosed.words, snapshot.language, own)
    values = {"organisation": snapshot.issuer.name, "link": LINK, **told(Locale.of(snapshot))}
    # A name may have a line break where a subject has none.
    subject, text = " ".join(put_in(words.subject, values).split()), put_in(words.text, values)
    payload = {
        "subject": subject,
        "text": text,
        "html": _html(text, words.button or "", snapshot.language),
        "sender_name": snapshot.issuer.name,
        "reply_to": snapshot.issuer.email or "",
        "paper": enclosed.document.id,
        "paper_name": paper_of(enclosed.document).name,
    }
    if enclosed.link_kind:
        payload |= {"link_kind": enclosed.link_kind, "link": enclosed.linked}
    for address in to:
        ctx.post(_letter(address, payload, Lane.EMAILS if enclosed.document.files["pdf"] else Lane.PRINTS))
        ctx.effects.append(f"{enclosed.document.named if brief else 'It'} is mailed to {address}: {subject}")
    if not brief:
        # The link is made when the mail leaves, and is the reader's own.
        ctx.effects.append(f"The mail says:\n{text.replace(LINK, '[link]').strip()}")
    if not snapshot.issuer.email and _NO_ANSWER not in ctx.warnings:
        ctx.warnings.append(_NO_ANSWER)


def _recipients(to: Sequence[str], nobody: Reason) -> Recipients:
    """Addresses without those that are the same mailbox."""
    once: dict[str, str] = {}
    for address in to:
        once.setdefault(fold_address(address), address)
    return Recipients(list(once.values()), [] if once else [nobody])


def _usual(ctx: Context, customer: Customer, receives: str) -> list[str]:
    rows = ctx.rows.all(
        "SELECT email, receives FROM contact WHERE organisation_id = :organisation AND customer_id = :customer"
        " AND status = 'active' AND email IS NOT NULL ORDER BY id",
        customer=customer.id,
    )
    theirs = [str(email) for email, told in rows if orjson.loads(str(told))[receives]]
    return [*([customer.email] if customer.email else []), *theirs]


def _letter(to: str, payload: dict[str, str], lane: Lane) -> Letter:
    subject = payload["subject"]
    message = Mention(payload["paper"], to, subject)
    return Letter(MAIL, {"to": to, **payload}, f"Mail to {to}: {subject}", message, lane=lane)


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
