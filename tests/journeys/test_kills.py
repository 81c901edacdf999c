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

from cast import Cast, assemble
from mainstay.backing.database import Handle
from mainstay.kernel.perform import Stage
from mainstay.ledger.audit import first_break
from mainstay.ledger.outbox_queue import LEASE
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.values.moments import system_clock
from mainstay.working import open_worker
from running import ServerProcess, start_server, tls
from talking import PEOPLE

# What is acknowledged is kept by each engine in its own way.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

CLIENTS = 4
# How many kills, by engine: in the short form and in the long one.
KILLS = {"sqlite": 2, "postgresql": 2}
MANY_KILLS = {"sqlite": 50, "postgresql": 10}
# The long form is told in parts, so that they can go on side by side.
PARTS = 6


def test_no_acknowledged_write_is_lost_by_kills(fresh_settings: Settings) -> None:
    _endure(fresh_settings, KILLS)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_no_acknowledged_write_is_lost_by_very_many_kills(fresh_settings: Settings, part: int) -> None:
    _endure(fresh_settings, MANY_KILLS, part)


def _endure(settings: Settings, kills: dict[str, int], part: int = 0) -> None:
    stage = open_stage(settings)
    cast = assemble(stage)
    clients = [Client(number, random.Random(f"{part} {number}")) for number in range(CLIENTS)]
    acknowledged = 0
    for number in range(kills[stage.database.engine]):
        with start_server(settings) as server:
            acknowledged += _write_until_killed(
                server, cast, clients, after=random.Random(f"{part} {number}").randint(5, 40)
            )
        # As a change, which waits for one that the dead have handed in and PostgreSQL is still busy with.
        with stage.database.changing(cast.organisation, keep=False) as rows:
            for client in clients:
                client.check(rows)
            _check_books(rows)
        if settings.database is None:
            _check_file(settings)
    assert acknowledged >= 5 * kills[stage.database.engine]
    _check_mails(settings, stage, cast)
    stage.database.close()


def _write_until_killed(server: ServerProcess, cast: Cast, clients: list["Client"], after: int) -> int:
    """Let the clients write, and kill the server after so many acknowledgements; how many there were in the end."""
    told = threading.Semaphore(0)
    before = sum(client.acknowledged for client in clients)
    threads = [threading.Thread(target=client.write, args=(server, cast.key(), told)) for client in clients]
    for thread in threads:
        thread.start()
    for _ in range(after):
        assert told.acquire(timeout=30)
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
    unsure: dict[str, object] = field(default_factory=dict)

    def write(self, server: ServerProcess, key: str, told: threading.Semaphore) -> None:
        with httpx2.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {key}"}, timeout=30, verify=tls()
        ) as connection:
            # Fewer than a key may make in a minute.
            for _ in range(500):
                path, body = self._next()
                self.unsure = body
                try:
                    answer = connection.request("PATCH" if path.count("/") == 4 else "POST", path, json=body)
                except httpx2.TransportError:
                    return
                assert answer.status_code in {200, 201}, answer.text
                record = answer.json()
                self.people[record["id"]] = record
                self.acknowledged += 1
                self.unsure = {}
                told.release()

    def _next(self) -> tuple[str, dict[str, object]]:
        self.attempts += 1
        present = [identity for identity, person in self.people.items() if person["status"] == "invited"]
        act = self.choice.choice(["invite", "update", "update", "remove"]) if present else "invite"
        if act == "invite":
            name = f"Client {self.number} Person {self.attempts}"
            return PEOPLE, {"name": name, "email": f"p{self.attempts}@c{self.number}.example", "role": "member"}
        path = f"{PEOPLE}/{self.choice.choice(present)}"
        return (path, {"phone": str(self.attempts)}) if act == "update" else (f"{path}/remove", {"confirmed": True})

    def check(self, rows: Handle) -> None:
        """Whether everything acknowledged is there; of the last attempt, nobody can know but from here on."""
        found = rows.all(
            "SELECT id, name, email, phone, status, version FROM person"
            " WHERE organisation_id = :organisation AND email LIKE :mine",
            mine=f"%@c{self.number}.example",
        )
        kept: dict[str, dict[str, Any]] = {
            str(row[0]): dict(zip(("id", "name", "email", "phone", "status", "version"), row, strict=True))
            for row in found
        }
        ahead = 0
        for identity, person in self.people.items():
            known = {name: person[name] for name in ("id", "name", "email", "phone", "status", "version")}
            if kept[identity] != known:
                assert kept[identity]["version"] == known["version"] + 1
                ahead += 1
        strangers = set(kept) - set(self.people)
        assert ahead + len(strangers) <= (1 if self.unsure else 0)
        for identity in strangers:
            assert kept[identity]["email"] == self.unsure["email"]
        self.people = kept


def _check_books(rows: Handle) -> None:
    """Every change has its event and its entry in the audit trail, and nothing is there by halves."""
    events = rows.all("SELECT sequence, id, data FROM event WHERE organisation_id = :organisation ORDER BY sequence")
    assert [sequence for sequence, _, _ in events] == list(range(1, len(events) + 1))
    assert rows.one("SELECT event_sequence FROM organisation WHERE id = :organisation") == (len(events),)

    told: Counter[tuple[str, int]] = Counter()
    for _, _, data in events:
        record = orjson.loads(str(data))["object"]
        told[record["id"], record["version"]] += 1
    people = rows.all("SELECT id, version FROM person WHERE organisation_id = :organisation")
    assert told == Counter((identity, step) for identity, version in people for step in range(1, int(version or 0) + 1))

    trail = rows.all("SELECT sequence, events FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
    assert [sequence for sequence, _ in trail] == list(range(1, len(trail) + 1))
    noted = [identity for _, listed in trail for identity in orjson.loads(str(listed))]
    assert noted == [identity for _, identity, _ in events]
    assert first_break(rows) is None


def _check_file(settings: Settings) -> None:
    connection = apsw.Connection(str(settings.data / "mainstay.db"))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        connection.close()


def _check_mails(settings: Settings, stage: Stage, cast: Cast) -> None:
    """Every invitation ends up in the mail, also those that a killed worker had begun."""
    later = open_stage(settings, lambda: system_clock() + LEASE + timedelta(seconds=1))
    worker = open_worker(settings, later)
    while worker.step():
        pass
    later.database.close()
    with stage.database.reading(cast.organisation) as rows:
        assert rows.one("SELECT count(*) FROM outbox WHERE organisation_id = :organisation") == (0,)
        invited = rows.all(
            "SELECT email FROM person WHERE organisation_id = :organisation AND email LIKE '%@c%.example'"
        )
    mails = [file.read_text() for file in (settings.data / "outbox").glob("*.eml")]
    written = {line.removeprefix("To: ") for mail in mails for line in mail.splitlines() if line.startswith("To: ")}
    assert {str(email) for (email,) in invited if "@cast." not in str(email)} <= written
