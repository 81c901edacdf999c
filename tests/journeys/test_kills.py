"""The whole server is killed in the middle of writes, again and again: what was acknowledged is there, and whole."""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import apsw
import httpx2
import orjson
import pytest

from mainstay.changes.audit import find_break
from mainstay.changes.outbox_queue import LEASE
from mainstay.composition import open_performer
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.values.moments import system_clock
from mainstay.worker_command import open_worker
from support.cast import Cast, make_cast
from support.raw_http import PEOPLE
from support.servers import ServerProcess, make_tls_context, start_server

# What is acknowledged is kept by each engine in its own way.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

CLIENTS = 4
# How many kills, by engine: in the short form and in the long one.
KILLS = {"sqlite": 2, "postgresql": 2}
MANY_KILLS = {"sqlite": 50, "postgresql": 10}
# The long form is told in parts, so that they can go on side by side.
PARTS = 6


def test_no_acknowledged_write_is_lost_by_kills(fresh_settings: Settings) -> None:
    _survive_kills(fresh_settings, KILLS)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_no_acknowledged_write_is_lost_by_very_many_kills(fresh_settings: Settings, part: int) -> None:
    _survive_kills(fresh_settings, MANY_KILLS, part)


def _survive_kills(settings: Settings, kills: dict[str, int], part: int = 0) -> None:
    performer = open_performer(settings)
    cast = make_cast(performer)
    clients = [Client(number, random.Random(f"{part} {number}")) for number in range(CLIENTS)]
    acknowledged = 0
    for number in range(kills[performer.database.engine]):
        with start_server(settings) as server:
            acknowledged += _write_until_killed(
                server, cast, clients, after=random.Random(f"{part} {number}").randint(5, 40)
            )
        # As a change, which waits for one that the dead have handed in and PostgreSQL is still busy with.
        with performer.database.write_transaction(cast.organisation, keep=False) as db:
            for client in clients:
                client.check(db)
            _check_trail(db)
        if settings.database is None:
            _check_file(settings)
    assert acknowledged >= 5 * kills[performer.database.engine]
    _check_mails(settings, performer, cast)
    performer.database.close()


def _write_until_killed(server: ServerProcess, cast: Cast, clients: list["Client"], after: int) -> int:
    """Let the clients write, and kill the server after so many acknowledgements; how many there were in the end."""
    acknowledgements = threading.Semaphore(0)
    before = sum(client.acknowledged for client in clients)
    threads = [
        threading.Thread(target=client.write, args=(server, cast.make_key(), acknowledgements)) for client in clients
    ]
    for thread in threads:
        thread.start()
    for _ in range(after):
        assert acknowledgements.acquire(timeout=30)
    server.kill()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    return sum(client.acknowledged for client in clients) - before


@dataclass
class Client:
    """Writes about people of its own, and remembers what was acknowledged and what it was told nothing about."""

    number: int
    choice: random.Random
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    attempts: int = 0
    acknowledged: int = 0
    unacknowledged: dict[str, object] = field(default_factory=dict)

    def write(self, server: ServerProcess, key: str, acknowledgements: threading.Semaphore) -> None:
        with httpx2.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=30, verify=make_tls_context()
        ) as connection:
            # Fewer than a key may make in a minute.
            for _ in range(500):
                path, body = self._next()
                self.unacknowledged = body
                try:
                    answer = connection.request("PATCH" if path.count("/") == 4 else "POST", path, json=body)
                except httpx2.TransportError:
                    return
                assert answer.status_code in {200, 201}, answer.text
                record = answer.json()
                self.people[record["id"]] = record
                self.acknowledged += 1
                self.unacknowledged = {}
                acknowledgements.release()

    def _next(self) -> tuple[str, dict[str, object]]:
        self.attempts += 1
        present = [record_id for record_id, person in self.people.items() if person["status"] == "invited"]
        act = self.choice.choice(["invite", "update", "update", "remove"]) if present else "invite"
        if act == "invite":
            name = f"Client {self.number} Person {self.attempts}"
            return PEOPLE, {"name": name, "email": f"p{self.attempts}@c{self.number}.example", "role": "member"}
        path = f"{PEOPLE}/{self.choice.choice(present)}"
        return (path, {"phone": str(self.attempts)}) if act == "update" else (f"{path}/remove", {"confirmed": True})

    def check(self, db: DatabaseHandle) -> None:
        """Whether everything acknowledged is there; of the last attempt, nobody can know but from here on."""
        found = db.all(
            "SELECT id, name, email, phone, status, version FROM person"
            " WHERE organisation_id = :organisation AND email LIKE :mine",
            mine=f"%@c{self.number}.example",
        )
        kept: dict[str, dict[str, Any]] = {
            str(row[0]): dict(zip(("id", "name", "email", "phone", "status", "version"), row, strict=True))
            for row in found
        }
        ahead = 0
        for record_id, person in self.people.items():
            known = {name: person[name] for name in ("id", "name", "email", "phone", "status", "version")}
            if kept[record_id] != known:
                assert kept[record_id]["version"] == known["version"] + 1
                ahead += 1
        strangers = set(kept) - set(self.people)
        assert ahead + len(strangers) <= (1 if self.unacknowledged else 0)
        for record_id in strangers:
            assert kept[record_id]["email"] == self.unacknowledged["email"]
        self.people = kept


def _check_trail(db: DatabaseHandle) -> None:
    """Every change has its event and its entry in the audit trail, and nothing is there by halves."""
    events = db.all("SELECT sequence, id, data FROM event WHERE organisation_id = :organisation ORDER BY sequence")
    assert [sequence for sequence, _, _ in events] == list(range(1, len(events) + 1))
    assert db.one("SELECT event_sequence FROM organisation WHERE id = :organisation") == (len(events),)

    event_counts: Counter[tuple[str, int]] = Counter()
    for _, _, data in events:
        record = orjson.loads(str(data))["object"]
        event_counts[record["id"], record["version"]] += 1
    people = db.all("SELECT id, version FROM person WHERE organisation_id = :organisation")
    assert event_counts == Counter(
        (record_id, step) for record_id, version in people for step in range(1, int(version or 0) + 1)
    )

    trail = db.all("SELECT sequence, events FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    assert [sequence for sequence, _ in trail] == list(range(1, len(trail) + 1))
    noted = [record_id for _, listed in trail for record_id in orjson.loads(str(listed))]
    assert noted == [record_id for _, record_id, _ in events]
    assert find_break(db) is None


def _check_file(settings: Settings) -> None:
    connection = apsw.Connection(str(settings.data / "mainstay.db"))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        connection.close()


def _check_mails(settings: Settings, performer: Performer, cast: Cast) -> None:
    """Every invitation ends up in the mail, also those that a killed worker had begun."""
    later = open_performer(settings, lambda: system_clock() + LEASE + timedelta(seconds=1))
    worker = open_worker(settings, later)
    while worker.run_next_tasks():
        pass
    later.database.close()
    with performer.database.read_transaction(cast.organisation) as db:
        assert db.one("SELECT count(*) FROM outbox WHERE organisation_id = :organisation") == (0,)
        invited = db.all("SELECT email FROM person WHERE organisation_id = :organisation AND email LIKE '%@c%.example'")
    mails = [file.read_text() for file in (settings.data / "outbox").glob("*.eml")]
    written = {line.removeprefix("To: ") for mail in mails for line in mail.splitlines() if line.startswith("To: ")}
    assert {str(email) for (email,) in invited if "@cast." not in str(email)} <= written
