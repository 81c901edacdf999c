"""The language of the page that is being answered: the one that the browser prefers among those of the installation."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from mainstay.doors.http import Request, RequestHandler, Response
from mainstay.values.choices import to_label
from mainstay.values.reader_language import ENGLISH, Languages, ReaderLanguage

_language: ContextVar[ReaderLanguage] = ContextVar("language", default=ENGLISH)


def current_language() -> ReaderLanguage:
    """Return the language of the reader for whom the code that runs here writes."""
    return _language.get()


@contextmanager
def use_language(language: ReaderLanguage) -> Iterator[None]:
    """Use this language for the enclosed code."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def translate_text(text: str, /, **values: object) -> str:
    """Return a text in the language of the reader, with the values filled in."""
    translated = _language.get().translate(text)
    return translated.format_map(values) if values else translated


def translate_counted_text(one: str, several: str, count: int, /, **values: object) -> str:
    """Return the text for this count in the language of the reader, with the count and the values filled in."""
    return _language.get().translate_count(one, several, count).format(count=count, **values)


def translate_label(name: str) -> str:
    """Return the label of one of a few fixed values in the language of the reader: `In progress`."""
    return _language.get().translate(to_label(name))


@dataclass(frozen=True, slots=True)
class LocalisedDoor:
    """Lets a door answer in the language that the browser prefers."""

    door: RequestHandler
    languages: Languages

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        with use_language(self.languages.choose(request.headers.get("accept-language", ""))):
            return await self.door(request)


def localise_door(door: RequestHandler, languages: Languages) -> RequestHandler:
    """Let a door answer in the language that the browser prefers, if there is any other than English."""
    return LocalisedDoor(door, languages) if len(languages) > 1 else door
