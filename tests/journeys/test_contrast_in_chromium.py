"""What looks at our pages sees what is hard to read, however much it has found readable before."""

import pytest
from playwright.sync_api import Browser

from chromium import check_page, open_page

PAGE = """<!doctype html><html lang="en"><title>A page</title><body style="background: {behind}">
<main><h1 style="color: black">A page</h1><p style="color: {colour}">It is written here.</p></main>"""


@pytest.mark.parametrize(("colour", "behind"), [("#777", "white"), ("#666", "#ccc")], ids=["colour", "background"])
def test_faint_writing_is_found_on_a_later_page_and_each_time(browser: Browser, colour: str, behind: str) -> None:
    with open_page(browser, "http://nowhere.example") as page:
        page.set_content(PAGE.format(colour="#666", behind="white"))
        check_page(page)
        page.set_content(PAGE.format(colour=colour, behind=behind))
        for _ in range(2):
            with pytest.raises(AssertionError, match="contrast"):
                check_page(page)
