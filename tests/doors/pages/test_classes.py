"""Every class has its use: what is styled is on some page, and what a page has is styled or looked for."""

import re
from pathlib import Path

import mainstay.doors.pages

PAGES = Path(mainstay.doors.pages.__file__).parent
TEMPLATES = "\n".join(path.read_text() for path in (PAGES / "templates").glob("*.html"))
SCRIPTS = "\n".join(path.read_text() for path in (PAGES / "static").glob("*.js"))
CODE = "\n".join(path.read_text() for path in PAGES.parent.rglob("*.py"))
# Classes that end with a number: where something begins, how long it lasts, how many hours there are, in which lane,
# the day of the week, and the colour of a person's visits.
NUMBERED = re.compile(r"(?:at|day|for|hours|lane|tint)-\d+")


def find_styled_classes() -> set[str]:
    sheets = "\n".join(path.read_text() for path in (PAGES / "static").glob("*.css"))
    selectors = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"/\*.*?\*/", "", sheets, flags=re.DOTALL))
    return {name for name in re.findall(r"\.([a-z][\w-]*)", selectors) if not NUMBERED.fullmatch(name)}


def split_words(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+", text))


def find_page_classes() -> set[str]:
    """The classes that stand in templates as they are; those that are worked out come from elsewhere."""
    plain = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " {} ", TEMPLATES)
    found = {name for names in re.findall(r'class="([^"]*)"', plain) for name in names.split()}
    return {name for name in found if re.fullmatch(r"[a-z][\w-]*[a-z]", name)}


def test_whatever_is_styled_is_somewhere() -> None:
    assert find_styled_classes() - split_words(TEMPLATES) - split_words(SCRIPTS) - split_words(CODE) == set()


def test_whatever_a_page_has_is_styled_or_looked_for() -> None:
    assert find_page_classes() - find_styled_classes() - split_words(SCRIPTS) == set()
