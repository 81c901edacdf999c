"""Someone with a browser, over plain HTTP: keeps cookies, and fills in forms as the pages show them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from functools import cache
from html import unescape
from pathlib import Path

import httpx2

from apps import begin_session, from_somewhere, hidden
from cast import EMAILS, PASSWORD, Cast, open_accounts
from mainstay.business.people.joining import add_person
from mainstay.terms.actor import operator
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id
from running import RunningServer
from waiting import wait_until

BROWSER = "Firefox/140 (Linux)"


@dataclass(frozen=True)
class Somebody:
    """A person of the cast's organisation with an account of their own."""

    id: str
    email: str
    password: str = PASSWORD


class Visit:
    """A browser of its own, at an address of its own."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.cookies: dict[str, str] = {}
        self._headers = {"Accept": "text/html", "User-Agent": BROWSER, **from_somewhere()}

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Open a page; redirects are not followed."""
        return self._request("GET", path, headers, None)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
        """Send a form, as a page of the server would."""
        return self._request("POST", path, {"Origin": self.server.url} | headers, fields)

    def upload(self, path: str, fields: dict[str, str], **files: tuple[str, bytes]) -> httpx2.Response:
        """Send a form with files: by field, what a file is called and what is in it."""
        return self._request("POST", path, {"Origin": self.server.url}, fields, files)

    def send(self, path: str, body: bytes | Iterator[bytes], **headers: str) -> httpx2.Response:
        """Send whatever body, as if a page of the server did."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._request("POST", path, {"Origin": self.server.url} | named, None, content=body)

    def _request(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        fields: dict[str, str] | None,
        files: dict[str, tuple[str, bytes]] | None = None,
        content: bytes | Iterator[bytes] | None = None,
    ) -> httpx2.Response:
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        answer = self.server.request(
            method, path, headers=self._headers | cookie | headers, form=fields, files=files, content=content
        )
        for name, value in set_cookies(answer).items():
            self.cookies[name] = value.partition(";")[0]
        return answer

    def submit(self, path: str, to: str | None = None, **fields: str) -> httpx2.Response:
        """Open a page, and send a form of it with its token."""
        page = self.get(path)
        assert page.status_code == httpx2.codes.OK, page.text
        return self.answer(page.text, to or path, **fields)

    def answer(self, page: str, to: str, **fields: str) -> httpx2.Response:
        """Send a form of a page that is open, with its token."""
        known = {name: hidden(page, name) for name in ("csrf", "once", "ticket", "version", "shown")}
        return self.post(to, {name: value for name, value in known.items() if value} | fields)

    def follow(self, answer: httpx2.Response) -> httpx2.Response:
        """Go on to where an answer leads."""
        assert answer.status_code == httpx2.codes.SEE_OTHER, answer.text
        return self.get(answer.headers["Location"])

    def sign_in(self, somebody: Somebody) -> None:
        """Sign in."""
        answer = self.submit("/sign-in", email=somebody.email, password=somebody.password)
        assert answer.status_code == httpx2.codes.SEE_OTHER, answer.text

    @property
    def is_inside(self) -> bool:
        """Whether the office opens."""
        return self.get("/").status_code == httpx2.codes.OK


def somebody(cast: Cast, role: Role = Role.OWNER, name: str = "Sara Someone") -> Somebody:
    """A new person of the cast's organisation."""
    email = f"{new_id('s').lower()}@somebody.example"
    open_accounts(cast.stage, email)
    person = cast.perform(add_person, operator(cast.organisation), name=name, email=email, role=role, password=PASSWORD)
    return Somebody(str(person["id"]), email)


def visit(server: RunningServer, cast: Cast, role: Role = Role.OWNER) -> Visit:
    """A new person of the cast's organisation, signed in."""
    visiting = Visit(server)
    visiting.cookies["mainstay"] = begin_session(cast, somebody(cast, role).email, BROWSER)
    return visiting


def visit_as(server: RunningServer, cast: Cast, role: Role) -> Visit:
    """The cast's own person of a role, signed in."""
    visiting = Visit(server)
    visiting.cookies["mainstay"] = begin_session(cast, EMAILS[role], BROWSER)
    return visiting


def set_cookies(answer: httpx2.Response) -> dict[str, str]:
    """The cookies that an answer sets: by name, everything behind it."""
    return dict(cookie.split("=", 1) for cookie in answer.headers.get_list("Set-Cookie"))


def words(page: str) -> str:
    """What people read on a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def link_for(server: RunningServer, email: str, count: int = 1) -> str:
    """The link in the newest of so many mails to an address, once the worker has sent them."""
    newest = wait_for_mails(server, email, count)[-1]
    link = re.search(r"https?://\S+/(?:invitation|reset-password)/\S+", newest)
    assert link, newest
    return link[0].removeprefix(server.url)


def wait_for_mails(server: RunningServer, email: str, count: int) -> list[str]:
    """The texts of so many mails to an address, once the worker has sent them."""

    def look() -> list[str] | None:
        found = mails_to(server, email)
        return found if len(found) == count else None

    return wait_until(look)


def mails_to(server: RunningServer, email: str) -> list[str]:
    """The texts of the mails to an address, in the order of their sending."""
    letters = map(_read, sorted((server.settings.data / "outbox").glob("*.eml")))
    return [text for to, text in letters if email in to]


@cache
def _read(file: Path) -> tuple[str, str]:
    """To whom a mail goes, and its text; read once, for one is looked for again and again among all that were sent."""
    letter = message_from_bytes(file.read_bytes(), policy=default)
    # Beside it there may be attachments.
    text = letter.get_body(("plain",))
    return str(letter["To"]), str(text.get_content()) if text else ""
