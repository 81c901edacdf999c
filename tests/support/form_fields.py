"""A form as a browser sends it unchanged: every field, hidden ones too."""

from html.parser import HTMLParser


def read_form(page: str) -> dict[str, str]:
    """Return the fields of the first form in the main part of a page, with their values."""
    reader = _FormReader()
    reader.feed(page.partition("<main")[2].partition("<form")[2].partition("</form>")[0])
    return reader.fields


class _FormReader(HTMLParser):
    """Reads inputs, selects and textareas."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._select_name = ""
        self._textarea_name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read a field; a select has its first option until another is selected."""
        attributes = dict(attrs)
        name, value = attributes.get("name") or "", attributes.get("value") or ""
        if tag == "input" and name and (attributes.get("type") not in {"checkbox", "radio"} or "checked" in attributes):
            self.fields[name] = value or ("on" if attributes.get("type") == "checkbox" else "")
        elif tag == "select":
            self._select_name = name
        elif (
            tag == "option" and self._select_name and (self._select_name not in self.fields or "selected" in attributes)
        ):
            self.fields[self._select_name] = value
        elif tag == "textarea":
            self._textarea_name = name
            self.fields[name] = ""

    def handle_endtag(self, tag: str) -> None:
        """Close a select or a textarea."""
        self._select_name = "" if tag == "select" else self._select_name
        self._textarea_name = "" if tag == "textarea" else self._textarea_name

    def handle_data(self, data: str) -> None:
        """Read the text of a textarea."""
        if self._textarea_name:
            self.fields[self._textarea_name] += data
