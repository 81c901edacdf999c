"""Messages as people read them: in their language."""

from collections.abc import Sequence

from mainstay.values.choices import label_in_text, to_label
from mainstay.values.message import Message, MessageFormat
from mainstay.values.reader_language import ReaderLanguage


class TranslatedFormat(MessageFormat):
    """Renders messages in a language. Subclasses say how dates and amounts are written."""

    shows_events = False

    def __init__(self, language: ReaderLanguage) -> None:
        self._language = language

    def choose_template(self, message: Message) -> str:
        """Return the template in the language."""
        if message.plural is None:
            return self._language.translate(message.template)
        return self._language.translate_count(message.template, message.plural, message.count)

    def add_detail(self, text: str, _detail: Message | None) -> str:
        """Leave out what only programs need to know."""
        return text

    def format_choice(self, value: str) -> str:
        """Return the label of one of a few fixed values."""
        return label_in_text(self._language.translate(to_label(value)))

    def format_possible_choices(self, values: Sequence[str]) -> str:
        """Return the labels of the values from which one can be chosen: `Work, Travel or Other`."""
        return self._join(_EITHER, [self._language.translate(to_label(value)) for value in values])

    def join(self, items: Sequence[str]) -> str:
        """Join several values: `Grace, Ben and Tom`."""
        return self._join(_ALL, items)

    def _join(self, joined: Message, items: Sequence[str]) -> str:
        *others, last = items or [""]
        return self.choose_template(joined).format(items=", ".join(others), last=last) if others else last


_EITHER = Message("{items} or {last}", items="", last="")
_ALL = Message("{items} and {last}", items="", last="")
