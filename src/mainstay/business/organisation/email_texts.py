"""An organisation's own wording for its emails to customers."""

import re
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from pydantic import Field, field_validator

from mainstay.documents.messages import load_messages
from mainstay.values.descriptions import Description, describe
from mainstay.values.fields import Paragraph, TextLine
from mainstay.values.message import Message
from mainstay.values.part_changes import RecordPart

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_LINK_PLACEHOLDER = "{link}"
# The default wording of each kind of email: the keys of subject, text and button in the messages.
_DEFAULT_TEXT_KEYS: dict[str, tuple[str, str, str | None]] = {
    "quote": ("mail.quoteSubject", "mail.quoteText", "mail.quoteButton"),
    "invoice": ("mail.invoiceSubject", "mail.invoiceText", "mail.invoiceButton"),
    "reminder": ("mail.reminderSubject", "mail.reminderText", "mail.reminderButton"),
    # A reminder before the due date has a wording of its own: the organisation's own reminder text says that the
    # invoice is overdue.
    "dueSoon": ("mail.dueSoonSubject", "mail.dueSoonText", "mail.reminderButton"),
    "credit": ("mail.creditSubject", "mail.creditText", "mail.creditButton"),
    # Confirms to a customer that they accepted a quote.
    "accepted": ("mail.acceptedSubject", "mail.acceptedText", "mail.acceptedButton"),
    # Suppliers have no public page to link to.
    "order": ("mail.orderSubject", "mail.orderText", None),
    # A statement covers several documents, so no single page fits a button.
    "statement": ("mail.statementSubject", "mail.statementText", None),
}


class EmailWording(NamedTuple):
    """The wording of one email, with placeholders in braces; `button` is None if the email has no button."""

    subject: str
    text: str
    button: str | None


def choose_wording(kind: str, language: str, own_wording: Mapping[str, str] | None) -> EmailWording:
    """Return the wording of a kind of email: the organisation's own, or the default in a language."""
    messages, (subject_key, text_key, button) = load_messages(language), _DEFAULT_TEXT_KEYS[kind]
    if own_wording:
        text = (
            own_wording["text"]
            if _LINK_PLACEHOLDER in own_wording["text"]
            else f"{own_wording['text']}\n\n{_LINK_PLACEHOLDER}"
        )
        return EmailWording(own_wording["subject"], text, messages[button] if button else None)
    return EmailWording(messages[subject_key], messages[text_key], messages[button] if button else None)


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders in a text by their values. Values are not searched for further placeholders."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


class MailText(RecordPart):
    """The wording of one kind of email."""

    # The names that may stand in braces: each email of this kind has a value for them.
    placeholders: ClassVar[tuple[str, ...]] = ()

    subject: TextLine = Field(description="May contain the same placeholders as the text.")
    text: Paragraph = Field(description="Without {link}, the link is added at the end.")

    @field_validator("subject", "text")
    @classmethod
    def _check_placeholders(cls, text: str) -> str:
        unknown = [name for name in _PLACEHOLDER.findall(text) if name not in cls.placeholders]
        if unknown:
            raise ValueError(
                Message(
                    "has the unknown placeholder {placeholder}; use {known}",
                    placeholder=_in_braces(unknown[0]),
                    known=", ".join(map(_in_braces, cls.placeholders)),
                )
            )
        return text


class QuoteMail(MailText):
    """The wording of the email with a quote."""

    placeholders = ("customer", "organisation", "number", "title", "total", "validUntil", "link")


class InvoiceMail(MailText):
    """The wording of the email with an invoice, or of a payment reminder."""

    placeholders = ("customer", "organisation", "number", "title", "total", "due", "dueOn", "link")


def _describe(kind: type[MailText], purpose: str) -> Description:
    names = " ".join(map(_in_braces, kind.placeholders))
    return describe(f"[[{purpose}; null for the standard text. Placeholders: {names}.]]")


def _in_braces(name: str) -> str:
    return f"{{{name}}}"


class MailTexts(RecordPart):
    """The organisation's own wording for each kind of email."""

    quote: QuoteMail | None = Field(None, description=_describe(QuoteMail, "Email with a quote"))
    invoice: InvoiceMail | None = Field(None, description=_describe(InvoiceMail, "Email with an invoice"))
    reminder: InvoiceMail | None = Field(
        None, description="Email for an overdue invoice. It has the same placeholders."
    )
