"""A real browser: Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

from mainstay.vocabulary.permissions import Role
from support.browser_session import NewPerson, add_new_person
from support.cast import Cast
from support.oauth_app import begin_session

# The shell is the same browser without its windows, and takes two thirds of the time.
_PROGRAM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No page lives long enough to be worth it.
    "--js-flags=--no-opt --no-maglev",
)

# In milliseconds: as long as a page may take where other work has the processors.
_TIMEOUT_MILLISECONDS = 60_000
expect.set_options(timeout=_TIMEOUT_MILLISECONDS)

Scheme = Literal["light", "dark"]
WIDE, NARROW = (1280, 860), (390, 844)
# The narrowest that a page is made for: what fits there fits all phones.
TINY = (320, 640)
# Most pages are looked at as in the last one, and are left as they were.
CHECKED_VIEWS: tuple[tuple[tuple[int, int], Scheme], ...] = ((TINY, "dark"), (WIDE, "light"))
# Upright, as it is carried; and what a printer has room for on A4.
TABLET, PAPER = (820, 1180), (718, 1047)


@dataclass
class ContrastMemory:
    """Colours that axe has found readable in this process: the same pair is as readable on every page."""

    are_remembered: bool = True
    checked: set[str] = field(default_factory=set)


CONTRAST_MEMORY = ContrastMemory()


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Chromium, for as long as the block lasts."""
    path = next(filter(None, map(shutil.which, _PROGRAM_NAMES)), None)
    if path is None:
        pytest.fail("The browser tests need Chromium: install it, on Debian with `apt-get install chromium`.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


class SharedChromium:
    """One Chromium for all tests in a row that need it.

    It is closed before any other: while it is open, nothing else in this thread can run an event loop.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._browser: Browser | None = None

    def open(self) -> Browser:
        """Return the open browser; open one if there is none."""
        if self._browser is None:
            self._browser = self._open.enter_context(open_chromium())
        return self._browser

    def close(self) -> None:
        """Close it, if one is open."""
        self._browser = None
        self._open.close()


@contextmanager
def open_page(
    browser: Browser,
    base_url: str,
    size: tuple[int, int] = WIDE,
    scheme: Scheme = "light",
    *,
    is_phone: bool = False,
    user_agent: str | None = None,
) -> Iterator[Page]:
    """Open a page in a window of its own; fail on errors, on broken policies and on console messages."""
    context: BrowserContext = browser.new_context(
        base_url=base_url,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,
        has_touch=is_phone,
        is_mobile=is_phone,
        user_agent=user_agent,
    )
    context.set_default_timeout(_TIMEOUT_MILLISECONDS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
    page.on("dialog", lambda dialog: complaints.append(f"a dialog opened: {dialog.message}"))
    yield page
    context.close()
    assert complaints == []


@contextmanager
def open_page_without_scripts(browser: Browser, base_url: str) -> Iterator[Page]:
    """Open a page with JavaScript off."""
    context = browser.new_context(
        base_url=base_url, viewport={"width": WIDE[0], "height": WIDE[1]}, java_script_enabled=False
    )
    context.set_default_timeout(_TIMEOUT_MILLISECONDS)
    yield context.new_page()
    context.close()


def _is_complaint(message: ConsoleMessage) -> bool:
    # That a page was answered with another status than 200 is no fault of the page.
    return message.type == "error" and not message.text.startswith("Failed to load resource")


def enter_office(page: Page, cast: Cast, role: Role = Role.OWNER) -> None:
    """Open the office as a new person of the cast's organisation, without the form of signing in."""
    secret = begin_session(cast, add_new_person(cast, role).email)
    page.context.add_cookies([{"name": "mainstay", "value": secret, "domain": "127.0.0.1", "path": "/"}])
    page.goto("/")
    expect(page.locator("body.office")).to_be_visible()


def sign_in(page: Page, person: NewPerson) -> None:
    """Sign in by the form, and wait for the office."""
    page.goto("/sign-in")
    fill_in_sign_in(page, person)
    expect(page.locator("body.office")).to_be_visible()


def fill_in_sign_in(page: Page, person: NewPerson) -> None:
    """Fill in the form of signing in that the page shows."""
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("button", name="Sign in").click()


def visit_on_board(page: Page, visit: dict[str, object]) -> Locator:
    """Return a visit on the schedule board."""
    return page.locator(f".booked[href='/schedule/visits/{visit['id']}']")


def check_page(page: Page) -> None:
    """Check a page in each view: axe finds no fault, and nothing makes the page scroll sideways."""
    own_size, own_scheme = _current_view(page)
    for size, scheme in CHECKED_VIEWS:
        _set_view(page, size, scheme)
        width, faults, checked = page.evaluate(_RUN_AXE, list(CONTRAST_MEMORY.checked))
        assert width <= 0, f"{page.url} is {width} pixels too wide on {size}"
        assert faults == [], f"{page.url}, {size}, {scheme}: {faults}"
        if CONTRAST_MEMORY.are_remembered:
            CONTRAST_MEMORY.checked.update(checked)
    if (own_size, own_scheme) != CHECKED_VIEWS[-1]:
        _set_view(page, own_size, own_scheme)


def _current_view(page: Page) -> tuple[tuple[int, int], Scheme]:
    """Return the size and colour scheme of the page, after loading axe."""
    view = page.evaluate(_READ_VIEW)
    if view is None:
        # It is half a megabyte: handed over once, and there on every page that follows in the same window.
        page.add_init_script(_LOAD_AXE)
        page.evaluate(_LOAD_AXE)
        view = page.evaluate(_READ_VIEW)
    width, height, is_dark = view
    return (width, height), "dark" if is_dark else "light"


def _set_view(page: Page, size: tuple[int, int], scheme: Scheme) -> None:
    page.set_viewport_size(_to_viewport(size))
    # Colours that are still on their way to others would be neither.
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def _to_viewport(size: tuple[int, int]) -> ViewportSize:
    return {"width": size[0], "height": size[1]}


_LOAD_AXE = f"window.bringAxe = () => {{ {AXE_SCRIPT} }};"
_READ_VIEW = """(() => {
    if (!window.bringAxe) return null;
    window.axe ?? bringAxe();
    return [innerWidth, innerHeight, matchMedia("(prefers-color-scheme: dark)").matches];
})()"""
# Contrast is half of axe's work, so it looks only at what it has not told of. What it finds readable is known by the
# writing and all that lies behind it; what it cannot judge, where something may overlap it, by its place as well.
# Answered briefly: what axe found in order is a hundred times as long as what it did not.
_RUN_AXE = """async (told) => {
    const width = document.documentElement.scrollWidth - innerWidth;
    const known = new Set(told), backgrounds = new Map();
    const behind = (element) => {
        if (!element) return "";
        if (!backgrounds.has(element)) {
            const {backgroundColor, backgroundImage, opacity, position} = getComputedStyle(element);
            // What is taken out of its place may lie upon anything: it is told apart by its name.
            const name = ["static", "relative"].includes(position) ? "" : element.className;
            const own = [backgroundColor, backgroundImage, opacity, name].join(" ");
            const rest = behind(element.parentElement);
            backgrounds.set(element, own === "rgba(0, 0, 0, 0) none 1 " ? rest : `${own} on ${rest}`);
        }
        return backgrounds.get(element);
    };
    const writing = (element) => {
        const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element);
        return [color, fontSize, fontWeight, textShadow, behind(element)].join(" ");
    };
    const placed = (element) => {
        const {x, y, width, height} = element.getBoundingClientRect();
        return [writing(element), x + scrollX, y + scrollY, width, height].join(" ");
    };
    // Nothing else has writing of its own for axe to judge, which it would find out slowly.
    const isWritten = (element) =>
        element.matches("input, select, textarea")
        || [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const contrast = axe._audit.rules.find((rule) => rule.id === "color-contrast");
    contrast.judges ??= contrast.matches;
    contrast.matches = (element, ...rest) =>
        isWritten(element)
        && !known.has(writing(element))
        && contrast.judges(element, ...rest)
        // axe passes whatever nobody sees, but not before it has laid out all of the page.
        && axe.commons.dom.isVisible(element, false)
        && !known.has(placed(element));
    // Rules for what is not on the page would look at all of it.
    const idle = axe._audit.rules.filter(({selector}) => !document.querySelector(selector));
    const results = await axe.run({
        // What would be loaded again is for rules that do not run.
        preload: false,
        rules: {
            ...Object.fromEntries(idle.map(({id}) => [id, {enabled: false}])),
            // Never a fault: axe only asks that somebody look.
            "identical-links-same-purpose": {enabled: false},
            // A label or a script would find the first of them: axe thinks that others look for it.
            "duplicate-id": {enabled: true},
            "duplicate-id-active": {enabled: true},
            // Who speaks to the page says what is written there. Still tried out by axe, and right on all our pages.
            "label-content-name-mismatch": {enabled: true},
        },
        reporter: (results, options, answer) => answer(results),
    });
    const {passes, incomplete} = results.find((result) => result.id === "color-contrast");
    return [
        width,
        results.flatMap(({help, violations}) => violations.map(({node}) => `${help}: ${node.source}`)),
        [
            ...passes.filter(({any: [{data}]}) => data?.contrastRatio).map(({node}) => writing(node.element)),
            ...incomplete.map(({node}) => placed(node.element)),
        ],
    ];
}"""
