"""What every page has: an address, headers, a calm answer where there is nothing."""

import re
from html import unescape
from urllib.parse import urljoin

import httpx2
import pytest

from cast import Cast
from labour import logged, new_job
from mainstay.business.hours.timers import start_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.terms.rights import Role
from mainstay.values.moments import local_date
from running import RunningServer
from visiting import Visit, visit, visit_as, words

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
OPEN_WHEN_LAPSED = ("/sign-out", "/organisation", "/settings/account/")
STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def check_headers(answer: httpx2.Response) -> None:
    headers = answer.headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].startswith(STRICT)


@pytest.mark.parametrize("path", OFFICE)
def test_pages_of_the_office_are_closed_to_strangers_and_strict(server: RunningServer, cast: Cast, path: str) -> None:
    closed = Visit(server).get(path)
    assert closed.status_code == 303
    assert closed.headers["Location"].startswith("/sign-in")
    page = visit(server, cast).get(path)
    assert page.status_code == 200, page.text
    check_headers(page)
    assert page.headers["Content-Security-Policy"] == f"{STRICT}; form-action 'self'"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/sign-in", "/forgot-password", "/nothing-here"])
def test_pages_on_the_way_to_an_app_let_the_way_back_open(server: RunningServer, path: str) -> None:
    page = Visit(server).get(path)
    check_headers(page)
    assert page.headers["Content-Security-Policy"] == STRICT
    assert "Cross-Origin-Opener-Policy" not in page.headers


@pytest.mark.parametrize("path", [*PUBLIC, *OFFICE])
def test_no_page_has_script_or_style_in_it(server: RunningServer, cast: Cast, path: str) -> None:
    page = visit(server, cast).get(path).text
    assert re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) is None
    assert re.findall(r"<script(?![^>]*\ssrc=)", page) == []


def test_what_is_not_there_is_said_calmly(server: RunningServer) -> None:
    page = Visit(server).get("/nothing-here")
    assert page.status_code == 404
    assert "There is nothing at this address." in page.text
    told = server.request("GET", "/nothing-here", headers={"Accept": "application/json"})
    assert (told.status_code, told.json()) == (404, {"error": "There is nothing at this address."})


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
    addresses = re.findall(r'"(/static/[0-9a-f]{16}/[a-z.]+)"', Visit(server).get("/sign-in").text)
    assert {address.rpartition("/")[2] for address in addresses} == {"office.css", "office.js", "mark.svg"}
    for address in addresses:
        answer = server.request("GET", address)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert server.request("GET", "/static/0000000000000000/office.css").status_code == 404
    assert server.request("GET", "/static/../session.py").status_code == 404


def test_the_changelog_is_public(server: RunningServer) -> None:
    visiting = Visit(server)
    page = visiting.get("/changelog")
    assert page.status_code == 200
    assert "<strong>HTTP API</strong>" in page.text
    links = [urljoin("/changelog", unescape(link)) for link in re.findall(r'<a [^>]*href="([^"]*)"', page.text)]
    assert links
    assert [link for link in links if visiting.get(link).status_code not in {200, 303}] == []


def test_only_areas_that_exist_are_in_the_navigation(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    navigation = re.search(r'<nav aria-label="Areas">(.*?)</nav>', visiting.get("/").text, re.DOTALL)
    assert navigation
    links = re.findall(r'href="([^"]+)"', navigation[1])
    work, trade = (
        ["/", "/schedule", "/jobs", "/hours/week"],
        ["/customers", "/quotes", "/invoices", "/purchasing/orders", "/price-list", "/reports"],
    )
    assert links == [*work, *trade, "/people", "/settings"]
    assert {visiting.get(link).status_code for link in links} == {200}


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
    bar = tab_bar(visit(server, cast, role))
    assert tabs_in(bar) == tabs
    assert re.findall(r'<a href="([^"]*)" aria-current', bar) == ["/"]


def test_a_tab_that_is_of_no_use_gives_way_to_the_next(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, subcontractorsLogHours=False)
    bar = tab_bar(visit(server, cast, Role.SUBCONTRACTOR))
    assert tabs_in(bar) == ["Today", "Schedule", "Jobs", "Search"]


def tab_bar(visiting: Visit) -> str:
    return visiting.get("/").text.partition('<nav class="tabbar"')[2].partition("<details")[0]


def tabs_in(bar: str) -> list[str]:
    return [words(link) for link in re.findall(r"<a [^>]*>.*?</a>", bar)]


def asked_for(link: str) -> str:
    """An address with the names of what it asks for, whatever that is."""
    path, _, query = link.partition("?")
    return " ".join([path, *sorted(part.partition("=")[0] for part in query.split("&") if part)])


def begin_work(cast: Cast, role: Role) -> None:
    """Hours of someone, some of which wait for approval, a timer that runs, and a visit today."""
    today = local_date(cast.stage.clock(), "Europe/London").isoformat()
    logged(cast, role, status="submitted", on=today, minutes=60)
    logged(cast, role, on=today, minutes=30)
    cast.perform(start_timer, personId=cast.people[role], jobId=new_job(cast, assigned=[cast.people[role]])["id"])


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("lapsed", [False, True])
def test_no_page_leads_to_a_place_that_refuses(server: RunningServer, cast: Cast, role: Role, *, lapsed: bool) -> None:
    visiting = visit_as(server, cast, role)
    begin_work(cast, role)
    if lapsed:
        cast.lapse()
    forms: set[str] = set()
    seen, ahead = {"/static", "/sign-out"}, ["/"]
    while ahead:
        path = ahead.pop()
        page = visiting.get(path)
        assert page.status_code in {200, 303}, f"{path}: {page.status_code}"
        forms |= {*re.findall(r'<form [^>]*method="post"[^>]* action="(/[^"]*)"', page.text)}
        found = {unescape(link) for link in re.findall(r'<a [^>]*href="(/[^"#]*)"', page.text)}
        # A page looks alike whatever its address asks for: a calendar has no end.
        fresh = {asked_for(link): link for link in found if asked_for(link) not in seen}
        ahead += sorted(fresh.values())
        seen |= fresh.keys()
    assert len(seen) > 5, "only a few pages were looked at"
    if lapsed:
        assert {form for form in forms if not form.startswith(OPEN_WHEN_LAPSED)} == set()
    cast.renew()
