"""The cookies on https, where browsers keep them to this one host."""

from collections.abc import Iterator

import pytest

from cast import EMAILS, PASSWORD, assemble
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.terms.rights import Role
from running import RunningServer, start_server
from visiting import Visit, set_cookies

HTTPS = "https://office.example"
FLAGS = ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"]


@pytest.fixture
def behind_proxy(fresh_settings: Settings) -> Iterator[RunningServer]:
    """A server whose people reach it by https."""
    stage = open_stage(fresh_settings)
    assemble(stage)
    stage.database.close()
    with start_server(fresh_settings, MAINSTAY_BASE_URL=HTTPS) as running:
        yield running


def test_on_https_cookies_are_secure_and_bound_to_the_host(behind_proxy: RunningServer) -> None:
    visiting = Visit(behind_proxy)
    page = visiting.get("/sign-in")
    secret, *flags = set_cookies(page)["__Host-mainstay-guest"].split("; ")
    assert (len(secret), flags) == (43, FLAGS)
    # The same cookie is kept; one of the plain name, which another host could have set, does not count.
    assert set_cookies(visiting.get("/sign-in")) == {}
    assert set_cookies(Visit(behind_proxy).get("/sign-in", Cookie=f"mainstay-guest={secret}"))

    fields = {"email": EMAILS[Role.OWNER], "password": PASSWORD}
    plain = visiting.answer(page.text, "/sign-in", **fields)
    assert plain.status_code == 403, "a form of the http address is a form of another site"
    known = {"csrf": page.text.partition('name="csrf" value="')[2].partition('"')[0]}
    answer = visiting.post("/sign-in", fields | known, Origin=HTTPS)
    secret, *flags = set_cookies(answer)["__Host-mainstay"].split("; ")
    assert (len(secret), flags) == (43, FLAGS)
    assert visiting.is_inside
    assert Visit(behind_proxy).get("/", Cookie=f"mainstay={secret}").status_code == 303
