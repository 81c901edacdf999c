"""Emails with a document, in the organisation's own words or in the usual ones of the customer's language."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Annotated, Literal, NamedTuple

import orjson
from pydantic import Field

from mainstay.business.customers.model import Customer
from mainstay.business.issuing.document_files import IssuableDocument, document_file_of, snapshot_of
from mainstay.business.organisation.email_texts import choose_wording, fill_placeholders
from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.pricelist.model import Supplier
from mainstay.changes.outbox import Lane, OutboxTask, TaskMessage
from mainstay.documents.locales import Locale
from mainstay.identity.emails import EMAIL_TASK, LINK_MARK
from mainstay.kernel.context import LINK_PLACEHOLDER, Context, PreviewedEmail
from mainstay.values.descriptions import describe
from mainstay.values.email_address import fold_address
from mainstay.values.fields import Email, EmailSubject, EmailText
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Reason
from mainstay.vocabulary.schemas import IrreversibleInput

_MAX_ADDRESSES = 10
NO_REPLY_ADDRESS = Message("Your organisation has no email address, so nobody can reply. Add one in Settings.")


class DocumentEmailInput(IrreversibleInput):
    """What can be chosen about the email with a document, besides its recipients."""

    cc: list[Email] | None = Field(
        None,
        max_length=_MAX_ADDRESSES,
        title="Cc",
        description="Addresses that get a copy. All recipients see each other's.",
    )
    subject: EmailSubject | None = Field(None, description="Instead of the template's subject.")
    message: EmailText | None = Field(
        None,
        description=describe(
            "Plain text, instead of the template's. [[`{link}` becomes the link, which is otherwise at the end.]]"
        ),
    )


class EmailedDocument(NamedTuple):
    """What is emailed: an issued document, a link to its public page, and what was chosen about the email."""

    # Which email text is used: that of a quote, an invoice, a reminder, a credit note or an order.
    text_kind: str
    document: IssuableDocument
    link_kind: str | None = None
    linked_id: str = ""
    given: DocumentEmailInput | None = None


# A function that returns the values for the placeholders in the email text, formatted for the recipient's locale.
EmailValues = Callable[[Locale], Mapping[str, str]]

# With `none`, no email is sent: the organisation hands the document over itself.
DeliveryMethod = Literal["email", "none"]
Deliver = Annotated[
    DeliveryMethod, Field(title="How to send it", description=describe("[[`none`: issue it without an email.]]"))
]


def recipients_field(replaced: str) -> object:
    """Describe the input field for addresses that replace the usual ones."""
    return Field(max_length=_MAX_ADDRESSES, title="Email to", description=f"Email addresses, instead of {replaced}.")


class Recipients(NamedTuple):
    """The addresses that a document is emailed to, and the reasons against it."""

    to: list[str]
    reasons: list[Reason]


def find_customer_recipients(
    ctx: Context,
    customer: Customer,
    receives: Literal["quotes", "invoices"],
    addresses: Sequence[str] | None,
    deliver: DeliveryMethod | None = None,
) -> Recipients:
    """Find a customer's recipients: `addresses`, or else the customer's own and those of contacts who receive such.

    `deliver` is None if there is nothing to do but to send the email.
    """
    if deliver == "none":
        return Recipients([], [])
    to = addresses or _find_usual_addresses(ctx, customer, receives)
    message = _describe_missing_address(customer.name, deliver)
    return _to_recipients(to, Reason(message, "update_customer", unblocking_record_id=customer.id))


def find_supplier_recipients(
    supplier: Supplier, addresses: Sequence[str] | None, deliver: DeliveryMethod
) -> Recipients:
    """Find a supplier's recipients: `addresses`, or else the supplier's own address."""
    if deliver == "none":
        return Recipients([], [])
    to = addresses or ([supplier.email] if supplier.email else [])
    message = _describe_missing_address(supplier.name, deliver)
    return _to_recipients(to, Reason(message, "save_supplier", unblocking_record_id=supplier.id))


def email_document(
    ctx: Context, emailed: EmailedDocument, to: Sequence[str], values_for: EmailValues, *, brief: bool = False
) -> None:
    """Email a document to each address: in the given words, the organisation's own, or the usual ones.

    The preview shows the text, unless it is `brief` because there are many such emails.
    """
    if not to:
        return
    payload = _write_email(ctx, emailed, values_for)
    subject, cc = payload["subject"], _find_copied_addresses(emailed.given, to)
    if cc:
        # Each address gets an email of its own, which names all of them.
        payload |= {"all_to": ",".join(to), "cc": ",".join(cc)}
    lane = Lane.EMAILS if emailed.document.files["pdf"] else Lane.PDFS
    for address in (*to, *cc):
        ctx.add_task(_build_email_task(address, payload, lane, is_copy=address in cc))
    if brief:
        ctx.effects += [
            Message(
                "{document} by email to {address}: {subject}",
                document=emailed.document.short_name,
                address=address,
                subject=subject,
            )
            for address in to
        ]
    else:
        message = payload["text"].replace(LINK_MARK, LINK_PLACEHOLDER).strip()
        ctx.email = PreviewedEmail([*to], cc, subject, message)
    if not payload["reply_to"] and NO_REPLY_ADDRESS not in ctx.warnings:
        ctx.warnings.append(NO_REPLY_ADDRESS)


def _find_copied_addresses(given: DocumentEmailInput | None, to: Sequence[str]) -> list[str]:
    """Return the addresses that get a copy, without those that get the email anyway."""
    copied = _group_by_mailbox(given.cc or ()) if given else {}
    return [copied[mailbox] for mailbox in copied if mailbox not in _group_by_mailbox(to)]


def _write_email(ctx: Context, emailed: EmailedDocument, values_for: EmailValues) -> dict[str, str]:
    """Return the content of an email. The link is created when it is sent."""
    snapshot, given = snapshot_of(emailed.document), emailed.given
    words = choose_wording(emailed.text_kind, snapshot.language, settings_of(ctx).own_email_text(emailed.text_kind))
    values = {"organisation": snapshot.issuer.name, "link": LINK_MARK, **values_for(Locale.for_snapshot(snapshot))}
    own_subject, own_message = (given.subject, given.message) if given else (None, None)
    text = _mark_link(own_message, emailed) if own_message else fill_placeholders(words.text, values)
    link = {"link_kind": emailed.link_kind, "link": emailed.linked_id} if emailed.link_kind else {}
    return {
        # A name may contain a line break, and a subject may not.
        "subject": own_subject or " ".join(fill_placeholders(words.subject, values).split()),
        "text": text,
        "html": _render_html(text, words.button or "", snapshot.language),
        "sender_name": snapshot.issuer.name,
        "reply_to": snapshot.issuer.email or "",
        "paper": emailed.document.id,
        "paper_name": document_file_of(emailed.document).name,
        **link,
    }


def _mark_link(message: str, emailed: EmailedDocument) -> str:
    """Return a message with the mark of the link at its placeholder or at the end, if the document has a page."""
    if emailed.link_kind is None:
        return message
    text = message if LINK_PLACEHOLDER in message else f"{message}\n\n{LINK_PLACEHOLDER}"
    return text.replace(LINK_PLACEHOLDER, LINK_MARK)


def _describe_missing_address(name: str, deliver: DeliveryMethod | None) -> Message:
    """Return the reason that there is no address; without an email, a document can be issued but not a reminder."""
    if deliver is None:
        return Message("{name} has no email address. Add one, or enter where to send it.", name=name)
    return Message(
        "{name} has no email address. Add one, enter where to send it, or issue it without an email.", name=name
    )


def _to_recipients(to: Sequence[str], no_address: Reason) -> Recipients:
    """Return the recipients, each mailbox once."""
    by_mailbox = _group_by_mailbox(to)
    return Recipients(list(by_mailbox.values()), [] if by_mailbox else [no_address])


def _group_by_mailbox(addresses: Sequence[str]) -> dict[str, str]:
    """Return the first address of each mailbox, by its folded form."""
    by_mailbox: dict[str, str] = {}
    for address in addresses:
        by_mailbox.setdefault(fold_address(address), address)
    return by_mailbox


def _find_usual_addresses(ctx: Context, customer: Customer, receives: str) -> list[str]:
    rows = ctx.db.all(
        "SELECT email, receives FROM contact WHERE organisation_id = :organisation AND customer_id = :customer"
        " AND status = 'active' AND email IS NOT NULL ORDER BY id",
        customer=customer.id,
    )
    of_contacts = [str(email) for email, received_kinds in rows if orjson.loads(str(received_kinds))[receives]]
    return [*([customer.email] if customer.email else []), *of_contacts]


def _build_email_task(to: str, payload: dict[str, str], lane: Lane, *, is_copy: bool) -> OutboxTask:
    subject = payload["subject"]
    text = payload["text"].replace(LINK_MARK, "[link]").strip()
    message = TaskMessage(payload["paper"], to, subject, text, is_copy=is_copy)
    description = Message("Email to {address}: {subject}", address=to, subject=subject)
    return OutboxTask(EMAIL_TASK, {"to": to, **payload}, description, message, lane=lane)


def _render_html(text: str, button: str, language: str) -> str:
    """Render an email text as HTML: paragraphs, and the link as a button."""
    paragraphs = [escape(part).replace("\n", "<br>") for part in text.split("\n\n")]
    link = f'<a href="{LINK_MARK}" style="{_BUTTON_STYLE}">{escape(button)}</a>'
    # The page's address is not shown: the button's label says what it does.
    body = "".join(f"<p>{part.replace(LINK_MARK, link)}</p>" for part in paragraphs)
    return f'<!doctype html><html lang="{language}"><body style="{_BODY_STYLE}">{body}</body></html>'


_BODY_STYLE = "font-family:sans-serif;font-size:16px;line-height:1.5;color:#1f2328;max-width:40em"
_BUTTON_STYLE = (
    "display:inline-block;padding:10px 18px;background:#1f4d3a;color:#ffffff;border-radius:6px;text-decoration:none"
)
