"""An app that connects itself, step by step, with the person's part done over HTTP as their browser would."""

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from cast import EMAILS, Cast
from mainstay.backing.database import EVERY
from mainstay.identity import sessions
from mainstay.terms.rights import Role
from running import RunningServer

CALLBACK = "http://localhost:9999/callback"


def pkce() -> tuple[str, str]:
    """A verifier and its challenge."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class Person:
    """A person in front of a browser, signed in."""

    server: RunningServer
    cookie: str

    def open(self, address: str) -> httpx2.Response:
        """Open an address; redirects are not followed."""
        return self.server.request("GET", address, headers={"Cookie": self.cookie})

    def decide(self, address: str, screen: str, **choices: str) -> httpx2.Response:
        """Answer the approval screen."""
        form = {name: value for name in ("csrf", "ticket") if (value := hidden(screen, name))} | choices
        headers = {"Cookie": self.cookie, "Origin": self.server.url}
        return self.server.request("POST", address, form=form, headers=headers)

    def approve(self, address: str, organisation: str, access: str = "read") -> dict[str, str]:
        """Approve what an app asks for; what the app is told."""
        screen = self.open(address)
        assert screen.status_code == 200, screen.text
        answer = self.decide(address, screen.text, organisation=organisation, access=access, decision="approve")
        assert answer.status_code == 303, answer.text
        return told(answer)


def hidden(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    return found[1] if found else ""


def told(answer: httpx2.Response) -> dict[str, str]:
    """What a redirect tells the app."""
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["Location"]).query).items()}


def signed_in(server: RunningServer, cast: Cast, role: Role = Role.OWNER, email: str | None = None) -> Person:
    """A person of the cast, or the one with this address, with a session of their own."""
    return Person(server, f"mainstay={begin_session(cast, email or EMAILS[role])}")


def begin_session(cast: Cast, email: str, browser: str = "a test") -> str:
    """The secret of a new session, as if someone had signed in; the sign-in itself is tested where it is."""
    with cast.stage.database.changing(EVERY) as rows:
        row = rows.one("SELECT id FROM account WHERE email = :email", email=email)
        assert row
        return sessions.begin(rows, str(row[0]), cast.organisation, browser, cast.stage.clock())


@dataclass
class App:
    """A registered client."""

    server: RunningServer
    client_id: str
    secret: str | None = None
    method: str = "none"
    redirect: str = CALLBACK
    verifier: str = field(default_factory=lambda: pkce()[0])

    def address(self, **changes: str | None) -> str:
        """Where it sends the person."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": "the state",
            "scope": "mcp",
            "resource": f"{self.server.url}/mcp",
        }
        parameters |= changes
        kept = {name: value for name, value in parameters.items() if value is not None}
        return f"{self.server.url}/oauth/authorize?{urlencode(kept)}"

    def token(self, **form: str) -> httpx2.Response:
        """Ask for tokens."""
        return self._post("/oauth/token", form)

    def redeem(self, code: str, **form: str) -> httpx2.Response:
        """Exchange a code."""
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "code_verifier": self.verifier,
        }
        return self.token(**(asked | form))

    def refresh(self, token: str, **form: str) -> httpx2.Response:
        """Exchange a refresh token."""
        return self.token(**({"grant_type": "refresh_token", "refresh_token": token} | form))

    def revoke(self, token: str, **form: str) -> httpx2.Response:
        """End the connection of a token."""
        return self._post("/oauth/revoke", {"token": token, **form})

    def connect(self, person: Person, organisation: str, access: str = "read") -> dict[str, Any]:
        """The whole way from asking to tokens."""
        code = person.approve(self.address(), organisation, access)["code"]
        answer = self.redeem(code)
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    def _post(self, path: str, form: dict[str, str]) -> httpx2.Response:
        auth = None
        if self.method == "client_secret_basic" and self.secret:
            auth = (self.client_id, self.secret)
        else:
            form = {"client_id": self.client_id, **form}
            if self.secret and self.method == "client_secret_post":
                form = {"client_secret": self.secret, **form}
        return self.server.request("POST", path, form=form, auth=auth)


def register(server: RunningServer, method: str = "none", **metadata: Any) -> App:
    """Register an app."""
    given = {"client_name": "Test app", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": method, **metadata}
    answer = server.request("POST", "/oauth/register", json=given, headers=from_somewhere())
    assert answer.status_code == 201, answer.text
    kept = answer.json()
    return App(server, kept["client_id"], kept.get("client_secret"), method, kept["redirect_uris"][0])


def from_somewhere() -> dict[str, str]:
    """Registrations are limited by address: each of ours comes from another one."""
    return {"X-Forwarded-For": ".".join(str(part) for part in (203, *secrets.token_bytes(3)))}
