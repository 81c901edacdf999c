"""The words of an organisation's own in what it mails to customers."""

import re
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from pydantic import Field, field_validator

from mainstay.paper.messages import catalogue
from mainstay.values.fields import Line, Paragraph
from mainstay.values.parts import Part

_IN_BRACES = re.compile(r"\{([^{}]*)\}")
_LINK = "{link}"
# What each kind of mail says where an organisation has no words of its own.
_USUAL: dict[str, tuple[str, str, str | None]] = {
    "quote": ("mail.quoteSubject", "mail.quoteText", "mail.quoteButton"),
    "invoice": ("mail.invoiceSubject", "mail.invoiceText", "mail.invoiceButton"),
    "reminder": ("mail.reminderSubject", "mail.reminderText", "mail.reminderButton"),
    # A reminder before it is due; an organisation's own words for one say that it is overdue.
    "dueSoon": ("mail.dueSoonSubject", "mail.dueSoonText", "mail.reminderButton"),
    "credit": ("mail.creditSubject", "mail.creditText", "mail.creditButton"),
    # What confirms to a customer that they accepted a quote.
    "accepted": ("mail.acceptedSubject", "mail.acceptedText", "mail.acceptedButton"),
    # A supplier has no page of ours.
    "order": ("mail.orderSubject", "mail.orderText", None),
    # What is on it is on several pages.
    "statement": ("mail.statementSubject", "mail.statementText", None),
}


class MailWords(NamedTuple):
    """What a mail says, with names in braces for what only it knows; and what one presses in it, if anything."""

    subject: str
    text: str
    button: str | None


def worded(kind: str, language: str, own: Mapping[str, str] | None) -> MailWords:
    """The words of a kind of mail: the organisation's own, or the usual ones of a language."""
    said, (subject_key, text_key, button) = catalogue(language), _USUAL[kind]
    if own:
        text = own["text"] if _LINK in own["text"] else f"{own['text']}\n\n{_LINK}"
        return MailWords(own["subject"], text, said[button] if button else None)
    return MailWords(said[subject_key], said[text_key], said[button] if button else None)


def put_in(text: str, values: Mapping[str, str]) -> str:
    """A text with these values in the places of their names; what is put in is not looked at again."""
    return _IN_BRACES.sub(lambda found: values.get(found[1], found[0]), text)


class MailText(Part):
    """What one kind of mail says."""

    # What stands in braces for something that each mail of the kind knows.
    placeholders: ClassVar[tuple[str, ...]] = ()

    subject: Line = Field(description="May name the same as the text.")
    text: Paragraph = Field(description="{link} stands at the end where it is not named.")

    @field_validator("subject", "text")
    @classmethod
    def _names_what_is_known(cls, text: str) -> str:
        unknown = [name for name in _IN_BRACES.findall(text) if name not in cls.placeholders]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in cls.placeholders)
            raise ValueError(f"knows no {{{unknown[0]}}}; there are {known}")
        return text


class QuoteMail(MailText):
    """What the mail with a quote says."""

    placeholders = ("customer", "organisation", "number", "title", "total", "validUntil", "link")


class InvoiceMail(MailText):
    """What the mail with an invoice says, or a reminder of one."""

    placeholders = ("customer", "organisation", "number", "title", "total", "due", "dueOn", "link")


def _named(kind: type[MailText], what: str) -> str:
    names = " ".join(f"{{{name}}}" for name in kind.placeholders)
    return f"{what}; null for the usual words. May name {names}."


class MailTexts(Part):
    """What each kind of mail says, where it is not what everyone's says."""

    quote: QuoteMail | None = Field(None, description=_named(QuoteMail, "With a quote"))
    invoice: InvoiceMail | None = Field(None, description=_named(InvoiceMail, "With an invoice"))
    reminder: InvoiceMail | None = Field(None, description="When an invoice is overdue; the same.")
