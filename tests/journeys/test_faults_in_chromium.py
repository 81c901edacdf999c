"""What looks at our pages sees what is wrong, also in one look only, and however much it has found in order before."""

import pytest
from playwright.sync_api import Browser

from support.browser import NARROW, check_page, open_page

PAGE = """<!doctype html><html lang="en"><title>A page</title><body style="background: {behind}">
<main><h1 style="color: black">A page</h1><p style="color: {colour}">It is written here.</p></main>"""

STYLED = """<!doctype html><html lang="en"><title>A page</title><style>body { margin: 0 }
@media (prefers-color-scheme: dark) { .dark { color: #ddd } }
@media (prefers-color-scheme: light) { .light { color: #ddd } }</style><main><h1>A page</h1>"""


@pytest.mark.parametrize(("colour", "behind"), [("#777", "white"), ("#666", "#ccc")], ids=["colour", "background"])
def test_faint_writing_is_found_on_a_later_page_and_each_time(browser: Browser, colour: str, behind: str) -> None:
    with open_page(browser, "http://nowhere.example") as page:
        page.set_content(PAGE.format(colour="#666", behind="white"))
        check_page(page)
        page.set_content(PAGE.format(colour=colour, behind=behind))
        for _ in range(2):
            with pytest.raises(AssertionError, match="contrast"):
                check_page(page)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ('<input id="name">', r"\(320, 640\), dark: \['Form elements must have labels"),
        ('<label>A <input id="a"></label><label>B <input id="a"></label>', "IDs of active elements must be unique"),
        ('<p id="a">A</p><p id="a">B</p>', "id attribute value must be unique"),
        ('<button aria-label="Gone">Save</button>', "visible text as part of their accessible name"),
        ('<p style="min-width: 1300px">Wide</p>', r"980 pixels too wide on \(320, 640\)"),
        ('<p style="min-width: 350px">Wide</p>', r"30 pixels too wide on \(320, 640\)"),
        ('<p class="dark">Faint</p>', r"\(320, 640\), dark: \['Elements must meet minimum color contrast"),
        ('<p class="light">Faint</p>', r"\(1280, 860\), light: \['Elements must meet minimum color contrast"),
    ],
    ids=["label", "id", "id of a text", "name", "wide", "tiny", "dark", "light"],
)
def test_a_fault_is_told_after_a_page_without(browser: Browser, fault: str, told: str) -> None:
    with open_page(browser, "http://nowhere.example", NARROW) as page:
        page.set_content(STYLED)
        check_page(page)
        assert page.evaluate("[innerWidth, innerHeight]") == list(NARROW)
        page.set_content(STYLED + fault)
        with pytest.raises(AssertionError, match=told):
            check_page(page)
