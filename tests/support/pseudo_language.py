"""A pseudo-language: every text of the product with accents, so that a text that is not translated is easy to see."""

import re
import tomllib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from shutil import copy
from typing import Literal, get_args, get_origin

import orjson
import pypdf
import pytest
from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

import mainstay.documents
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.organisation.settings import update_settings
from mainstay.catalogue import CATALOGUE
from mainstay.documents.messages import load_messages
from mainstay.doors.pages.display import describe_fields
from mainstay.doors.pages.field_labels import walk_type
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.perform import Performer
from mainstay.values.choices import TextEnum
from support.cast import Cast, make_cast
from support.quotes import make_default_tax_rate

# Pages are in this language; its months and weekdays differ from English ones.
CODE = "fr"
LANGUAGES = Path(mainstay.documents.__file__).parent / "languages"
TEXTS = Path(__file__).parents[2] / "docs" / "messages.pot"
_PLAIN = "abcdefghijklmnopqrstuvwxyz"
# No letter of the language itself, so that its names of countries are told apart.
_ACCENTED = "ạḅċḍẹḟġḥịĵḳḷṃṇọṗɋṛṣṭụṿẉẋỵẓ"
_ACCENTS = str.maketrans(_PLAIN + _PLAIN.upper(), _ACCENTED + _ACCENTED.upper())
# What is not translated in a template: values, tags and entities.
_KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w+;)")


def write_pseudo_catalogue(folder: Path) -> None:
    """Put the catalogue of the pseudo-language into the translations of an installation."""
    with TEXTS.open("rb") as source:
        texts = read_po(source)
    catalogue = Catalog(locale=CODE)
    for message in texts:
        if message.id:
            ids = message.id if isinstance(message.id, tuple) else (message.id,)
            accented = tuple(accent(str(text)) for text in ids)
            catalogue.add(message.id, accented if len(ids) > 1 else accented[0])
    folder.mkdir()
    with (folder / f"{CODE}.po").open("wb") as file:
        write_po(file, catalogue)


def accent(template: str) -> str:
    """Return a text in the pseudo-language: `⟦Ṣẹṇṭ ṭọ {name}⟧`."""
    parts = _KEPT.split(template)
    return f"⟦{''.join(part if _KEPT.fullmatch(part) else part.translate(_ACCENTS) for part in parts)}⟧"


class _VisibleTexts(HTMLParser):
    """Collects the texts of a page that people see or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        # The open elements, each with whether its text is left out: it is hidden, or in another language.
        self._open: list[tuple[str, bool]] = []

    @property
    def _hidden(self) -> bool:
        return any(is_hidden for _, is_hidden in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the visible attributes of a tag."""
        values = {name: value or "" for name, value in attrs}
        if tag not in _VOID_TAGS:
            self._open.append((tag, tag in _HIDDEN_TAGS or values.get("lang", CODE) != CODE))
        if self._hidden:
            return
        names = [name for name in values if name in _VISIBLE_ATTRIBUTES]
        if tag == "input" and values.get("type") in {"submit", "button", "reset"}:
            names.append("value")
        self.texts += [values[name] for name in names]

    def handle_endtag(self, tag: str) -> None:
        """Leave a tag, and those within it that were not closed."""
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Collect a text."""
        if not self._hidden:
            self.texts.append(data)


_VOID_TAGS = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_HIDDEN_TAGS = {"script", "style", "pre", "code", "textarea"}
_VISIBLE_ATTRIBUTES = {"title", "aria-label", "placeholder", "alt", "data-label", "data-calendar", "data-found"}


def visible_texts(page: str) -> list[str]:
    """Return the texts of a page that people see or hear."""
    parser = _VisibleTexts()
    parser.feed(page)
    parser.close()
    return [text for text in (" ".join(text.split()) for text in parser.texts) if text]


def read_pdf_texts(pdf: bytes) -> list[str]:
    """Return the title and the lines of a PDF."""
    reader = pypdf.PdfReader(BytesIO(pdf))
    lines = [line for page in reader.pages for line in page.extract_text().splitlines()]
    return [(reader.metadata and reader.metadata.title) or "", *(line.strip() for line in lines)]


def collect_data(db: DatabaseHandle, tables: Collection[str]) -> set[str]:
    """Return every text that is stored in these tables."""
    found: set[str] = set()
    for table in tables:
        for row in db.all(f"SELECT * FROM {table}"):
            for value in row:
                if isinstance(value, str):
                    found.update(walk_texts(value))
    return found


def walk_texts(value: object) -> Iterator[str]:
    """Yield every text in a value, also in JSON that is stored as a text."""
    if isinstance(value, str):
        if value[:1] in {"{", "["}:
            with suppress(orjson.JSONDecodeError):
                value = orjson.loads(value)
        yield from [" ".join(value.split())] if isinstance(value, str) else walk_texts(value)
    elif isinstance(value, dict):
        for part in value.values():
            yield from walk_texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from walk_texts(part)


class TextCheck:
    """Finds texts that are neither translated nor data."""

    def __init__(self, data: Collection[str], same_everywhere: Collection[str]) -> None:
        # The name of a status is stored too, but people read its label.
        texts = {*data} - names_of_values()
        # Each stored text, as its words. A text of a page may consist of several: the number of a job and its title.
        parts = {part for text in texts for part in (text, *_SEPARATORS.split(text))}
        self._stored = {words for part in parts if (words := _words_of(part))}
        self._longest = max(map(len, self._stored), default=0)
        self._same = {word.strip(_MARKS) for word in {*same_everywhere, *_words_of_dates()}}

    def find_untranslated(self, text: str) -> Iterator[str]:
        """Yield the parts of a text that escaped the translations."""
        if _words_of(text) in self._stored:
            return
        for part in _SEPARATORS.split(_PLACEHOLDER.sub("", _TEXTS_FOR_CUSTOMERS.sub("", text))):
            if not self._is_known(_words_of(part)):
                yield part.strip()

    def _is_known(self, words: tuple[str, ...]) -> bool:
        """Return whether words are whole stored texts, one after another, and words of every language."""
        at = 0
        while at < len(words):
            lengths = range(min(self._longest, len(words) - at), 0, -1)
            found = next((length for length in lengths if words[at : at + length] in self._stored), 0)
            if not found and words[at] not in self._same:
                return False
            at += found or 1
        return True


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(word for found in _WORD.findall(text) if (word := found.strip(_MARKS)))


# What pages quote of emails and documents is in the language of the customer.
_TEXTS_FOR_CUSTOMERS = re.compile(r"Reminder: invoice .*|Deducted: Deposit invoice .*")
_SEPARATORS = re.compile(f"[⟦⟧{_ACCENTED}{_ACCENTED.upper()}]+| · |\n|: | \N{EN DASH} |, |[()“”]")
_PLACEHOLDER = re.compile(r"\{\w+\}")
_WORD = re.compile(r"[A-Za-z][A-Za-z'.-]*")
_MARKS = " .,:;!?'·…\N{EN DASH}→-←+#"


def names_of_values() -> set[str]:
    """Return the fixed values of all fields, such as `inProgress`."""
    outputs = {operation.output for operation in CATALOGUE.operations}
    kinds = [part for output in outputs for _, kind in describe_fields(output).values() for part in walk_type(kind)]
    literals = {value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)}
    enums = {choice.value for kind in kinds if isinstance(kind, type) and issubclass(kind, TextEnum) for choice in kind}
    return {value for value in literals | enums if isinstance(value, str)}


def _words_of_dates() -> set[str]:
    """Return the words of dates in the pseudo-language."""
    locale = Locale.parse(CODE)
    names = [*locale.months["format"].values(), *locale.days["format"].values()]
    return {word for each in names for name in each.values() for word in _WORD.findall(name)}


@contextmanager
def use_pseudo_documents(folder: Path) -> Iterator[None]:
    """Let documents, public pages and emails to customers be in the pseudo-language."""
    _write_pseudo_documents(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mainstay.documents.messages._LANGUAGES", folder)
        load_messages.cache_clear()
        yield
    load_messages.cache_clear()


def make_translated_cast(performer: Performer) -> Cast:
    """Make the cast of an organisation whose documents and emails are in the pseudo-language."""
    cast = make_cast(performer)
    cast.perform(update_settings, language=CODE)
    cast.perform(
        update_organisation,
        name="Brook Heating",
        email="office@brook.example",
        phone="020 555 0100",
        bank={"name": "Calder Bank", "iban": "DE89370400440532013000"},
        taxNumber="GB123456789",
    )
    make_default_tax_rate(cast)
    return cast


def _write_pseudo_documents(folder: Path) -> None:
    """Put the texts of documents and of emails to customers into a folder, in English and in the pseudo-language."""
    english = LANGUAGES / "en.toml"
    copy(english, folder)
    lines = []
    for section, texts in tomllib.loads(english.read_text("utf-8")).items():
        lines.append(f"[{section}]")
        lines += [f"{name} = {orjson.dumps(accent(text)).decode()}" for name, text in texts.items()]
    (folder / f"{CODE}.toml").write_text("\n".join(lines), "utf-8")
