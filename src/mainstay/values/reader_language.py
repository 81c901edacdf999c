"""The languages that people read: English as the product is written, and translations of it."""

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property, lru_cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mainstay.lazy_import import import_lazily
from mainstay.values.names import country_names, currency_names, language_names, zone_names


class ReaderLanguage:
    """English: texts are their own translations."""

    code = "en"
    # The names of countries, currencies, time zones and languages, by their English names.
    names: Mapping[str, str] = MappingProxyType({})

    def translate(self, text: str) -> str:
        """Return the translation of a text."""
        return text

    def translate_count(self, one: str, several: str, count: int) -> str:
        """Return the translation of the text for this count."""
        return one if count == 1 else several

    def format_date(self, day: date) -> str:
        """Format a date: `15 Nov 2026`."""
        return f"{day.day} {day:%b %Y}"

    def format_date_range(self, first: date, last: date) -> str:
        """Format a range of whole days: `9 Nov-3 Dec 2026`. A month or year that both share appears once."""
        if first.year != last.year:
            return f"{self.format_date(first)}\N{EN DASH}{self.format_date(last)}"
        opening = f"{first.day}" if first.month == last.month else f"{first.day} {first:%b}"
        return f"{opening}\N{EN DASH}{self.format_date(last)}"

    def format_month(self, day: date) -> str:
        """Format the month of a date: `Nov 2026`."""
        return f"{day:%b %Y}"

    def format_long_month(self, day: date) -> str:
        """Format the month of a date in full: `November 2026`."""
        return f"{day:%B %Y}"

    def format_long_date(self, day: date) -> str:
        """Format a date with its weekday: `Monday 16 November`."""
        return f"{day:%A} {day.day} {day:%B}"

    def format_weekday(self, day: date) -> str:
        """Format the weekday of a date: `Monday`."""
        return f"{day:%A}"

    def format_short_day(self, day: date) -> str:
        """Format the weekday and the day of a date: `Mon 16`."""
        return f"{day:%a} {day.day}"

    def format_short_date(self, day: date) -> str:
        """Format the weekday, day and month of a date: `Mon 16 Nov`."""
        return f"{day:%a} {day.day} {day:%b}"


class TranslatedLanguage(ReaderLanguage):
    """A language with a catalogue of translations. A text without a translation stays English."""

    def __init__(self, code: str, catalogue: Path) -> None:
        self.code = code
        with catalogue.open("rb") as source:
            messages = import_lazily("babel.messages.pofile").read_po(source, locale=code)
        compiled = BytesIO()
        import_lazily("babel.messages.mofile").write_mo(compiled, messages)
        compiled.seek(0)
        self._translations = GNUTranslations(compiled)
        self.names = self._translate_names()

    def translate(self, text: str) -> str:
        """Return the translation of a text, which may also be the name of a country, currency, zone or language."""
        # An empty text is no key: it stands for the description of the catalogue itself.
        if not text:
            return ""
        translated = self._translations.gettext(text)
        return self.names.get(text, text) if translated is text or translated == text else translated

    def translate_count(self, one: str, several: str, count: int) -> str:
        """Return the translation of the text for this count."""
        return self._translations.ngettext(one, several, count)

    def format_date(self, day: date) -> str:
        """Format a date as it is usual in the language."""
        return self._format(day, "yMMMd")

    def format_date_range(self, first: date, last: date) -> str:
        """Format a range of whole days as it is usual in the language."""
        return str(import_lazily("babel.dates").format_interval(first, last, "yMMMd", locale=self._locale))

    def format_month(self, day: date) -> str:
        """Format the month of a date."""
        return self._format(day, "yMMM")

    def format_long_month(self, day: date) -> str:
        """Format the month of a date in full."""
        return self._format(day, "yMMMM")

    def format_long_date(self, day: date) -> str:
        """Format a date with its weekday."""
        return str(import_lazily("babel.dates").format_date(day, "full", locale=self._locale))

    def format_weekday(self, day: date) -> str:
        """Format the weekday of a date."""
        return str(import_lazily("babel.dates").format_date(day, "EEEE", locale=self._locale))

    def format_short_day(self, day: date) -> str:
        """Format the weekday and the day of a date."""
        return self._format(day, "Ed")

    def format_short_date(self, day: date) -> str:
        """Format the weekday, day and month of a date."""
        return self._format(day, "MMMEd")

    def _format(self, day: date, skeleton: str) -> str:
        return str(import_lazily("babel.dates").format_skeleton(skeleton, day, locale=self._locale))

    @cached_property
    def _locale(self) -> Any:
        return import_lazily("babel").Locale.parse(self.code, sep="-")

    def _translate_names(self) -> Mapping[str, str]:
        locale = self._locale
        countries = {name: locale.territories.get(code, name) for code, name in country_names().items()}
        currencies = {name: f"{locale.currencies.get(code, code)} ({code})" for code, name in currency_names().items()}
        zones = {
            label: f"{locale.time_zones[zone]['city']} ({label.partition(' (')[2]}"
            for zone, label in zone_names().items()
            if "city" in locale.time_zones.get(zone, {})
        }
        languages = {name: locale.languages.get(code, name).capitalize() for code, name in language_names().items()}
        return countries | currencies | zones | languages


ENGLISH = ReaderLanguage()


class Languages:
    """The languages of an installation: English, and one for each catalogue such as `fr.po` in its folder."""

    def __init__(self, translations: Iterable[ReaderLanguage] = ()) -> None:
        self._by_code = {language.code.lower(): language for language in (*translations, ENGLISH)}

    @classmethod
    def load(cls, folder: Path) -> "Languages":
        """Load the catalogues of a folder, if there is one."""
        return cls(TranslatedLanguage(path.stem.replace("_", "-"), path) for path in sorted(folder.glob("*.po")))

    def __len__(self) -> int:
        return len(self._by_code)

    def find(self, code: str) -> ReaderLanguage:
        """Return the language of a code such as `fr-CH`, or English."""
        return self._find_known(code) or ENGLISH

    def choose(self, accepted: str) -> ReaderLanguage:
        """Return the language that an `Accept-Language` header prefers among these, or English."""
        return next(filter(None, map(self._find_known, _order_accepted(accepted))), ENGLISH)

    def _find_known(self, code: str) -> ReaderLanguage | None:
        folded = code.lower()
        return self._by_code.get(folded) or self._by_code.get(folded.partition("-")[0])


ENGLISH_ONLY = Languages()


# Cached, because few browsers differ in it. Anyone can send it, so the cache is small.
@lru_cache(256)
def _order_accepted(accepted: str) -> list[str]:
    """Return the codes of an `Accept-Language` header, the preferred ones first."""
    ranked = [
        (-_read_weight(parameters), position, code.strip())
        for position, entry in enumerate(accepted.split(","))
        for code, _, parameters in [entry.partition(";")]
    ]
    return [code for weight, _, code in sorted(ranked) if weight]


def _read_weight(parameters: str) -> float:
    """Return the weight of an accepted language, from 0 to 1; one that cannot be read counts as 0."""
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0) if name.strip() == "q" else 0.0
    except ValueError:
        return 0.0
