"""The disk is full, and has room again, while the server runs on."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, prlimit

import pytest

from mainstay.composition import open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.settings import read_settings
from support.browser_session import sign_in_new_person
from support.cast import make_cast
from support.command_line import run_command
from support.load import read_emails
from support.oauth_app import hidden_value
from support.process_list import processes_of
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import ServerProcess, start_server
from support.waiting import wait_until

SAFE_TO_RETRY = "Something went wrong on our side; it is safe to try again."


@contextmanager
def fill_disk(server: ServerProcess) -> Iterator[None]:
    """No process of the server can write another byte to any file, as on a disk without room."""
    _limit_file_size(server, 0)
    try:
        yield
    finally:
        _limit_file_size(server, RLIM_INFINITY)


def _limit_file_size(server: ServerProcess, size: int) -> None:
    for pid in processes_of(server):
        with suppress(ProcessLookupError):
            prlimit(pid, RLIMIT_FSIZE, (size, RLIM_INFINITY))


@pytest.mark.usefixtures("durable")
def test_on_a_full_disk_changes_are_refused_reading_goes_on_and_with_room_all_is_well(tmp_path: Path) -> None:
    settings = replace(read_settings({}), data=tmp_path / "data", workers=2)
    performer = open_performer(settings)
    cast = make_cast(performer)
    key = cast.make_key()
    passing = DataFolder(settings.data).temporary_files
    with start_server(settings) as server:
        session = sign_in_new_person(server, cast)
        invite = session.get("/people/invite").text
        assert server.request("POST", PEOPLE, key, json=NEW_PERSON).status_code == 201
        # The worker has nothing left to do.
        wait_until(lambda: len(list(DataFolder(settings.data).emails.glob("*.eml"))) == 1)

        with fill_disk(server):
            for number in range(10):
                body = NEW_PERSON | {"email": f"full{number}@new.example"}
                failed = server.request("POST", PEOPLE, key, json=body)
                assert check_refusal(failed, 500) == SAFE_TO_RETRY
                assert all(name in failed.headers for name in ("RateLimit-Limit", "RateLimit-Remaining"))
                assert server.request("GET", ORGANISATION, key).status_code == 200
            listed = server.request("GET", f"{PEOPLE}?limit=100", key)
            assert not [person for person in listed.json()["data"] if "full" in person["email"]]
            # Pages are shown; what one sends, and what would have to be written down first, is refused.
            assert session.get("/people").status_code == 200
            form = {"csrf": hidden_value(invite, "csrf"), "name": "N", "email": "page@new.example", "role": "member"}
            for answer in (session.post("/people/invite", form), session.get("/people/export.csv")):
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
                assert "not available at the moment. Nothing was changed" in answer.text
            # Each door in its own words; a call is answered by its id.
            failed = server.request("POST", "/oauth/register", json={"redirect_uris": ["https://app.example/back"]})
            assert (failed.status_code, failed.json()["error"]) == (500, "server_error")
            assert failed.headers["Access-Control-Allow-Origin"] == "*"
            values = {"name": "invite_person", "arguments": NEW_PERSON | {"email": "tool@new.example"}}
            call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": values}
            failed = server.request("POST", "/mcp", key, json=call)
            assert (failed.status_code, failed.json()["id"]) == (500, 7)
            assert list(passing.iterdir()) == []
            assert server.request("GET", "/healthz").status_code == 200

        for number in range(10):
            body = NEW_PERSON | {"email": f"room{number}@new.example"}
            assert server.request("POST", PEOPLE, key, json=body).status_code == 201
        assert session.post("/people/invite", form).status_code == 303
        assert session.get("/people/export.csv").status_code == 200
        # What follows a change is done as well.
        wait_until(lambda: len(list(DataFolder(settings.data).emails.glob("*.eml"))) == 12)
        assert server.stop() == 0

    emails = read_emails(cast)
    assert not [email for email in emails if email.startswith("full")]
    assert {f"room{number}@new.example" for number in range(10)} | {"page@new.example"} <= emails
    performer.database.close()
    assert run_command(settings, "check", "--json").json["sound"] is True
