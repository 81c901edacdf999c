"""Clients of a busy firm: its office, and programs with its keys."""

import re
from dataclasses import dataclass
from itertools import cycle

import httpx2
from bench.neighbours.firms import BUSY_KEYS, LoadedFirm, NeighbourStock
from bench.neighbours.receivers import MailServerReports

# A page with a form: the token in it is good for every form of the sign-in.
_FORM_PATH = "/settings/import"


@dataclass(frozen=True)
class LoadedSite:
    """A server, and what is in it."""

    url: str
    stock: NeighbourStock
    mail: MailServerReports
    # For the operator of PostgreSQL.
    database: str | None


class OfficeClient:
    """Someone of a firm who is signed in, or a program with a key of it."""

    def __init__(
        self,
        site: LoadedSite,
        firm: LoadedFirm,
        first_key: int = 0,
        key_step: int = BUSY_KEYS,
        timeout_seconds: float = 60.0,
    ) -> None:
        self.firm = firm
        self._client = httpx2.Client(
            base_url=site.url,
            headers={"Origin": site.url, "Accept": "text/html", "Cookie": f"mainstay={firm.cookie}"},
            timeout=timeout_seconds,
            trust_env=False,
            # Without the certificates of the world, which take long to load and which nothing here has.
            verify=False,
        )
        # Keys take turns where one may not be used as often.
        self._keys = cycle(firm.keys[first_key::key_step])
        self._token = ""

    def reconnect_each_time(self) -> None:
        """Make a connection for each request from now on, so that any process of the server may answer it."""
        self._client.headers["Connection"] = "close"

    def get(self, path: str) -> httpx2.Response:
        """Open a page."""
        return self._client.get(path)

    def send(self, path: str, fields: dict[str, str], **files: bytes) -> httpx2.Response:
        """Send a form, perhaps with files."""
        if not self._token:
            found = re.search(r'name="csrf" value="([^"]*)"', self.get(_FORM_PATH).text)
            self._token = found[1] if found else ""
        sent = {name: ("upload", content) for name, content in files.items()}
        return self._client.post(path, data=fields | {"csrf": self._token}, files=sent or None)

    def call(self, method: str, path: str, given: object) -> httpx2.Response:
        """Use the API."""
        headers = {"Authorization": f"Bearer {next(self._keys)}", "Accept": "application/json", "Cookie": ""}
        return self._client.request(method, f"/api/v1{path}", json=given, headers=headers)


def send_quote(office: OfficeClient, quote: str) -> httpx2.Response:
    """Send a quote by email."""
    return office.call("POST", f"/quotes/{quote}/send", {"deliver": "email", "confirmed": True})


def revise_quote(office: OfficeClient, quote: str) -> str:
    """Draft the same quote again; return the id of the draft."""
    return str(office.call("POST", f"/quotes/{quote}/revise", {}).json()["id"])


def open_draft(office: OfficeClient, quote: str, title: str) -> httpx2.Response:
    """Change the title of a draft, so that it must be printed again, and open its PDF."""
    office.call("PATCH", f"/quotes/{quote}", {"title": title})
    return office.get(f"/quotes/{quote}/draft.pdf")
