"""Take the pictures of the README from the demo, on a fixed day: `make pictures`.

It also stores of what they were taken: the templates and stylesheets of the pages, each with a hash. The long run says
which have changed since, so that the pictures are taken again before a release and not after each change.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx2
from PIL import Image
from playwright.sync_api import Browser, Page, Route

from mainstay.business.jobs.store import JOBS
from mainstay.business.quotes.operations import list_quotes
from mainstay.business.quotes.store import QUOTES
from mainstay.business.schedule.operations import list_visits
from mainstay.business.schedule.store import VISITS
from mainstay.composition import open_files, open_link_maker, open_performer, open_signer
from mainstay.doors import pages
from mainstay.doors.cli.demo import SMALL_FIRM, make_demo
from mainstay.doors.cli.operator import Operator
from mainstay.doors.pages.static_files import STATIC_ADDRESSES
from mainstay.identity import sessions
from mainstay.identity.sessions import NewSession
from mainstay.identity.sign_in import look_up_address
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.settings import read_settings
from mainstay.vocabulary.actor import Actor
from support.browser import NARROW, open_chromium
from support.in_process import run_in_process

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
# A Tuesday morning on which everyone is at work.
_NOW = datetime(2026, 11, 24, 10, 40, tzinfo=UTC)
_WIDE = (1280, 800)
_COLOURS = 128
# Of what the pictures were taken.
TAKEN_OF = Path(__file__).with_name("pictures.txt")
_TEMPLATES = Path(pages.__file__).parent / "templates"
# The templates of these pages; what they extend and include follows from them.
_PAGES = ("home.html", "schedule.html", "record.html", "job.html", "job_side.html", "lines.html", "visit.html")
_INCLUDED = re.compile(r'{% (?:extends|include) "([\w.]+)"')
_STYLES = re.compile(r"static\('(\w+\.css)'\)")


class Picture(NamedTuple):
    """A picture: its name, who looks, and how large the window is."""

    name: str
    email: str
    size: tuple[int, int] = _WIDE


HOME = Picture("home", "ruth@hartley.example")
SCHEDULE = Picture("schedule", "priya@hartley.example")
JOB = Picture("job", "priya@hartley.example")
QUOTE = Picture("quote", "priya@hartley.example")
PHONE = Picture("phone", "tom@hartley.example", NARROW)
PICTURES = (HOME, SCHEDULE, JOB, QUOTE, PHONE)


def take_pictures() -> None:
    """Make the demo, serve it in this process, and store a picture of each page."""
    with TemporaryDirectory() as folder:
        settings = read_settings({"MAINSTAY_DATA": folder})
        performer = replace(open_performer(settings), clock=lambda: _NOW)
        operator = Operator(
            performer,
            partial(open_signer, settings),
            settings.base_url,
            open_files(settings),
            partial(open_link_maker, settings),
        )
        organisation = make_demo(operator, SMALL_FIRM)["organisation"]["id"]
        with run_in_process(settings, lambda: _NOW, with_worker=False) as server, open_chromium() as browser:
            for picture, path in _find_pages(operator, organisation).items():
                secret = _begin_session(operator, organisation, picture.email)
                with _open_window(browser, server.client(), settings.base_url, picture.size, secret) as page:
                    page.goto(path)
                    page.wait_for_load_state("networkidle")
                    _store(picture, page.screenshot())
    TAKEN_OF.write_text("".join(f"{name} {digest}\n" for name, digest in hash_sources().items()), "utf-8")


def hash_sources() -> dict[str, str]:
    """Return a hash of each template of the pictured pages, and of each stylesheet as browsers get it."""
    names, waiting = set[str](), [*_PAGES]
    while waiting:
        if (name := waiting.pop()) not in names:
            names.add(name)
            waiting += _INCLUDED.findall((_TEMPLATES / name).read_text("utf-8"))
    sources = {name: (_TEMPLATES / name).read_bytes() for name in names}
    styles = {style for source in sources.values() for style in _STYLES.findall(source.decode())}
    # The address of a stylesheet has a hash of what is sent.
    digests = {style: STATIC_ADDRESSES[style].split("/")[2] for style in styles}
    digests |= {name: hashlib.sha256(source).hexdigest()[:16] for name, source in sources.items()}
    return dict(sorted(digests.items()))


def _find_pages(operator: Operator, organisation: str) -> dict[Picture, str]:
    """Return the address of the page on each picture."""

    def act_as(picture: Picture) -> Actor:
        return operator.act_as_person(organisation, picture.email)

    today = _NOW.date().isoformat()
    field = act_as(PHONE)
    visits = operator.perform(list_visits, field, **{"from": today, "until": today, "personId": field.id})["data"]
    quotes = operator.perform(list_quotes, act_as(QUOTE), status="draft", limit=10)["data"]
    return {
        HOME: "/",
        SCHEDULE: f"/schedule?view=day&on={today}",
        JOB: JOBS.path_of(visits[0]["jobId"]),
        QUOTE: f"{QUOTES.path_of(quotes[0]['id'])}/lines",
        PHONE: VISITS.path_of(visits[0]["id"]),
    }


def _begin_session(operator: Operator, organisation: str, email: str) -> str:
    with operator.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        account = look_up_address(db, email).account
        return sessions.begin_session(db, NewSession(str(account), organisation, "pictures"), _NOW)


@contextmanager
def _open_window(
    browser: Browser, client: httpx2.Client, base_url: str, size: tuple[int, int], secret: str
) -> Iterator[Page]:
    """Open a window whose requests are answered within this process, at the fixed moment."""

    def answer(route: Route) -> None:
        request = route.request
        answered = client.request(request.method, request.url, headers=request.all_headers())
        headers = {name: value for name, value in answered.headers.items() if name != "content-encoding"}
        route.fulfill(status=answered.status_code, headers=headers, body=answered.content)

    is_phone = size == NARROW
    context = browser.new_context(
        base_url=base_url,
        viewport={"width": size[0], "height": size[1]},
        has_touch=is_phone,
        is_mobile=is_phone,
        # Its requests would not be answered here.
        service_workers="block",
    )
    context.add_cookies([{"name": "mainstay", "value": secret, "url": base_url}])
    context.route("**/*", answer)
    page = context.new_page()
    page.clock.set_fixed_time(_NOW)
    yield page
    context.close()


def _store(picture: Picture, content: bytes) -> None:
    """Store a picture with few colours, which makes it a third as large."""
    FOLDER.mkdir(exist_ok=True)
    with Image.open(BytesIO(content)) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(
            FOLDER / f"{picture.name}.png", optimize=True
        )


if __name__ == "__main__":
    take_pictures()
