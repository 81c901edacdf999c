"""A browser over plain HTTP: it keeps cookies and fills in forms as the pages show them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from functools import cache
from html import unescape
from pathlib import Path

import httpx2

from mainstay.business.people.invitations import add_person
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, PASSWORD, Cast, open_accounts
from support.oauth_app import begin_session, hidden_value, make_address_header
from support.servers import RunningServer
from support.waiting import wait_until

USER_AGENT = "Firefox/140 (Linux)"


@dataclass(frozen=True)
class NewPerson:
    """A person of the cast's organisation with an account of their own."""

    id: str
    email: str
    password: str = PASSWORD


class BrowserSession:
    """A browser with cookies and an IP address of its own."""

    def __init__(self, server: RunningServer, language: str = "en") -> None:
        self.server = server
        self.cookies: dict[str, str] = {}
        self._headers = {"Accept": "text/html", "Accept-Language": language, "User-Agent": USER_AGENT}
        self._headers |= make_address_header()

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Open a page; redirects are not followed."""
        return self._request("GET", path, headers, None)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
        """Send a form, as a page of the server would."""
        return self._request("POST", path, {"Origin": self.server.url} | headers, fields)

    def upload(self, path: str, fields: dict[str, str], **files: tuple[str, bytes]) -> httpx2.Response:
        """Send a form with files: by field, what a file is called and what is in it."""
        return self._request("POST", path, {"Origin": self.server.url}, fields, files)

    def send_body(self, path: str, body: bytes | Iterator[bytes], **headers: str) -> httpx2.Response:
        """Send any body, as if a page of the server did."""
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
        response = self.server.request(
            method, path, headers=self._headers | cookie | headers, form=fields, files=files, content=content
        )
        for name, value in cookies_set_by(response).items():
            self.cookies[name] = value.partition(";")[0]
        return response

    def submit_form(self, path: str, target: str | None = None, **fields: str) -> httpx2.Response:
        """Open a page, and send a form of it with its token."""
        page = self.get(path)
        assert page.status_code == httpx2.codes.OK, page.text
        return self.submit_page(page.text, target or path, **fields)

    def submit_page(self, page: str, target: str, **fields: str) -> httpx2.Response:
        """Send a form of a page that is open, with its token."""
        names = ("csrf", "once", "ticket", "version", "shown", "previewToken")
        hidden_fields = {name: hidden_value(page, name) for name in names}
        return self.post(target, {name: value for name, value in hidden_fields.items() if value} | fields)

    def press_undo(self, page: str) -> httpx2.Response:
        """Press the first button of a page that undoes something, and open the next page; or return the refusal."""
        form = re.search(r'action="/changes/undo">.*?</form>', page, re.DOTALL)
        assert form is not None, page
        fields = {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form[0])}
        answer = self.post("/changes/undo", fields)
        return self.follow_redirect(answer) if answer.status_code == httpx2.codes.SEE_OTHER else answer

    def follow_redirect(self, response: httpx2.Response) -> httpx2.Response:
        """Open the page that a response redirects to."""
        assert response.status_code == httpx2.codes.SEE_OTHER, response.text
        return self.get(response.headers["Location"])

    def sign_in(self, person: NewPerson) -> None:
        """Sign in."""
        answer = self.submit_form("/sign-in", email=person.email, password=person.password)
        assert answer.status_code == httpx2.codes.SEE_OTHER, answer.text

    @property
    def is_signed_in(self) -> bool:
        """Whether the office opens."""
        return self.get("/").status_code == httpx2.codes.OK


def add_new_person(cast: Cast, role: Role = Role.OWNER, name: str = "Sara Someone") -> NewPerson:
    """Add a person to the cast's organisation."""
    email = f"{new_id('s').lower()}@somebody.example"
    open_accounts(cast.performer, email)
    person = cast.perform(
        add_person, operator_actor(cast.organisation), name=name, email=email, role=role, password=PASSWORD
    )
    return NewPerson(str(person["id"]), email)


def sign_in_new_person(server: RunningServer, cast: Cast, role: Role = Role.OWNER) -> BrowserSession:
    """Sign in as a new person of the cast's organisation."""
    session = BrowserSession(server)
    session.cookies["mainstay"] = begin_session(cast, add_new_person(cast, role).email, USER_AGENT)
    return session


def sign_in_cast(server: RunningServer, cast: Cast, role: Role) -> BrowserSession:
    """Sign in as the cast's own person of a role."""
    session = BrowserSession(server)
    session.cookies["mainstay"] = begin_session(cast, EMAILS[role], USER_AGENT)
    return session


def cookies_set_by(answer: httpx2.Response) -> dict[str, str]:
    """The cookies that an answer sets: by name, everything behind it."""
    return dict(cookie.split("=", 1) for cookie in answer.headers.get_list("Set-Cookie"))


def visible_text(page: str) -> str:
    """Return the text that people read on a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def wait_for_link(server: RunningServer, email: str, count: int = 1) -> str:
    """Wait for so many emails to an address, and return the link in the newest."""
    newest = wait_for_emails(server, email, count)[-1]
    link = re.search(r"https?://\S+/(?:invitation|reset-password)/\S+", newest)
    assert link, newest
    return link[0].removeprefix(server.url)


def wait_for_emails(server: RunningServer, email: str, count: int) -> list[str]:
    """Wait for so many emails to an address, and return their texts."""

    def find_emails() -> list[str] | None:
        found = emails_to(server, email)
        return found if len(found) == count else None

    return wait_until(find_emails)


def emails_to(server: RunningServer, email: str) -> list[str]:
    """Return the texts of the emails to an address, in the order of their sending."""
    emails = map(_read_email, sorted((server.settings.data / "outbox").glob("*.eml")))
    return [text for to, text in emails if email in to]


@cache
def _read_email(file: Path) -> tuple[str, str]:
    """Return the recipient and the text of an email; cached, because all emails are searched again and again."""
    email = message_from_bytes(file.read_bytes(), policy=default)
    # Beside it there may be attachments.
    text = email.get_body(("plain",))
    return str(email["To"]), str(text.get_content()) if text else ""
