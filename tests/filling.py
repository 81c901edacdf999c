"""A form as a browser sends it where nobody has changed anything: every field of it, also those that are hidden."""

from html.parser import HTMLParser


def as_opened(page: str) -> dict[str, str]:
    """The fields of the first form in the middle of a page, with what stands in them."""
    reader = _Reader()
    reader.feed(page.partition("<main")[2].partition("<form")[2].partition("</form>")[0])
    return reader.fields


class _Reader(HTMLParser):
    """Reads inputs, choices and areas."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._choice = ""
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take up a field; of a choice the first stands until another is selected."""
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "input" and name and (given.get("type") not in {"checkbox", "radio"} or "checked" in given):
            self.fields[name] = value or ("on" if given.get("type") == "checkbox" else "")
        elif tag == "select":
            self._choice = name
        elif tag == "option" and self._choice and (self._choice not in self.fields or "selected" in given):
            self.fields[self._choice] = value
        elif tag == "textarea":
            self._area = name
            self.fields[name] = ""

    def handle_endtag(self, tag: str) -> None:
        """Leave a choice or an area behind."""
        self._choice = "" if tag == "select" else self._choice
        self._area = "" if tag == "textarea" else self._area

    def handle_data(self, data: str) -> None:
        """Take up what stands in an area."""
        if self._area:
            self.fields[self._area] += data
