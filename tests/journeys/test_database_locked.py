"""Another program holds the embedded database; the server runs on."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2

from cast import assemble
from mainstay.backing.database import EVERY
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from running import ServerProcess, start_server, tls
from talking import NEWCOMER, ORGANISATION, PEOPLE, refused

DEADLINE_SECONDS = 3.0


def test_however_many_wait_each_is_told_within_one_deadline(tmp_path: Path) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", workers=1)
    stage = open_stage(settings)
    key = assemble(stage).key()
    brief = {"mainstay.backing.deadline.WAIT_SECONDS": DEADLINE_SECONDS}
    with start_server(settings, bounds=brief) as server, ThreadPoolExecutor(24) as clients:
        with stage.database.changing(EVERY):
            # More than the server has threads.
            changes = [clients.submit(add_someone, server, key, f"{number}@new.example") for number in range(24)]
            assert server.request("GET", ORGANISATION, key).status_code == 200
            for change in changes:
                refused(change.result(), 500)
        assert server.request("POST", PEOPLE, key, json=NEWCOMER).status_code == 201
        assert server.request("GET", f"{PEOPLE}?limit=100", key).json()["data"][0]["email"] == NEWCOMER["email"]
        assert "Traceback" not in server.log.read_text()
    stage.database.close()


def add_someone(server: ServerProcess, key: str, email: str) -> httpx2.Response:
    """Add someone, or give up after three deadlines."""
    with httpx2.Client(timeout=3 * DEADLINE_SECONDS, verify=tls()) as client:
        return client.post(
            server.url + PEOPLE, json=NEWCOMER | {"email": email}, headers={"Authorization": f"Bearer {key}"}
        )
