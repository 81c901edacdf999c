"""Another program holds the embedded database; the server runs on."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx2

from mainstay.composition import open_performer
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.settings import read_settings
from support.cast import make_cast
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import ServerProcess, make_tls_context, start_server

DEADLINE_SECONDS = 3.0


def test_however_many_wait_each_is_told_within_one_deadline(tmp_path: Path) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", workers=1)
    performer = open_performer(settings)
    key = make_cast(performer).make_key()
    brief = {"mainstay.infrastructure.deadline.WAIT_SECONDS": DEADLINE_SECONDS}
    with start_server(settings, constants=brief) as server, ThreadPoolExecutor(24) as clients:
        with performer.database.write_transaction(ALL_ORGANISATIONS):
            # More than the server has threads.
            changes = [clients.submit(add_someone, server, key, f"{number}@new.example") for number in range(24)]
            assert server.request("GET", ORGANISATION, key).status_code == 200
            for change in changes:
                check_refusal(change.result(), 500)
        assert server.request("POST", PEOPLE, key, json=NEW_PERSON).status_code == 201
        assert server.request("GET", f"{PEOPLE}?limit=100", key).json()["data"][0]["email"] == NEW_PERSON["email"]
        assert "Traceback" not in server.log.read_text()
    performer.database.close()


def add_someone(server: ServerProcess, key: str, email: str) -> httpx2.Response:
    """Add someone, or give up after three deadlines."""
    with httpx2.Client(timeout=3 * DEADLINE_SECONDS, verify=make_tls_context()) as client:
        return client.post(
            server.url + PEOPLE, json=NEW_PERSON | {"email": email}, headers={"Authorization": f"Bearer {key}"}
        )
