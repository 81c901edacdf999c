"""The words of an organisation's own in what it mails to customers."""

import re
from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from mainstay.values.fields import Line, Paragraph

_IN_BRACES = re.compile(r"\{([^{}]*)\}")


def put_in(text: str, values: Mapping[str, str]) -> str:
    """A text with these values in the places of their names; what is put in is not looked at again."""
    return _IN_BRACES.sub(lambda found: values.get(found[1], found[0]), text)


class MailText(BaseModel):
    """What one kind of mail says."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    # What stands in braces for something that each mail of the kind knows.
    placeholders: ClassVar[tuple[str, ...]] = ()

    subject: Line = Field(description="One line.")
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


class MailTexts(BaseModel):
    """What each kind of mail says, where it is not what everyone's says."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    quote: QuoteMail | None = Field(None, description=_named(QuoteMail, "With a quote"))
    invoice: InvoiceMail | None = Field(None, description=_named(InvoiceMail, "With an invoice"))
    reminder: InvoiceMail | None = Field(None, description="When an invoice is overdue; the same.")
