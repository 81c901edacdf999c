"""The forms of a page, as a browser without scripts would send them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin


@dataclass(frozen=True)
class PageForm:
    """A form: where it is sent, with its fields as the page shows them."""

    target: str
    fields: dict[str, str] = field(default_factory=dict)


def read_forms(page: str, path: str) -> list[PageForm]:
    """Return the forms of a page that change something and send no files."""
    reader = _FormReader(path)
    reader.feed(page)
    reader.close()
    return reader.forms


class _FormReader(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._path = path
        self._form: PageForm | None = None
        # The list of choices, or the long text, whose value is being read.
        self._select = ""
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a form, or take a field of the one that is open."""
        values = {name: value or "" for name, value in attrs}
        name = values.get("name", "")
        if tag == "form" and values.get("method") == "post" and "enctype" not in values:
            self._form = PageForm(urljoin(self._path, values.get("action", "")))
            self.forms.append(self._form)
        elif self._form is None:
            return
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and (self._select not in self._form.fields or "selected" in values):
            self._form.fields[self._select] = values.get("value", "")
        elif tag == "textarea" and name:
            self._textarea = name
            self._form.fields[name] = ""
        elif tag in {"input", "button"} and name and _is_sent(tag, values):
            self._form.fields.setdefault(name, values.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        """End a form or a field."""
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        """Take the text of a long field."""
        if self._form and self._textarea:
            self._form.fields[self._textarea] += data


def _is_sent(tag: str, values: dict[str, str]) -> bool:
    """Return whether a browser sends this field: a box that is ticked, a button that is pressed, or any other one."""
    kind = values.get("type", "submit" if tag == "button" else "text")
    return kind not in {"checkbox", "radio", "file", "button", "reset"} or "checked" in values
