"""What customers and suppliers are told, in their language: documents, mails and public pages."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from mainstay.late import late

_CATALOGUES = Path(__file__).parent / "languages"


def say(language: str, key: str, **values: object) -> str:
    """A message such as `pay.by`, with these values in the places of their names."""
    # What is put in is never looked at again: braces in a customer's name are braces.
    return catalogue(language)[key].format_map(values)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """All messages of a language, by their keys."""
    with (_CATALOGUES / f"{language}.toml").open("rb") as file:
        sections = late("tomllib").load(file)
    return MappingProxyType(
        {f"{section}.{name}": text for section, messages in sections.items() for name, text in messages.items()}
    )
