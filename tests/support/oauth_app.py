"""An app that connects by OAuth, step by step; the person's browser is played over HTTP."""

import base64
import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from mainstay.identity import sessions
from mainstay.identity.secrets import hash_secret
from mainstay.identity.sessions import NewSession
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, Cast
from support.servers import RunningServer

CALLBACK = "http://localhost:9999/callback"


def make_pkce_pair() -> tuple[str, str]:
    """A verifier and its challenge."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass
class SignedInPerson:
    """A person in front of a browser, signed in."""

    server: RunningServer
    cookie: str

    def open(self, address: str) -> httpx2.Response:
        """Open an address; redirects are not followed."""
        return self.server.request("GET", address, headers={"Cookie": self.cookie})

    def decide(self, address: str, screen: str, **choices: str) -> httpx2.Response:
        """Answer the approval screen."""
        form = {name: value for name in ("csrf", "ticket") if (value := hidden_value(screen, name))} | choices
        headers = {"Cookie": self.cookie, "Origin": self.server.url}
        return self.server.request("POST", address, form=form, headers=headers)

    def approve(self, address: str, organisation: str, access: str = "read") -> dict[str, str]:
        """Approve what an app asks for, and return the parameters of the redirect."""
        screen = self.open(address)
        assert screen.status_code == 200, screen.text
        answer = self.decide(address, screen.text, organisation=organisation, access=access, decision="approve")
        assert answer.status_code == 303, answer.text
        return redirect_parameters(answer)


def hidden_value(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    return found[1] if found else ""


def redirect_parameters(response: httpx2.Response) -> dict[str, str]:
    """Return the parameters that a redirect hands to the app."""
    return {name: values[0] for name, values in parse_qs(urlsplit(response.headers["Location"]).query).items()}


def sign_in_cast_member(
    server: RunningServer, cast: Cast, role: Role = Role.OWNER, email: str | None = None
) -> SignedInPerson:
    """A person of the cast, or the one with this address, with a session of their own."""
    return SignedInPerson(server, f"mainstay={begin_session(cast, email or EMAILS[role])}")


def begin_session(cast: Cast, email: str, browser: str = "a test") -> str:
    """Begin a session as if someone had signed in, and return its secret."""
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        row = db.one("SELECT id FROM account WHERE email = :email", email=email)
        assert row
        return sessions.begin_session(db, NewSession(str(row[0]), cast.organisation, browser), cast.performer.clock())


def find_session(cast: Cast, secret: str) -> str:
    """Return the id of a session by its secret."""
    with cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        row = db.one("SELECT id FROM session WHERE hash = :hash", hash=hash_secret(secret))
    assert row
    return str(row[0])


@dataclass
class OAuthApp:
    """A registered client."""

    server: RunningServer
    client_id: str
    secret: str | None = None
    auth_method: str = "none"
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: make_pkce_pair()[0])

    def make_authorize_url(self, **changes: str | None) -> str:
        """Make the address to which the app sends the person."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": "the state",
            "scope": "mcp",
            "resource": f"{self.server.url}/mcp",
        }
        parameters |= changes
        given_parameters = {name: value for name, value in parameters.items() if value is not None}
        return f"{self.server.url}/oauth/authorize?{urlencode(given_parameters)}"

    def request_tokens(self, **form: str) -> httpx2.Response:
        """Ask for tokens."""
        return self._post("/oauth/token", form)

    def redeem_code(self, code: str, **form: str) -> httpx2.Response:
        """Exchange a code."""
        values = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }
        return self.request_tokens(**(values | form))

    def refresh_tokens(self, token: str, **form: str) -> httpx2.Response:
        """Exchange a refresh token."""
        return self.request_tokens(**({"grant_type": "refresh_token", "refresh_token": token} | form))

    def revoke_token(self, token: str, **form: str) -> httpx2.Response:
        """End the connection of a token."""
        return self._post("/oauth/revoke", {"token": token, **form})

    def connect(self, person: SignedInPerson, organisation: str, access: str = "read") -> dict[str, Any]:
        """Go the whole way from approval to tokens."""
        code = person.approve(self.make_authorize_url(), organisation, access)["code"]
        answer = self.redeem_code(code)
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    def _post(self, path: str, form: dict[str, str]) -> httpx2.Response:
        auth = None
        if self.auth_method == "client_secret_basic" and self.secret:
            auth = (self.client_id, self.secret)
        else:
            form = {"client_id": self.client_id, **form}
            if self.secret and self.auth_method == "client_secret_post":
                form = {"client_secret": self.secret, **form}
        return self.server.request("POST", path, form=form, auth=auth)


def register_app(server: RunningServer, method: str = "none", **metadata: Any) -> OAuthApp:
    """Register an app."""
    given = {"client_name": "Test app", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": method, **metadata}
    answer = server.request("POST", "/oauth/register", json=given, headers=make_address_header())
    assert answer.status_code == 201, answer.text
    registration = answer.json()
    return OAuthApp(
        server, registration["client_id"], registration.get("client_secret"), method, registration["redirect_uris"][0]
    )


def make_address_header() -> dict[str, str]:
    """Make the header of a random address, because registrations are limited by address."""
    return {"X-Forwarded-For": ".".join(str(part) for part in (203, *secrets.token_bytes(3)))}
