"""`doctor`: what is wrong with an installation is named, with what mends it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from cast import assemble
from commanding import command
from engines import PostgresServer
from mailroom import open_mailroom
from mainstay.backing.folder import DataFolder
from mainstay.backing.migrations.apply import migrate
from mainstay.safekeeping.doctor import Diagnosis, examine
from mainstay.settings import Settings, read_settings
from mainstay.staging import connect, open_stage
from mainstay.values.moments import system_clock
from redises import Server
from served import Served

# Where nobody listens.
NOWHERE = 1


def found(settings: Settings, about: str, **later: float) -> list[Diagnosis]:
    """What is found about one thing, perhaps by a clock that is ahead or behind."""
    now = system_clock() + timedelta(**later)
    return [finding for finding in examine(settings, now) if finding.about == about]


def only(settings: Settings, about: str) -> Diagnosis:
    (finding,) = found(settings, about)
    return finding


@pytest.fixture
def place(fresh_settings: Settings) -> Settings:
    """An installation with a migrated database, which nobody serves."""
    open_stage(fresh_settings).database.close()
    return replace(fresh_settings, port=NOWHERE)


def test_where_all_is_well_nothing_is_to_be_mended(place: Settings) -> None:
    outcome = command(place, "doctor", "--json").outcome

    assert outcome["well"] is True
    about = [finding["about"] for finding in outcome["findings"]]
    assert {"data folder", "disk", "database", "clock", "redis", "mail", "server"} == set(about)
    told = command(place, "doctor")
    assert (told.code, told.errors) == (0, "")
    assert [line[:6] for line in told.output.splitlines()] == ["well  "] * len(about)


def test_where_nothing_is_yet_nothing_is_made(fresh_settings: Settings) -> None:
    settings = replace(fresh_settings, port=NOWHERE)
    outcome = command(settings, "doctor", "--json").outcome
    assert outcome["well"] is True
    assert only(settings, "database").found.endswith("yet; the first start makes it")
    # A database at a server is looked at from the folder, which has nothing in it then.
    assert settings.database or not settings.data.exists()


@pytest.mark.engines("sqlite")
def test_a_folder_that_others_look_into_is_to_be_closed(place: Settings) -> None:
    DataFolder(place.data).secret.write_text("x" * 40)
    DataFolder(place.data).secret.chmod(0o644)
    place.data.chmod(0o750)
    path = place.data.absolute()
    assert only(place, "data folder").mend == f"chmod go-rwx {path} {path}/secret"
    ended = command(place, "doctor")
    assert (ended.code, ended.errors) == (1, "1 thing is to be mended.\n")
    assert f"      chmod go-rwx {path} {path}/secret\n" in ended.output
    place.data.chmod(0o700)
    DataFolder(place.data).secret.chmod(0o600)
    assert only(place, "data folder").mend is None


def test_an_earlier_schema_is_to_be_migrated(fresh_settings: Settings) -> None:
    database = connect(fresh_settings)
    migrate(database, 12)
    database.close()
    finding = found(fresh_settings, "database")[0]
    assert finding.mend == "mainstay migrate"
    assert "0031_words_of_numbers" in finding.found


@pytest.mark.engines("sqlite")
def test_what_is_no_database_is_told(place: Settings) -> None:
    DataFolder(place.data).database.write_text("Dear diary, " * 1000)
    assert "cannot be opened" in only(place, "database").found
    assert "restore a backup" in str(only(place, "database").mend)
    assert "cannot be opened" in command(place, "organisation", "list").refusal


def test_a_database_that_is_away_or_not_fenced_is_told(postgresql: PostgresServer, tmp_path: Path) -> None:
    settings = replace(
        read_settings({}), data=tmp_path, port=NOWHERE, database="postgresql://nobody@127.0.0.1:1/nothing"
    )
    away = only(settings, "database")
    assert away.found.startswith("The database cannot be reached: ")
    assert "MAINSTAY_DATABASE" in str(away.mend)

    unfenced = found(replace(settings, database=postgresql.superuser_url), "database")[-1]
    assert unfenced.mend == "Let MAINSTAY_DATABASE name a role that is neither."


def test_a_clock_that_went_back_is_told(place: Settings) -> None:
    stage = open_stage(place)
    assemble(stage)
    stage.database.close()

    assert {finding.mend for finding in found(place, "clock")} == {None}
    mends = [finding.mend for finding in found(place, "clock", days=-1)]
    assert mends
    assert all("timedatectl" in str(mend) for mend in mends)


@contextmanager
def someone_else() -> Iterator[int]:
    """Another server, which is no Mainstay; where it is."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.engines("sqlite")
def test_the_base_address_leads_to_mainstay(served: Served) -> None:
    settings = served.server.settings
    assert only(settings, "base address") == Diagnosis("base address", f"Mainstay answers at {settings.base_url}")

    away = only(replace(settings, base_url=f"http://127.0.0.1:{NOWHERE}"), "base address")
    assert f"lead to {settings.host}, port {settings.port}" in str(away.mend)
    with someone_else() as port:
        other = only(replace(settings, base_url=f"http://127.0.0.1:{port}"), "base address")
    assert other.found.endswith("but with status 404")


@pytest.mark.engines("sqlite")
def test_a_base_address_that_is_not_encrypted_is_told_and_so_is_mail_that_reaches_nobody(place: Settings) -> None:
    public = replace(place, base_url="http://office.example")
    assert "https://" in str(only(public, "base address").mend)
    assert only(public, "mail").mend == "Set MAINSTAY_SMTP to a mail server."
    assert only(place, "mail").mend is None


@pytest.mark.engines("sqlite")
def test_the_mail_server_is_greeted_and_gets_no_mail(place: Settings) -> None:
    with open_mailroom("a password") as room:
        address = f"smtp://office:a%20password@127.0.0.1:{room.port}"
        assert only(replace(place, smtp=address), "mail").mend is None
        wrong = only(replace(place, smtp=address.replace("%20", "%21")), "mail")
    assert "does not let us in: (535, " in wrong.found
    assert str(wrong.mend).startswith("Set MAINSTAY_SMTP")
    assert "Connection refused" in only(replace(place, smtp=address), "mail").found
    assert room.mails == []


@pytest.mark.engines("sqlite")
def test_redis_is_asked_for_the_time(place: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert "Connection refused" in only(replace(place, redis=f"redis://127.0.0.1:{NOWHERE}"), "redis").found
    redis = Server(tmp_path_factory.mktemp("r"))
    redis.start()
    try:
        settings = replace(place, redis=redis.url)
        assert only(settings, "redis") == Diagnosis("redis", "can be reached")
        assert [finding.mend for finding in found(settings, "clock")] == [None, None]
        assert [bool(finding.mend) for finding in found(settings, "clock", hours=1)] == [False, True]
    finally:
        redis.kill()


@pytest.mark.engines("sqlite")
def test_a_secret_that_was_cut_short_is_told(place: Settings) -> None:
    secret = DataFolder(place.data).secret
    secret.write_bytes(b"0123456789")
    secret.chmod(0o600)
    told = only(place, "secret")
    assert told.found == f"The secret in {secret.absolute()} is shorter than 32 bytes"
    assert told.mend == "Bring back the one it was from a backup, or set MAINSTAY_SECRET."
    assert found(replace(place, secret="x" * 32), "secret") == []


def test_an_organisation_that_has_almost_no_room_left_is_named(fresh_settings: Settings) -> None:
    settings = replace(fresh_settings, port=NOWHERE)
    stage = open_stage(settings)
    first, second = assemble(stage), assemble(stage)
    for cast, used in ((first, 44), (second, 46)):
        with stage.database.changing(cast.organisation) as rows:
            rows.run("UPDATE organisation SET storage_bytes = :used WHERE id = :organisation", used=used * 10**9)
    with stage.database.reading(second.organisation) as rows:
        row = rows.one("SELECT name FROM organisation WHERE id = :organisation")
    stage.database.close()
    finding = only(settings, "storage")
    assert row
    assert finding.found == f"{row[0]} uses 46.0 GB of 50.0 GB"
    assert "MAINSTAY_STORAGE_PER_ORGANISATION" in (finding.mend or "")
