"""Messages for customers and suppliers in their language: on documents, in emails and on public pages."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from mainstay.lazy_import import import_lazily

_LANGUAGES = Path(__file__).parent / "languages"


def translate(language: str, key: str, **values: object) -> str:
    """Return a message such as `pay.by`, with the values filled in."""
    # Values are not formatted again, so braces in a customer's name stay braces.
    return load_messages(language)[key].format_map(values)


@cache
def load_messages(language: str) -> Mapping[str, str]:
    """Return all messages of a language, by their keys."""
    with (_LANGUAGES / f"{language}.toml").open("rb") as file:
        sections = import_lazily("tomllib").load(file)
    return MappingProxyType(
        {f"{section}.{name}": text for section, messages in sections.items() for name, text in messages.items()}
    )
