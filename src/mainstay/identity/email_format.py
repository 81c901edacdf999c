"""How messages are rendered in emails to people of an organisation: in its language, with its dates and times."""

from mainstay.documents.locales import Locale
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.message import CalendarDates, LocalPeriod, Message, to_zone_time
from mainstay.values.reader_language import ENGLISH, Languages, ReaderLanguage
from mainstay.values.translated_format import TranslatedFormat


class EmailFormat(TranslatedFormat):
    """Renders messages for people of an organisation."""

    def __init__(self, language: ReaderLanguage = ENGLISH, country: str | None = None, time_zone: str = "UTC") -> None:
        super().__init__(language)
        self._locale = Locale(language.code, country)
        self._time_zone = time_zone

    def format_date(self, text: str) -> str:
        """Format a date: `17 November 2026`."""
        return self._locale.format_day(text)

    def format_dates(self, dates: CalendarDates) -> str:
        """Format whole days: `17-18 Nov 2026`, as the language writes it."""
        return self._locale.format_period(*dates)

    def format_period(self, period: LocalPeriod) -> str:
        """Format the time between two moments: `17 November 2026, 12:45 to 16:00`.

        The time zone is added if it differs from the organisation's.
        """
        start, end = (to_zone_time(moment, period.time_zone) for moment in (period.starts_at, period.ends_at))
        day, last_day = (self.format_date(moment.date().isoformat()) for moment in (start, end))
        begin, finish = f"{start:%H:%M}", f"{end:%H:%M}"
        text = self.render(
            Message("{day}, {start} to {end}", day=day, start=begin, end=finish)
            if day == last_day
            else Message("{day}, {start} to {last_day}, {end}", day=day, start=begin, last_day=last_day, end=finish)
        )
        return text if period.time_zone == self._time_zone else f"{text} ({period.time_zone})"


def undated_format_of(db: DatabaseHandle, languages: Languages) -> EmailFormat:
    """Return the format of emails without dates and times to people of the organisation.

    They are in the language of its documents if the installation has a translation, and otherwise in English. An
    installation without translations does not read that language.
    """
    row = db.one("SELECT language FROM organisation WHERE id = :organisation") if len(languages) > 1 else None
    return EmailFormat(languages.find(str(row[0]))) if row else EmailFormat()
