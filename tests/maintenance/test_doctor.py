"""`doctor` names what is wrong with an installation and how to fix it."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import orjson
import psycopg
import pytest

from mainstay.composition import connect, open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.maintenance.doctor import Diagnosis, examine_installation
from mainstay.settings import Settings, read_settings
from mainstay.values.moments import system_clock
from support.cast import make_cast
from support.command_line import run_command
from support.engines import PostgresServer
from support.installations import Installations
from support.mail_server import run_mail_server
from support.redis_server import RedisServer
from support.schema_steps import ADD_PINNED_COLUMN, add_steps
from support.server_fixtures import ServedInstallation

# A port on which no server listens.
UNUSED_PORT = 1


def find_diagnoses(settings: Settings, about: str, **later: float) -> list[Diagnosis]:
    """Return the diagnoses about one thing, at a time that may be ahead or behind."""
    now = system_clock() + timedelta(**later)
    return [finding for finding in examine_installation(settings, now) if finding.about == about]


def find_diagnosis(settings: Settings, about: str) -> Diagnosis:
    (finding,) = find_diagnoses(settings, about)
    return finding


@pytest.fixture
def unserved_settings(fresh_settings: Settings) -> Settings:
    """The settings of an installation with a migrated database and no running server."""
    open_performer(fresh_settings).database.close()
    return replace(fresh_settings, port=UNUSED_PORT)


def test_where_all_is_well_nothing_is_to_be_mended(unserved_settings: Settings) -> None:
    outcome = run_command(unserved_settings, "doctor", "--json").json

    assert outcome["well"] is True
    about = [finding["about"] for finding in outcome["findings"]]
    pooled = {"connections"} if unserved_settings.database else set()
    assert {"data folder", "disk", "database", "clock", "redis", "mail", "server"} | pooled == set(about)
    result = run_command(unserved_settings, "doctor")
    assert (result.code, result.errors) == (0, "")
    assert [line[:6] for line in result.output.splitlines()] == ["ok    "] * len(about)


def test_where_nothing_is_yet_nothing_is_made(fresh_settings: Settings) -> None:
    settings = replace(fresh_settings, port=UNUSED_PORT)
    outcome = run_command(settings, "doctor", "--json").json
    assert outcome["well"] is True
    assert "yet; the first start creates" in find_diagnosis(settings, "database").found
    # A database at a server is looked at from the folder, which has nothing in it then.
    assert settings.database or not settings.data.exists()


@pytest.mark.engines("sqlite")
def test_a_folder_that_others_look_into_is_to_be_closed(unserved_settings: Settings) -> None:
    DataFolder(unserved_settings.data).secret.write_text("x" * 40)
    DataFolder(unserved_settings.data).secret.chmod(0o644)
    unserved_settings.data.chmod(0o750)
    path = unserved_settings.data.absolute()
    assert find_diagnosis(unserved_settings, "data folder").remedy == f"chmod go-rwx {path} {path}/secret"
    ended = run_command(unserved_settings, "doctor")
    assert (ended.code, ended.errors) == (1, "1 problem to fix.\n")
    assert f"      chmod go-rwx {path} {path}/secret\n" in ended.output
    unserved_settings.data.chmod(0o700)
    DataFolder(unserved_settings.data).secret.chmod(0o600)
    assert find_diagnosis(unserved_settings, "data folder").remedy is None


def test_an_earlier_schema_is_to_be_migrated(
    unserved_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (added,) = add_steps(monkeypatch, tmp_path / "steps", {"pins.sql": ADD_PINNED_COLUMN})
    finding = find_diagnoses(unserved_settings, "database")[0]
    assert finding.remedy == "mainstay migrate"
    assert added in finding.found


def test_a_schema_from_before_the_baseline_is_to_be_migrated_by_the_last_version_that_can(
    unserved_settings: Settings,
) -> None:
    database = connect(unserved_settings)
    with database.migration_transaction() as db:
        db.run("DELETE FROM schema_step WHERE number > 63")
        db.run("UPDATE schema_step SET number = 62")
    database.close()
    finding = find_diagnoses(unserved_settings, "database")[0]
    assert finding.found.endswith("its schema is of an older version: step 62")
    assert "of Mainstay 0.1.0 beta of 18 November 2026 (commit 11db8abd)" in str(finding.remedy)
    assert "which is older than" in run_command(unserved_settings, "organisation", "list").error
    (flaw,) = orjson.loads(run_command(unserved_settings, "check", "--json").output)["proofs"][1]["flaws"]
    assert flaw["where"] == "the schema"
    assert "step 62" in flaw["problem"]


@pytest.mark.engines("sqlite")
def test_what_is_no_database_is_told(unserved_settings: Settings) -> None:
    DataFolder(unserved_settings.data).database.write_text("Dear diary, " * 1000)
    assert "cannot be opened" in find_diagnosis(unserved_settings, "database").found
    assert "restore a backup" in str(find_diagnosis(unserved_settings, "database").remedy)
    assert "cannot be opened" in run_command(unserved_settings, "organisation", "list").error


def test_a_database_that_is_away_or_not_fenced_is_told(postgresql: PostgresServer, tmp_path: Path) -> None:
    settings = replace(
        read_settings({}), data=tmp_path, port=UNUSED_PORT, database="postgresql://nobody@127.0.0.1:1/nothing"
    )
    away = find_diagnosis(settings, "database")
    assert away.found.startswith("The database cannot be reached: ")
    assert "MAINSTAY_DATABASE" in str(away.remedy)

    unfenced = find_diagnoses(replace(settings, database=postgresql.superuser_url), "database")[-1]
    assert unfenced.remedy == "Set MAINSTAY_DATABASE to a role without these rights."


def test_a_server_without_enough_connections_is_named(installations: Installations, tmp_path: Path) -> None:
    settings = replace(installations.make_with_tables("postgresql", tmp_path), port=UNUSED_PORT)
    assert find_diagnosis(settings, "connections").remedy is None
    # 41 processes of 18 connections each.
    many = find_diagnosis(replace(settings, workers=40), "connections")
    assert "may open 738" in many.found
    assert "max_connections" in str(many.remedy)

    with ExitStack() as connections:

        def open_connection() -> None:
            connections.enter_context(psycopg.connect(str(settings.database)))

        for _ in range(90):
            open_connection()
        nearly_full = find_diagnosis(settings, "connections")
        assert nearly_full.found.endswith("of the 97 that the database server allows are open")
        assert "max_connections" in str(nearly_full.remedy)
        with suppress(psycopg.OperationalError):
            while True:
                open_connection()
        assert "max_connections" in str(find_diagnosis(settings, "database").remedy)


def test_a_clock_that_went_back_is_told(unserved_settings: Settings) -> None:
    performer = open_performer(unserved_settings)
    make_cast(performer)
    performer.database.close()

    assert {finding.remedy for finding in find_diagnoses(unserved_settings, "clock")} == {None}
    remedies = [finding.remedy for finding in find_diagnoses(unserved_settings, "clock", days=-1)]
    assert remedies
    assert all("timedatectl" in str(remedy) for remedy in remedies)


@contextmanager
def run_other_server() -> Iterator[int]:
    """Run a server that is not Mainstay; yield its port."""

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
def test_the_base_address_leads_to_mainstay(served_installation: ServedInstallation) -> None:
    settings = served_installation.server.settings
    assert find_diagnosis(settings, "base address") == Diagnosis(
        "base address", f"Mainstay answers at {settings.base_url}"
    )

    away = find_diagnosis(replace(settings, base_url=f"http://127.0.0.1:{UNUSED_PORT}"), "base address")
    assert f"lead to {settings.host}, port {settings.port}" in str(away.remedy)
    with run_other_server() as port:
        other = find_diagnosis(replace(settings, base_url=f"http://127.0.0.1:{port}"), "base address")
    assert other.found.endswith("is not Mainstay: status 404")


@pytest.mark.engines("sqlite")
def test_a_base_address_that_is_not_encrypted_is_told_and_so_is_mail_that_reaches_nobody(
    unserved_settings: Settings,
) -> None:
    public = replace(unserved_settings, base_url="http://office.example")
    assert "https://" in str(find_diagnosis(public, "base address").remedy)
    assert find_diagnosis(public, "mail").remedy == "Set MAINSTAY_SMTP to a mail server."
    assert find_diagnosis(unserved_settings, "mail").remedy is None


@pytest.mark.engines("sqlite")
def test_the_mail_server_is_greeted_and_gets_no_mail(unserved_settings: Settings) -> None:
    with run_mail_server("a password") as mail_server:
        address = f"smtp://office:a%20password@127.0.0.1:{mail_server.port}"
        assert find_diagnosis(replace(unserved_settings, smtp=address), "mail").remedy is None
        wrong = find_diagnosis(replace(unserved_settings, smtp=address.replace("%20", "%21")), "mail")
    assert "refused the sign-in: (535, " in wrong.found
    assert str(wrong.remedy).startswith("Set MAINSTAY_SMTP")
    assert "Connection refused" in find_diagnosis(replace(unserved_settings, smtp=address), "mail").found
    assert mail_server.emails == []


@pytest.mark.engines("sqlite")
def test_redis_is_asked_for_the_time(unserved_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert (
        "Connection refused"
        in find_diagnosis(replace(unserved_settings, redis=f"redis://127.0.0.1:{UNUSED_PORT}"), "redis").found
    )
    redis = RedisServer(tmp_path_factory.mktemp("r"))
    redis.start()
    try:
        settings = replace(unserved_settings, redis=redis.url)
        assert find_diagnosis(settings, "redis") == Diagnosis("redis", "can be reached")
        assert [finding.remedy for finding in find_diagnoses(settings, "clock")] == [None, None]
        assert [bool(finding.remedy) for finding in find_diagnoses(settings, "clock", hours=1)] == [False, True]
    finally:
        redis.kill()


@pytest.mark.engines("sqlite")
def test_a_secret_that_was_cut_short_is_told(unserved_settings: Settings) -> None:
    secret = DataFolder(unserved_settings.data).secret
    secret.write_bytes(b"0123456789")
    secret.chmod(0o600)
    result = find_diagnosis(unserved_settings, "secret")
    assert result.found == f"The secret in {secret.absolute()} is shorter than 32 bytes"
    assert result.remedy == "Bring back the one it was from a backup, or set MAINSTAY_SECRET."
    assert find_diagnoses(replace(unserved_settings, secret="x" * 32), "secret") == []


def test_an_organisation_that_has_almost_no_room_left_is_named(fresh_settings: Settings) -> None:
    settings = replace(fresh_settings, port=UNUSED_PORT)
    performer = open_performer(settings)
    first, second = make_cast(performer), make_cast(performer)
    for cast, used in ((first, 44), (second, 46)):
        with performer.database.write_transaction(cast.organisation) as db:
            db.run("UPDATE organisation SET storage_bytes = :used WHERE id = :organisation", used=used * 10**9)
    with performer.database.read_transaction(second.organisation) as db:
        row = db.one("SELECT name FROM organisation WHERE id = :organisation")
    performer.database.close()
    finding = find_diagnosis(settings, "storage")
    assert row
    assert finding.found == f"{row[0]} uses 46.0 GB of 50.0 GB"
    assert "MAINSTAY_STORAGE_PER_ORGANISATION" in (finding.remedy or "")
