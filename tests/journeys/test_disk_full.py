"""The disk is full, and has room again, while the server runs on."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, prlimit

import pytest

from apps import hidden
from cast import assemble
from commanding import command
from mainstay.backing.folder import DataFolder
from mainstay.settings import read_settings
from mainstay.staging import open_stage
from processes import processes_of
from running import ServerProcess, start_server
from talking import NEWCOMER, ORGANISATION, PEOPLE, refused
from throng import kept
from visiting import visit
from waiting import wait_until

SAFE = "Something went wrong on our side; it is safe to try again."


@contextmanager
def full_disk(server: ServerProcess) -> Iterator[None]:
    """No process of the server can write another byte to any file, as on a disk without room."""
    _let_files_grow(server, 0)
    try:
        yield
    finally:
        _let_files_grow(server, RLIM_INFINITY)


def _let_files_grow(server: ServerProcess, size: int) -> None:
    for pid in processes_of(server):
        with suppress(ProcessLookupError):
            prlimit(pid, RLIMIT_FSIZE, (size, RLIM_INFINITY))


@pytest.mark.usefixtures("durable")
def test_on_a_full_disk_changes_are_refused_reading_goes_on_and_with_room_all_is_well(tmp_path: Path) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", workers=2)
    stage = open_stage(settings)
    cast = assemble(stage)
    key = cast.key()
    passing = DataFolder(settings.data).passing
    with start_server(settings) as server:
        visiting = visit(server, cast)
        invite = visiting.get("/people/invite").text
        assert server.request("POST", PEOPLE, key, json=NEWCOMER).status_code == 201
        # The worker has nothing left to do.
        wait_until(lambda: len(list(DataFolder(settings.data).mails.glob("*.eml"))) == 1)

        with full_disk(server):
            for number in range(10):
                body = NEWCOMER | {"email": f"full{number}@new.example"}
                failed = server.request("POST", PEOPLE, key, json=body)
                assert refused(failed, 500) == SAFE
                assert all(name in failed.headers for name in ("RateLimit-Limit", "RateLimit-Remaining"))
                assert server.request("GET", ORGANISATION, key).status_code == 200
            listed = server.request("GET", f"{PEOPLE}?limit=100", key)
            assert not [person for person in listed.json()["data"] if "full" in person["email"]]
            # Pages are shown; what one sends, and what would have to be written down first, is refused.
            assert visiting.get("/people").status_code == 200
            form = {"csrf": hidden(invite, "csrf"), "name": "N", "email": "page@new.example", "role": "member"}
            for answer in (visiting.post("/people/invite", form), visiting.get("/people/export.csv")):
                assert (answer.status_code, SAFE in answer.text) == (500, True)
            # Each door in its own words; a call is answered by its id.
            failed = server.request("POST", "/oauth/register", json={"redirect_uris": ["https://app.example/back"]})
            assert (failed.status_code, failed.json()["error"]) == (500, "server_error")
            assert failed.headers["Access-Control-Allow-Origin"] == "*"
            told = {"name": "invite_person", "arguments": NEWCOMER | {"email": "tool@new.example"}}
            call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": told}
            failed = server.request("POST", "/mcp", key, json=call)
            assert (failed.status_code, failed.json()["id"]) == (500, 7)
            assert list(passing.iterdir()) == []
            assert server.request("GET", "/healthz").status_code == 200

        for number in range(10):
            body = NEWCOMER | {"email": f"room{number}@new.example"}
            assert server.request("POST", PEOPLE, key, json=body).status_code == 201
        assert visiting.post("/people/invite", form).status_code == 303
        assert visiting.get("/people/export.csv").status_code == 200
        # What follows a change is done as well.
        wait_until(lambda: len(list(DataFolder(settings.data).mails.glob("*.eml"))) == 12)
        assert server.stop() == 0

    emails = kept(cast)
    assert not [email for email in emails if email.startswith("full")]
    assert {f"room{number}@new.example" for number in range(10)} | {"page@new.example"} <= emails
    stage.database.close()
    assert command(settings, "check", "--json").outcome["sound"] is True
