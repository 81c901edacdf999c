"""What every page has: an address, headers, a calm answer where there is nothing."""

import re
from html import unescape
from urllib.parse import urljoin

import httpx2
import pytest

from mainstay.business.hours.timers import start_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.hours import make_assigned_job, make_time_entry
from support.servers import RunningServer

PUBLIC = ["/sign-in", "/forgot-password", "/changelog", "/nothing-here", "/invitation/x", "/reset-password/x"]
OFFICE = [
    "/",
    "/people",
    "/people/invite",
    "/reports",
    "/reports/revenue",
    "/settings",
    "/settings/edit",
    "/settings/documents",
    "/settings/documents/edit",
    "/settings/mail-texts",
    "/settings/mail-texts/invoice",
    "/settings/account",
    "/settings/developer/keys",
    "/settings/developer/keys/new",
    "/settings/developer/mcp",
    "/settings/developer/webhooks",
    "/settings/developer/webhooks/new",
]
# What can be sent while nothing else can be changed.
OPEN_WHEN_LAPSED = ("/sign-out", "/organisation", "/settings/account/", "/settings/export/")
STRICT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def check_headers(answer: httpx2.Response) -> None:
    headers = answer.headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].startswith(STRICT_POLICY)


@pytest.mark.parametrize("path", OFFICE)
def test_pages_of_the_office_are_closed_to_strangers_and_strict(server: RunningServer, cast: Cast, path: str) -> None:
    closed = BrowserSession(server).get(path)
    assert closed.status_code == 303
    assert closed.headers["Location"].startswith("/sign-in")
    page = sign_in_new_person(server, cast).get(path)
    assert page.status_code == 200, page.text
    check_headers(page)
    assert page.headers["Content-Security-Policy"] == f"{STRICT_POLICY}; form-action 'self'"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/sign-in", "/forgot-password", "/nothing-here"])
def test_pages_on_the_way_to_an_app_let_the_way_back_open(server: RunningServer, path: str) -> None:
    page = BrowserSession(server).get(path)
    check_headers(page)
    assert page.headers["Content-Security-Policy"] == STRICT_POLICY
    assert "Cross-Origin-Opener-Policy" not in page.headers


@pytest.mark.parametrize("path", [*PUBLIC, *OFFICE])
def test_no_page_has_script_or_style_in_it(server: RunningServer, cast: Cast, path: str) -> None:
    page = sign_in_new_person(server, cast).get(path).text
    assert re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) is None
    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []


def test_what_is_not_there_is_said_calmly(server: RunningServer) -> None:
    page = BrowserSession(server).get("/nothing-here")
    assert page.status_code == 404
    assert "There is nothing at this address." in page.text
    json_answer = server.request("GET", "/nothing-here", headers={"Accept": "application/json"})
    assert (json_answer.status_code, json_answer.json()) == (404, {"error": "There is nothing at this address."})


@pytest.mark.parametrize(
    ("method", "path", "allowed"), [("POST", "/changelog", "GET, HEAD"), ("GET", "/sign-out", "POST")]
)
def test_a_page_used_in_another_way_is_405(server: RunningServer, method: str, path: str, allowed: str) -> None:
    answer = server.request(method, path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)


def test_head_is_get_without_a_body(server: RunningServer) -> None:
    answer = server.request("HEAD", "/changelog")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["Content-Length"]) > 1000


def test_style_and_script_are_kept_forever_under_an_address_of_their_content(server: RunningServer) -> None:
    addresses = re.findall(r'"(/static/[0-9a-f]{16}/[a-z0-9.-]+)"', BrowserSession(server).get("/sign-in").text)
    assert {address.rpartition("/")[2] for address in addresses} == {
        "office.css",
        "office.js",
        "mark.svg",
        "icon-192.png",
        "mainstay.webmanifest",
    }
    for address in addresses:
        answer = server.request("GET", address)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert server.request("GET", "/static/0000000000000000/office.css").status_code == 404
    assert server.request("GET", "/static/../session.py").status_code == 404


def test_the_changelog_is_public(server: RunningServer) -> None:
    session = BrowserSession(server)
    page = session.get("/changelog")
    assert page.status_code == 200
    assert "<strong>HTTP API</strong>" in page.text
    links = [urljoin("/changelog", unescape(link)) for link in re.findall(r'<a [^>]*href="([^"]*)"', page.text)]
    assert links
    assert [link for link in links if session.get(link).status_code not in {200, 303}] == []


def test_only_areas_that_exist_are_in_the_navigation(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    navigation = re.search(r'<nav aria-label="Areas">(.*?)</nav>', session.get("/").text, re.DOTALL)
    assert navigation
    links = re.findall(r'href="([^"]+)"', navigation[1])
    work, trade = (
        ["/", "/schedule", "/jobs", "/hours/week"],
        ["/customers", "/quotes", "/invoices", "/purchasing/orders", "/price-list", "/reports"],
    )
    assert links == [*work, *trade, "/people", "/settings"]
    assert {session.get(link).status_code for link in links} == {200}


@pytest.mark.parametrize(
    ("role", "tabs"),
    [
        (Role.OWNER, ["Home", "Schedule", "Jobs", "Search"]),
        (Role.OFFICE, ["Home", "Schedule", "Jobs", "Search"]),
        (Role.MEMBER, ["Today", "Schedule", "Hours", "Jobs"]),
        (Role.SUBCONTRACTOR, ["Today", "Schedule", "Hours", "Jobs"]),
    ],
)
def test_a_phone_has_the_tabs_of_the_office_or_of_the_field(
    server: RunningServer, cast: Cast, role: Role, tabs: list[str]
) -> None:
    bar = read_tab_bar(sign_in_new_person(server, cast, role))
    assert list_tabs(bar) == tabs
    assert re.findall(r'<a href="([^"]*)" aria-current', bar) == ["/"]


def test_a_tab_that_is_of_no_use_gives_way_to_the_next(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, subcontractorsLogHours=False)
    bar = read_tab_bar(sign_in_new_person(server, cast, Role.SUBCONTRACTOR))
    assert list_tabs(bar) == ["Today", "Schedule", "Jobs", "Search"]


def read_tab_bar(session: BrowserSession) -> str:
    return session.get("/").text.partition('<nav class="tabbar"')[2].partition("<details")[0]


def list_tabs(bar: str) -> list[str]:
    return [visible_text(link) for link in re.findall(r"<a [^>]*>.*?</a>", bar)]


def strip_query_values(link: str) -> str:
    """An address with the names of what it asks for, whatever that is."""
    path, _, query = link.partition("?")
    return " ".join([path, *sorted(part.partition("=")[0] for part in query.split("&") if part)])


def begin_work(cast: Cast, role: Role) -> None:
    """Hours of someone, some of which wait for approval, a timer that runs, and a visit today."""
    today = local_date(cast.performer.clock(), "Europe/London").isoformat()
    make_time_entry(cast, role, status="submitted", on=today, minutes=60)
    make_time_entry(cast, role, on=today, minutes=30)
    cast.perform(
        start_timer, personId=cast.people[role], jobId=make_assigned_job(cast, assigned=[cast.people[role]])["id"]
    )


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("lapsed", [False, True])
def test_no_page_leads_to_a_place_that_refuses(server: RunningServer, cast: Cast, role: Role, *, lapsed: bool) -> None:
    session = sign_in_cast(server, cast, role)
    begin_work(cast, role)
    if lapsed:
        cast.lapse()
    forms: set[str] = set()
    seen, ahead = {"/static", "/sign-out"}, ["/"]
    while ahead:
        path = ahead.pop()
        page = session.get(path)
        assert page.status_code in {200, 303}, f"{path}: {page.status_code}"
        forms |= {*re.findall(r'<form [^>]*method="post"[^>]* action="(/[^"]*)"', page.text)}
        found = {unescape(link) for link in re.findall(r'<a [^>]*href="(/[^"#]*)"', page.text)}
        # A page looks alike whatever its address asks for: a calendar has no end.
        fresh = {strip_query_values(link): link for link in found if strip_query_values(link) not in seen}
        ahead += sorted(fresh.values())
        seen |= fresh.keys()
    assert len(seen) > 5, "only a few pages were looked at"
    if lapsed:
        assert {form for form in forms if not form.startswith(OPEN_WHEN_LAPSED)} == set()
    cast.renew()
