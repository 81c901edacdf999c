"""Tryton as a contender: its books are made once and kept, and it is asked in its own JSON-RPC.

It lives in an environment of its own, which `make bench` installs; BENCH_TRYTON says where, if elsewhere.
"""

import base64
import http.client
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.contenders.running import ROOT, Contender, ServerPlan

_TRYTON_FOLDER = Path(os.environ.get("BENCH_TRYTON") or ROOT / ".venv" / "contenders" / "tryton")
_PYTHON = _TRYTON_FOLDER / "bin" / "python"
# As `tryton_books` fills it.
_DATABASE = "books"
_PASSWORD = "a password for the bench"
_IDS_FILE = "told.json"
# Of what someone prefers: what goes with every request.
_CONTEXT_ONLY = True
_TIMEOUT_SECONDS = 60.0
# What is printed of an invoice is left for later, as Mainstay leaves it; here for good, which spares it that work.
_SETTINGS = "[database]\nuri = sqlite://\npath = {folder}\n[queue]\nworker = True\n"
# What a list of Mainstay tells too.
_LIST_FIELDS = (
    "type",
    "number",
    "state",
    "description",
    "invoice_date",
    "party.rec_name",
    "untaxed_amount",
    "tax_amount",
    "total_amount",
    "amount_to_pay",
)


def is_installed() -> bool:
    """Whether Tryton is installed."""
    return _PYTHON.exists()


def plan_tryton(invoices: int, folder: Path) -> ServerPlan:
    """Tryton with so many posted invoices in this new folder; they are made where they are not kept from before."""
    # Its books are those of a year.
    stored_books = _TRYTON_FOLDER / f"books-{datetime.now(UTC).year}-{invoices}"
    if not stored_books.exists():
        with TemporaryDirectory(dir=_TRYTON_FOLDER) as temporary:
            _fill_books(Path(temporary), invoices)
            shutil.copytree(temporary, stored_books)
    shutil.copytree(stored_books, folder)
    words = ("bench.contenders.tryton_server",)
    return ServerPlan("tryton", words, environment=_write_environment(folder), python=str(_PYTHON))


def _fill_books(folder: Path, invoices: int) -> None:
    environment = {**os.environ, **_write_environment(folder)}
    (folder / f"{_DATABASE}.sqlite").touch()
    admin = [str(_TRYTON_FOLDER / "bin" / "trytond-admin"), "-c", environment["TRYTOND_CONFIG"], "-d", _DATABASE]
    making = [*admin, "-u", "account_invoice", "--activate-dependencies", "--email", "ruth@hartley.example"]
    subprocess.run(making, env=environment, check=True)
    filling = [str(_PYTHON), "-m", "bench.contenders.tryton_books", str(invoices)]
    ids = subprocess.run(filling, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    (folder / _IDS_FILE).write_bytes(ids.stdout)


def _write_environment(folder: Path) -> dict[str, str]:
    """Write Tryton's settings and password, and return the environment that names them."""
    settings, password = folder / "trytond.conf", folder / "password"
    settings.write_text(_SETTINGS.format(folder=folder))
    password.write_text(_PASSWORD)
    named = {"TRYTOND_CONFIG": settings, "TRYTONPASSFILE": password, "TRYTOND_DATABASE_NAMES": _DATABASE}
    return {name: str(value) for name, value in named.items()} | {"PYTHONPATH": ""}


class TrytonClient:
    """One connection of someone who has signed in."""

    def __init__(self, contender: Contender, folder: Path) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", contender.port, timeout=_TIMEOUT_SECONDS)
        self._headers = {"Content-Type": "application/json"}
        user, token, *_ = self._call("common.db.login", "admin", {"password": _PASSWORD}, "en")
        session = base64.b64encode(f"admin:{user}:{token}".encode()).decode()
        self._headers["Authorization"] = f"Session {session}"
        self._context = self._call("model.res.user.get_preferences", _CONTEXT_ONLY, {})
        self._ids: Mapping[str, int] = json.loads((folder / _IDS_FILE).read_bytes())

    def reconnect(self) -> None:
        """Reconnect: an idle connection may have been closed."""
        self._connection.close()

    def draft(self, lines: Sequence[Mapping[str, str]]) -> int:
        """A new draft; its id."""
        ids = self._ids
        document = {
            "type": "out",
            "company": ids["company"],
            "party": ids["customer"],
            "invoice_address": ids["address"],
            "currency": ids["currency"],
            "journal": ids["journal"],
            "account": ids["receivable"],
            "payment_term": ids["term"],
            "description": "Replace the boiler",
            "lines": [["create", [self._make_line(line) for line in lines]]],
        }
        (invoice,) = self._call("model.account.invoice.create", [document], self._context)
        return int(invoice)

    def issue(self, invoice: int) -> None:
        """Give it its number, and enter it into the books."""
        self._call("model.account.invoice.post", [invoice], self._context)

    def list(self) -> int:
        """Twenty-five invoices; how many there were."""
        arguments = ([["type", "=", "out"]], 0, 25, None, _LIST_FIELDS, self._context)
        return len(self._call("model.account.invoice.search_read", *arguments))

    def status(self, invoice: int) -> tuple[str, str]:
        """The state of an invoice, and what it comes to."""
        (found,) = self._call("model.account.invoice.read", [invoice], ["state", "total_amount"], self._context)
        return found["state"], found["total_amount"]["decimal"]

    def _make_line(self, line: Mapping[str, str]) -> dict[str, Any]:
        ids = self._ids
        return {
            "type": "line",
            "company": ids["company"],
            "currency": ids["currency"],
            "description": line["description"],
            "quantity": 1,
            "unit_price": {"__class__": "Decimal", "decimal": line["unitPrice"]},
            "account": ids["revenue"],
            "taxes": [["add", [ids["tax"]]]],
        }

    def _call(self, method: str, *params: object) -> Any:
        body = json.dumps({"id": 1, "method": method, "params": params})
        self._connection.request("POST", f"/{_DATABASE}/rpc/", body, self._headers)
        response = self._connection.getresponse()
        content = response.read()
        answer = json.loads(content) if response.status == http.HTTPStatus.OK else None
        if answer is None or "error" in answer:
            raise RuntimeError(f"Tryton answered {response.status} to {method}: {content[:1000]!r}")
        return answer["result"]
