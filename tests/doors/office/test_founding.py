"""The page of the first start: whoever has the code of the log makes the first organisation, once."""

import ipaddress
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from apps import hidden
from cast import Cast
from evidence import trail
from inside import Inside, open_inside
from mainstay.backing.folder import DataFolder
from mainstay.business.organisation import store as organisations
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.people.operations import list_people
from mainstay.doors.office.founding import CODES_PER_ADDRESS
from mainstay.identity.signing_in import look_up
from mainstay.settings import Settings
from mainstay.staging import open_founding, open_stage
from mainstay.terms.actor import operator
from running import RunningServer
from visiting import Visit, set_cookies, words

GIVEN = {
    "name": "Beam & Sons",
    "country": "DE",
    "currency": "EUR",
    "timeZone": "Europe/Berlin",
    "ownerName": "Olivia Owner",
    "ownerEmail": "olivia@beam.example",
    "password": "four words of mine",
}
STRICT_FORM = "form-action 'self'"
WRONG_CODE = "Code is not the one in the log of the server."


class Beside(Visit):
    """A browser on the server's machine, or a proxy there that passes on nothing but the request."""

    def __init__(self, server: RunningServer) -> None:
        super().__init__(server)
        del self._headers["X-Forwarded-For"]


@pytest.fixture
def untouched(fresh_settings: Settings) -> Settings:
    return replace(fresh_settings, trusted_proxies=())


@pytest.fixture
def empty(untouched: Settings) -> Iterator[Inside]:
    """A server without anyone who could sign in."""
    with open_inside(untouched) as inside:
        yield inside


def made(settings: Settings) -> list[Any]:
    """The organisations that there are."""
    database = open_stage(settings).database
    with database.reading("*") as rows:
        found = organisations.every(rows)
    database.close()
    return found


def new_code(server: Inside) -> str:
    """The code of a start, as the log of a real server has it."""
    return open_founding(server.settings).begin()


def found(visiting: Visit, code: str, **given: str) -> httpx2.Response:
    return visiting.submit(f"/set-up?code={code}", "/set-up", **GIVEN | {"code": code} | given)


@pytest.mark.engines("sqlite", "postgresql")
def test_whoever_follows_the_link_of_the_log_makes_the_first_organisation_and_is_in_it(empty: Inside) -> None:
    code, visiting = new_code(empty), Visit(empty)
    assert visiting.get("/").headers["Location"] == "/sign-in"
    assert visiting.get("/sign-in").headers["Location"] == "/set-up"
    page = visiting.get(f"/set-up?code={code}")
    assert page.status_code == 200
    assert f'value="{code}"' in page.text
    assert page.headers["Content-Security-Policy"].endswith(STRICT_FORM)
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"

    answer = visiting.answer(page.text, "/set-up", **GIVEN, code=code)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    home = words(visiting.get("/").text)
    assert "Olivia Owner" in home
    assert "Beam & Sons" in home


@pytest.mark.engines("sqlite", "postgresql")
def test_it_is_as_if_the_operator_had_made_it_from_the_command_line(empty: Inside) -> None:
    found(Visit(empty), new_code(empty))
    [organisation] = made(empty.settings)
    stage = open_stage(empty.settings)
    cast = Cast(stage, organisation["id"], {})
    shown = cast.perform(get_organisation, operator(cast.organisation))
    assert [shown[name] for name in ("name", "country", "currency", "timeZone")] == [*GIVEN.values()][:4]
    [owner] = cast.perform(list_people, operator(cast.organisation))["data"]
    assert (owner["name"], owner["email"], owner["role"]) == ("Olivia Owner", "olivia@beam.example", "owner")
    entry = trail(cast)[0]
    assert entry["operation"] == "create_organisation"
    assert (entry["actor"]["kind"], entry["actor"]["via"]["door"]) == ("operator", "office")
    assert GIVEN["password"] not in str(entry)
    with stage.database.reading("*") as rows:
        assert look_up(rows, "olivia@beam.example").account
    stage.database.close()
    # From now on one signs in.
    visiting = Visit(empty)
    answer = visiting.submit("/sign-in", email="olivia@beam.example", password=GIVEN["password"])
    assert answer.headers["Location"] == "/"
    assert visiting.is_inside


def test_afterwards_the_page_is_gone(empty: Inside) -> None:
    code, late = new_code(empty), Visit(empty)
    page = late.get("/set-up").text
    found(Visit(empty), code)

    assert late.get("/set-up").headers["Location"] == "/sign-in"
    assert late.get("/sign-in").status_code == 200
    answer = late.answer(page, "/set-up", **GIVEN | {"ownerEmail": "late@beam.example", "code": code})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert "mainstay" not in set_cookies(answer)
    assert len(made(empty.settings)) == 1


@pytest.mark.usefixtures("cast")
def test_where_someone_can_sign_in_there_is_no_such_page(server: RunningServer) -> None:
    visiting = Visit(server)
    assert visiting.get("/sign-in").status_code == 200
    assert visiting.get("/set-up").headers["Location"] == "/sign-in"
    before = len(made(server.settings))
    sign_in = visiting.get("/sign-in").text
    assert visiting.answer(sign_in, "/set-up", **GIVEN).headers["Location"] == "/sign-in"
    assert len(made(server.settings)) == before


@pytest.mark.engines("sqlite", "postgresql")
def test_of_many_who_make_it_at_once_one_does(empty: Inside) -> None:
    code, forms = new_code(empty), []
    for number in range(8):
        visiting = Visit(empty)
        forms.append((visiting, visiting.get("/set-up").text, f"{number}@beam.example"))
    with ThreadPoolExecutor(len(forms)) as clients:
        sent = [
            clients.submit(visiting.answer, page, "/set-up", **GIVEN | {"ownerEmail": email, "code": code})
            for visiting, page, email in forms
        ]
        places = [answer.result().headers["Location"] for answer in sent]

    assert sorted(places) == ["/", *["/sign-in"] * 7]
    [organisation] = made(empty.settings)
    stage = open_stage(empty.settings)
    cast = Cast(stage, organisation["id"], {})
    [owner] = cast.perform(list_people, operator(cast.organisation))["data"]
    assert owner["email"] == forms[places.index("/")][2]
    stage.database.close()


@pytest.mark.parametrize("kind", [Visit, Beside])
def test_it_needs_the_code_of_the_log_wherever_one_is(empty: Inside, kind: type[Visit]) -> None:
    code, visiting = new_code(empty), kind(empty)
    page = visiting.get("/set-up").text
    assert 'name="code"' in page
    for wrong in ("", "0000-0000-0000-0000", code[:-1], code + "0"):
        answer = visiting.answer(page, "/set-up", **GIVEN | {"code": wrong})
        assert answer.status_code == 422
        assert WRONG_CODE in words(answer.text)
        # Nothing else is said about what they sent.
        assert WRONG_CODE in words(visiting.answer(page, "/set-up", name="", code=wrong).text)
    # The right one need not be typed again where something else is wrong.
    assert f'value="{code}"' in visiting.answer(page, "/set-up", **GIVEN | {"code": code, "name": ""}).text
    assert made(empty.settings) == []

    answer = visiting.answer(page, "/set-up", **GIVEN | {"code": f" {code.lower().replace('-', ' ')} "})

    assert answer.headers["Location"] == "/"
    assert visiting.is_inside


def test_who_tries_codes_is_slowed_and_nobody_else_is(untouched: Settings) -> None:
    with open_inside(replace(untouched, trusted_proxies=(ipaddress.ip_network("127.0.0.1"),))) as server:
        code, visiting = new_code(server), Visit(server)
        page = visiting.get("/set-up").text
        near = {"X-Forwarded-For": "203.0.113.7"}
        fields = {"csrf": hidden(page, "csrf")} | GIVEN
        for _ in range(CODES_PER_ADDRESS):
            assert visiting.post("/set-up", fields | {"code": "x"}, **near).status_code == 422
        answer = visiting.post("/set-up", fields | {"code": code}, **near)
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
        assert made(untouched) == []
        assert found(Visit(server), code).headers["Location"] == "/"


def test_a_code_counts_until_the_next_start_and_is_not_kept(untouched: Settings) -> None:
    kept = DataFolder(untouched.data).first_code
    with open_inside(untouched):
        founding = open_founding(untouched)
        first = founding.begin()
        assert founding.is_code(first)
        assert kept.stat().st_mode & 0o777 == 0o600
        assert first.replace("-", "").encode() not in kept.read_bytes()
    with open_inside(untouched) as inside:
        assert not founding.is_code(first)
        found(Visit(inside), new_code(inside))
    with open_inside(untouched):
        assert not kept.exists()
        assert not founding.is_code("")


def test_what_is_wrong_is_told_beside_its_field(empty: Inside) -> None:
    wrong = {"name": " ", "country": "XX", "ownerEmail": "me", "timeZone": "Nowhere"}
    code = new_code(empty)
    page = found(Visit(empty), code, **wrong)
    assert page.status_code == 422
    for name in wrong:
        assert f'id="{name}-fault"' in page.text
    assert 'value="Olivia Owner"' in page.text
    assert GIVEN["password"] not in page.text
    short = found(Visit(empty), code, password="short")
    assert "Password has fewer than 10 characters." in words(short.text)
    assert made(empty.settings) == []


def test_another_site_cannot_send_the_form(empty: Inside) -> None:
    visiting = Visit(empty)
    page = visiting.get("/set-up").text
    fields = {"csrf": hidden(page, "csrf"), "code": new_code(empty)} | GIVEN
    assert visiting.post("/set-up", fields, Origin="http://127.0.0.1:9").status_code == 403
    assert visiting.post("/set-up", fields | {"csrf": "00" * 86}).status_code == 403
    assert Visit(empty).post("/set-up", fields).status_code == 403
    assert made(empty.settings) == []
