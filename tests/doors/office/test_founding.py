"""The page of the first start: the code in the log makes the first organisation, once."""

import ipaddress
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.operations import list_people
from mainstay.composition import open_first_organisation, open_performer
from mainstay.doors.office.sign_in.first_organisation import CODES_PER_ADDRESS
from mainstay.identity.sign_in import look_up_address
from mainstay.settings import Settings
from mainstay.vocabulary.actor import operator_actor
from support.browser_session import BrowserSession, cookies_set_by, visible_text
from support.cast import Cast
from support.in_process import InProcessServer, run_in_process
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.stored_state import read_trail

SET_UP_FIELDS = {
    "name": "Beam & Sons",
    "country": "DE",
    "currency": "EUR",
    "timeZone": "Europe/Berlin",
    "ownerName": "Olivia Owner",
    "ownerEmail": "olivia@beam.example",
    "password": "four words of mine",
}
STRICT_FORM = "form-action 'self'"
WRONG_CODE = "Code is not the one in the server's log."


class LocalVisit(BrowserSession):
    """A browser on the server's machine, or a proxy there that passes on nothing but the request."""

    def __init__(self, server: RunningServer) -> None:
        super().__init__(server)
        del self._headers["X-Forwarded-For"]


@pytest.fixture
def settings_without_proxies(fresh_settings: Settings) -> Settings:
    return replace(fresh_settings, trusted_proxies=())


@pytest.fixture
def empty_server(settings_without_proxies: Settings) -> Iterator[InProcessServer]:
    """A server without anyone who could sign in."""
    with run_in_process(settings_without_proxies) as inside:
        yield inside


def list_organisations(settings: Settings) -> list[Any]:
    """The organisations that there are."""
    database = open_performer(settings).database
    with database.read_transaction("*") as db:
        found = organisations.list_organisations(db)
    database.close()
    return found


def read_code(server: InProcessServer) -> str:
    """The code of a start, as the log of a real server has it."""
    return open_first_organisation(server.settings).code


def submit_set_up(session: BrowserSession, code: str, **given: str) -> httpx2.Response:
    return session.submit_form(f"/set-up?code={code}", "/set-up", **SET_UP_FIELDS | {"code": code} | given)


@pytest.mark.engines("sqlite", "postgresql")
def test_whoever_follows_the_link_of_the_log_makes_the_first_organisation_and_is_in_it(
    empty_server: InProcessServer,
) -> None:
    code, session = read_code(empty_server), BrowserSession(empty_server)
    assert session.get("/").headers["Location"] == "/sign-in"
    assert session.get("/sign-in").headers["Location"] == "/set-up"
    page = session.get(f"/set-up?code={code}")
    assert page.status_code == 200
    assert f'value="{code}"' in page.text
    assert page.headers["Content-Security-Policy"].endswith(STRICT_FORM)
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"

    answer = session.submit_page(page.text, "/set-up", **SET_UP_FIELDS, code=code)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    home = visible_text(session.get("/").text)
    assert "Olivia Owner" in home
    assert "Beam & Sons" in home


@pytest.mark.engines("sqlite", "postgresql")
def test_it_is_as_if_the_operator_had_made_it_from_the_command_line(empty_server: InProcessServer) -> None:
    submit_set_up(BrowserSession(empty_server), read_code(empty_server))
    [organisation] = list_organisations(empty_server.settings)
    performer = open_performer(empty_server.settings)
    cast = Cast(performer, organisation["id"], {})
    shown = cast.perform(get_organisation, operator_actor(cast.organisation))
    assert [shown[name] for name in ("name", "country", "currency", "timeZone")] == [*SET_UP_FIELDS.values()][:4]
    [owner] = cast.perform(list_people, operator_actor(cast.organisation))["data"]
    assert (owner["name"], owner["email"], owner["role"]) == ("Olivia Owner", "olivia@beam.example", "owner")
    entry = read_trail(cast)[0]
    assert entry["operation"] == "create_organisation"
    assert (entry["actor"]["kind"], entry["actor"]["via"]["door"]) == ("operator", "office")
    assert SET_UP_FIELDS["password"] not in str(entry)
    with performer.database.read_transaction("*") as db:
        assert look_up_address(db, "olivia@beam.example").account
    performer.database.close()
    # From now on one signs in.
    session = BrowserSession(empty_server)
    answer = session.submit_form("/sign-in", email="olivia@beam.example", password=SET_UP_FIELDS["password"])
    assert answer.headers["Location"] == "/"
    assert session.is_signed_in


def test_afterwards_the_page_is_gone(empty_server: InProcessServer) -> None:
    code, late = read_code(empty_server), BrowserSession(empty_server)
    page = late.get("/set-up").text
    submit_set_up(BrowserSession(empty_server), code)

    assert late.get("/set-up").headers["Location"] == "/sign-in"
    assert late.get("/sign-in").status_code == 200
    answer = late.submit_page(page, "/set-up", **SET_UP_FIELDS | {"ownerEmail": "late@beam.example", "code": code})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert "mainstay" not in cookies_set_by(answer)
    assert len(list_organisations(empty_server.settings)) == 1


@pytest.mark.usefixtures("cast")
def test_where_someone_can_sign_in_there_is_no_such_page(server: RunningServer) -> None:
    session = BrowserSession(server)
    assert session.get("/sign-in").status_code == 200
    assert session.get("/set-up").headers["Location"] == "/sign-in"
    before = len(list_organisations(server.settings))
    sign_in = session.get("/sign-in").text
    assert session.submit_page(sign_in, "/set-up", **SET_UP_FIELDS).headers["Location"] == "/sign-in"
    assert len(list_organisations(server.settings)) == before


@pytest.mark.engines("sqlite", "postgresql")
def test_of_many_who_make_it_at_once_one_does(empty_server: InProcessServer) -> None:
    code, forms = read_code(empty_server), []
    for number in range(8):
        session = BrowserSession(empty_server)
        forms.append((session, session.get("/set-up").text, f"{number}@beam.example"))
    with ThreadPoolExecutor(len(forms)) as clients:
        sent = [
            clients.submit(session.submit_page, page, "/set-up", **SET_UP_FIELDS | {"ownerEmail": email, "code": code})
            for session, page, email in forms
        ]
        places = [answer.result().headers["Location"] for answer in sent]

    assert sorted(places) == ["/", *["/sign-in"] * 7]
    [organisation] = list_organisations(empty_server.settings)
    performer = open_performer(empty_server.settings)
    cast = Cast(performer, organisation["id"], {})
    [owner] = cast.perform(list_people, operator_actor(cast.organisation))["data"]
    assert owner["email"] == forms[places.index("/")][2]
    performer.database.close()


@pytest.mark.parametrize("kind", [BrowserSession, LocalVisit])
def test_it_needs_the_code_of_the_log_wherever_one_is(
    empty_server: InProcessServer, kind: type[BrowserSession]
) -> None:
    code, session = read_code(empty_server), kind(empty_server)
    page = session.get("/set-up").text
    assert 'name="code"' in page
    for wrong in ("", "0000-0000-0000-0000", code[:-1], code + "0"):
        answer = session.submit_page(page, "/set-up", **SET_UP_FIELDS | {"code": wrong})
        assert answer.status_code == 422
        assert WRONG_CODE in visible_text(answer.text)
        # Nothing else is said about what they sent.
        assert WRONG_CODE in visible_text(session.submit_page(page, "/set-up", name="", code=wrong).text)
    # The right one need not be typed again where something else is wrong.
    assert f'value="{code}"' in session.submit_page(page, "/set-up", **SET_UP_FIELDS | {"code": code, "name": ""}).text
    assert list_organisations(empty_server.settings) == []

    answer = session.submit_page(page, "/set-up", **SET_UP_FIELDS | {"code": f" {code.lower().replace('-', ' ')} "})

    assert answer.headers["Location"] == "/"
    assert session.is_signed_in


def test_who_tries_codes_is_slowed_and_nobody_else_is(settings_without_proxies: Settings) -> None:
    with run_in_process(
        replace(settings_without_proxies, trusted_proxies=(ipaddress.ip_network("127.0.0.1"),))
    ) as server:
        code, session = read_code(server), BrowserSession(server)
        page = session.get("/set-up").text
        near = {"X-Forwarded-For": "203.0.113.7"}
        fields = {"csrf": hidden_value(page, "csrf")} | SET_UP_FIELDS
        for _ in range(CODES_PER_ADDRESS):
            assert session.post("/set-up", fields | {"code": "x"}, **near).status_code == 422
        answer = session.post("/set-up", fields | {"code": code}, **near)
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
        assert list_organisations(settings_without_proxies) == []
        assert submit_set_up(BrowserSession(server), code).headers["Location"] == "/"


def test_servers_of_one_secret_show_one_code(settings_without_proxies: Settings) -> None:
    first = open_first_organisation(replace(settings_without_proxies, secret="s" * 32))
    second = open_first_organisation(replace(settings_without_proxies, secret="s" * 32, data=Path("elsewhere")))
    other = open_first_organisation(replace(settings_without_proxies, secret="t" * 32))
    assert first.code == second.code != other.code
    assert first.is_code(f" {second.code.lower()} ")
    assert first.is_code(second.code.replace("-", ""))
    assert not first.is_code(other.code)
    assert not first.is_code("")
    assert not first.is_code("é")


def test_what_is_wrong_is_told_beside_its_field(empty_server: InProcessServer) -> None:
    wrong = {"name": " ", "country": "XX", "ownerEmail": "me", "timeZone": "Nowhere"}
    code = read_code(empty_server)
    page = submit_set_up(BrowserSession(empty_server), code, **wrong)
    assert page.status_code == 422
    for name in wrong:
        assert f'id="{name}-fault"' in page.text
    assert 'value="Olivia Owner"' in page.text
    assert SET_UP_FIELDS["password"] not in page.text
    short = submit_set_up(BrowserSession(empty_server), code, password="short")
    assert "Password must have at least 10 characters." in visible_text(short.text)
    assert list_organisations(empty_server.settings) == []


def test_another_site_cannot_send_the_form(empty_server: InProcessServer) -> None:
    session = BrowserSession(empty_server)
    page = session.get("/set-up").text
    fields = {"csrf": hidden_value(page, "csrf"), "code": read_code(empty_server)} | SET_UP_FIELDS
    assert session.post("/set-up", fields, Origin="http://127.0.0.1:9").status_code == 403
    assert session.post("/set-up", fields | {"csrf": "00" * 86}).status_code == 403
    assert BrowserSession(empty_server).post("/set-up", fields).status_code == 403
    assert list_organisations(empty_server.settings) == []
