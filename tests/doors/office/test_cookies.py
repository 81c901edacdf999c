"""The cookies on https, where browsers keep them to this one host."""

from collections.abc import Iterator

import pytest

from mainstay.composition import open_performer
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, cookies_set_by
from support.cast import EMAILS, PASSWORD, make_cast
from support.servers import RunningServer, start_server

HTTPS = "https://office.example"
FLAGS = ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"]


@pytest.fixture
def https_server(fresh_settings: Settings) -> Iterator[RunningServer]:
    """A server whose people reach it by https."""
    performer = open_performer(fresh_settings)
    make_cast(performer)
    performer.database.close()
    with start_server(fresh_settings, MAINSTAY_BASE_URL=HTTPS) as running:
        yield running


def test_on_https_cookies_are_secure_and_bound_to_the_host(https_server: RunningServer) -> None:
    session = BrowserSession(https_server)
    page = session.get("/sign-in")
    secret, *flags = cookies_set_by(page)["__Host-mainstay-guest"].split("; ")
    assert (len(secret), flags) == (43, FLAGS)
    # The same cookie is kept; one of the plain name, which another host could have set, does not count.
    assert cookies_set_by(session.get("/sign-in")) == {}
    assert cookies_set_by(BrowserSession(https_server).get("/sign-in", Cookie=f"mainstay-guest={secret}"))

    fields = {"email": EMAILS[Role.OWNER], "password": PASSWORD}
    plain = session.submit_page(page.text, "/sign-in", **fields)
    assert plain.status_code == 403, "a form of the http address is a form of another site"
    known = {"csrf": page.text.partition('name="csrf" value="')[2].partition('"')[0]}
    answer = session.post("/sign-in", fields | known, Origin=HTTPS)
    secret, *flags = cookies_set_by(answer)["__Host-mainstay"].split("; ")
    assert (len(secret), flags) == (43, FLAGS)
    assert session.is_signed_in
    assert BrowserSession(https_server).get("/", Cookie=f"mainstay={secret}").status_code == 303
