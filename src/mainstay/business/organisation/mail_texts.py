"""The words of an organisation's own in what it mails to customers."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from mainstay.values.fields import Line, Paragraph

# What stands in braces for something that each mail knows.
PLACEHOLDERS = ("customer", "organisation", "number", "title", "total", "validUntil", "link")
_IN_BRACES = re.compile(r"\{([^{}]*)\}")


def _check(text: str) -> str:
    unknown = [name for name in _IN_BRACES.findall(text) if name not in PLACEHOLDERS]
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise ValueError(f"knows no {{{unknown[0]}}}; there are {known}")
    return text


def put_in(text: str, values: Mapping[str, str]) -> str:
    """A text with these values in the places of their names; what is put in is not looked at again."""
    return _IN_BRACES.sub(lambda found: values.get(found[1], found[0]), text)


class MailText(BaseModel):
    """What one kind of mail says."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    subject: Annotated[Line, AfterValidator(_check)] = Field(description="May name {number}, {title}, {organisation}.")
    text: Annotated[Paragraph, AfterValidator(_check)] = Field(
        description="May also name {customer}, {total}, {validUntil}; {link} stands at the end where it is not named."
    )


class MailTexts(BaseModel):
    """What each kind of mail says, where it is not what everyone's says."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    quote: MailText | None = Field(None, description="With a quote; null for the usual words.")
