"""`backup` and `restore`: everything comes back, while others work on; what is damaged or in the way is refused."""

import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from mainstay.business.records.file_removal import STORED_FILE_COLUMNS
from mainstay.composition import connect, open_files
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.migrations.apply import steps_for
from mainstay.maintenance.backup import back_up
from mainstay.maintenance.installation import Installation
from mainstay.settings import Settings
from mainstay.values.moments import system_clock
from mainstay.vocabulary.permissions import Access
from support.all_reads import read_everything
from support.backups import SampleInstallation, query_all, rehash_rows
from support.command_line import run_command
from support.customers import make_job
from support.in_process import run_in_process
from support.schema_steps import ADD_PINNED_COLUMN, add_steps
from support.servers import RunningServer
from support.visits import plan_test_visit


@pytest.fixture
def empty_settings(sample_installation: SampleInstallation, engine: str, tmp_path: Path) -> Settings:
    """The settings of an installation without any data."""
    return sample_installation.installations.make_empty(engine, tmp_path / "empty")


@pytest.fixture
def migrated_settings(sample_installation: SampleInstallation, engine: str, tmp_path: Path) -> Settings:
    """The settings of an installation whose tables exist already, because creating them is slow, but are empty."""
    return sample_installation.installations.make_with_tables(engine, tmp_path / "bare")


def make_backup(settings: Settings, path: Path) -> Path:
    outcome = run_command(settings, "backup", str(path), "--json").json
    assert outcome["file"] == str(path)
    assert outcome["missing"] == []
    return path


def test_everything_comes_back(
    sample_installation: SampleInstallation, empty_settings: Settings, tmp_path: Path
) -> None:
    now = system_clock()
    before = read_everything(sample_installation.settings, sample_installation.samples, now)
    assert sum(b'"object"' in answer for answer in before.values()) > 100
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if "unfinished" in one.name] == []

    restored = run_command(empty_settings, "restore", str(path), "--json").json

    assert restored["sound"] is True
    assert restored["rows"] > 400
    assert read_everything(empty_settings, sample_installation.samples, now) == before
    for table in ("conversation", "conversation_turn", "conversation_step", "assistant_usage"):
        rows = f"SELECT * FROM {table} ORDER BY 1, 2, 3"
        assert query_all(empty_settings, rows) == query_all(sample_installation.settings, rows) != []
    (name,) = query_all(empty_settings, "SELECT DISTINCT content FROM document")
    assert open_files(empty_settings).fetch_path(name[0]).read_bytes() == b"a plan of the house"


class JobLoad:
    """Creates jobs through the API, one after another, until told to stop."""

    def __init__(self, server: RunningServer, key: str, customer: str) -> None:
        self.acknowledged: list[str] = []
        self._target = server, key, customer
        self._stopping = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._make_jobs)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._first.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _make_jobs(self) -> None:
        server, key, customer = self._target
        while not self._stopping.is_set():
            given = {"customerId": customer, "title": f"Job {len(self.acknowledged)}"}
            answer = server.request("POST", "/api/v1/jobs", key, json=given)
            if answer.status_code == 201:
                self.acknowledged.append(answer.json()["id"])
                self._first.set()


def test_a_backup_under_load_has_everything_that_was_acknowledged(
    sample_installation: SampleInstallation, engine: str, tmp_path: Path
) -> None:
    with sample_installation.open_samples() as exhibit:
        key = exhibit.cast.make_key(Access.WRITE)
    with (
        run_in_process(sample_installation.settings) as server,
        JobLoad(server, key, sample_installation.samples.work_samples.customer) as load,
    ):
        for number in range(20):
            before = [*load.acknowledged]
            path = make_backup(sample_installation.settings, tmp_path / f"backup {number}")
            if len(load.acknowledged) > len(before):
                break
        else:
            pytest.fail("nothing was done while a backup was made")

    target = sample_installation.installations.make_with_tables(engine, tmp_path / "restored")
    assert run_command(target, "restore", str(path), "--json").json["sound"] is True

    there = {record_id for (record_id,) in query_all(target, "SELECT id FROM job")}
    assert set(before) <= there
    assert there <= {record_id for (record_id,) in query_all(sample_installation.settings, "SELECT id FROM job")}
    assert run_command(sample_installation.settings, "check", "--json").json["sound"] is True


def test_a_backup_is_of_one_moment(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    made: list[str] = []
    database = connect(sample_installation.settings)
    with sample_installation.open_samples() as exhibit:

        def make_a_job(said: str) -> None:
            """In the middle: some tables are copied already, others are not."""
            if said.startswith("table customer:"):
                made.append(make_job(exhibit.cast, exhibit.work_samples.customer)["id"])

        settings = sample_installation.settings
        source = Installation(database, DataFolder(settings.data), open_files(settings), None)
        back_up(source, tmp_path / "backup", system_clock(), STORED_FILE_COLUMNS, make_a_job)
    database.close()

    assert run_command(migrated_settings, "restore", str(tmp_path / "backup"), "--json").json["sound"] is True

    assert len(made) == 1
    for table, column in (("job", "id"), ("audit_record", "record_id"), ("search_fresh", "record_id")):
        assert query_all(migrated_settings, f"SELECT 1 FROM {table} WHERE {column} = :id", id=made[0]) == []
        assert query_all(sample_installation.settings, f"SELECT 1 FROM {table} WHERE {column} = :id", id=made[0])


def test_visits_that_were_let_overlap_come_back_in_any_order(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    with sample_installation.open_samples() as exhibit:
        plan_test_visit(exhibit.cast, times=("09:00", "10:00"))
        plan_test_visit(exhibit.cast, times=("09:30", "11:00"), allowOverlap=True, overlapReason="Both are next door.")
    # As if the one that was let overlap were the one that stands first: the other would find its time taken.
    sample_installation.corrupt("UPDATE visit SET allow_overlap = 1 - allow_overlap WHERE job_id IS NOT NULL")
    rehash_rows(sample_installation.settings)

    path = make_backup(sample_installation.settings, tmp_path / "backup")

    assert run_command(migrated_settings, "restore", str(path), "--json").json["sound"] is True


def test_a_restored_place_is_guarded_as_any_other(
    sample_installation: SampleInstallation, empty_settings: Settings, tmp_path: Path
) -> None:
    run_command(empty_settings, "restore", str(make_backup(sample_installation.settings, tmp_path / "backup")))

    database = connect(empty_settings)
    with pytest.raises(Exception, match="append-only"), database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("UPDATE audit SET given = '{}'")
    database.close()


def test_a_place_with_data_is_left_as_it_is(sample_installation: SampleInstallation, tmp_path: Path) -> None:
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    refusal = run_command(sample_installation.settings, "restore", str(path), "--json").error
    assert refusal.startswith("There is data here already")
    assert run_command(sample_installation.settings, "check", "--json").json["sound"] is True


def test_a_backup_is_verified_in_a_temporary_place(
    sample_installation: SampleInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    rows = query_all(sample_installation.settings, "SELECT count(*) FROM audit")
    # It needs no installation, and makes none.
    elsewhere = replace(sample_installation.settings, data=tmp_path / "elsewhere")

    verified = run_command(elsewhere, "verify-backup", str(path), "--json").json

    assert verified["sound"] is True
    assert verified["rows"] > 400
    assert verified["files"] == 3
    assert {"restoreSeconds", "checkSeconds"} <= verified.keys()
    assert [*place.iterdir()] == []
    assert not elsewhere.data.exists()
    assert query_all(sample_installation.settings, "SELECT count(*) FROM audit") == rows


def test_a_backup_that_cannot_be_restored_is_named_and_nothing_remains(
    sample_installation: SampleInstallation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    sample_installation.corrupt("UPDATE job SET title = 'another'")
    ended = run_command(
        sample_installation.settings,
        "verify-backup",
        str(make_backup(sample_installation.settings, tmp_path / "changed")),
        "--json",
    )
    assert ended.code == 1
    assert "checks failed" in ended.errors
    damaged = tmp_path / "damaged"
    damaged.write_bytes((tmp_path / "changed").read_bytes().replace(b"job", b"jab", 1))

    assert "is damaged" in run_command(sample_installation.settings, "verify-backup", str(damaged), "--json").error

    assert [*place.iterdir()] == []


def test_half_a_restore_leaves_nothing(
    sample_installation: SampleInstallation, empty_settings: Settings, tmp_path: Path
) -> None:
    good = make_backup(sample_installation.settings, tmp_path / "good")
    # One of the last tables that are filled.
    sample_installation.corrupt("UPDATE time_entry SET job_id = 'job_x' WHERE job_id IS NOT NULL")
    bad = make_backup(sample_installation.settings, tmp_path / "bad")

    refusal = run_command(empty_settings, "restore", str(bad), "--json").error

    assert refusal.startswith("The rows of the table time_entry in the backup do not fit together: ")
    assert query_all(empty_settings, "SELECT id FROM organisation") == []
    assert run_command(empty_settings, "restore", str(good), "--json").json["sound"] is True


def test_a_file_is_never_written_over(sample_installation: SampleInstallation, tmp_path: Path) -> None:
    path = tmp_path / "backup"
    path.write_text("something else")
    assert run_command(sample_installation.settings, "backup", str(path)).code == 1
    assert path.read_text() == "something else"
    refusal = run_command(sample_installation.settings, "backup", str(tmp_path / "nowhere" / "backup"), "--json").error
    assert refusal.endswith("nowhere/backup: No such file or directory.")


def test_a_lost_file_is_told_of_and_the_rest_is_kept(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    ((name,),) = query_all(sample_installation.settings, "SELECT DISTINCT logo FROM organisation")
    open_files(sample_installation.settings).fetch_path(name).unlink()

    ended = run_command(sample_installation.settings, "backup", str(tmp_path / "backup"), "--json")

    assert (ended.code, ended.errors.count("\n")) == (1, 1)
    assert f'"missing":["{name}"]' in ended.output
    restored = run_command(migrated_settings, "restore", str(tmp_path / "backup"), "--json")
    assert restored.code == 1
    assert f"has the file {name}, which cannot be read" in restored.output
    assert query_all(migrated_settings, "SELECT id FROM organisation") == query_all(
        sample_installation.settings, "SELECT id FROM organisation"
    )


def test_people_are_told_how_far_it_is(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    path = str(tmp_path / "backup")
    made, restored = (
        run_command(sample_installation.settings, "backup", path),
        run_command(migrated_settings, "restore", path),
    )
    for ended in (made, restored):
        assert ended.code == 0
        assert "table job: " in ended.errors
    assert f"file: {path}\n" in made.output
    assert "holds  The audit trail is unbroken\n" in restored.output


SECRET = "x" * 40


def test_the_secret_comes_back_or_is_asked_for(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    secret = DataFolder(sample_installation.settings.data).secret
    secret.write_text("a secret that was made once, of many letters")
    of_file = str(make_backup(sample_installation.settings, tmp_path / "of file"))
    by_setting = str(make_backup(replace(sample_installation.settings, secret=SECRET), tmp_path / "by setting"))
    there = DataFolder(migrated_settings.data)

    assert "Set it to what it was" in run_command(migrated_settings, "restore", by_setting, "--json").error
    other = run_command(replace(migrated_settings, secret="y" * 40), "restore", by_setting, "--json").error
    assert other.startswith("MAINSTAY_SECRET is another secret")
    there.secret.write_text("another")
    assert "Take it away first" in run_command(migrated_settings, "restore", of_file, "--json").error
    there.secret.unlink()
    assert query_all(migrated_settings, "SELECT id FROM organisation") == []

    assert run_command(migrated_settings, "restore", of_file, "--json").json["sound"] is True
    assert there.secret.read_bytes() == secret.read_bytes()
    assert stat.S_IMODE(there.secret.stat().st_mode) == 0o600


def test_a_secret_that_a_setting_gives_is_in_no_backup(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    path = make_backup(replace(sample_installation.settings, secret=SECRET), tmp_path / "backup")
    assert SECRET.encode() not in path.read_bytes()
    outcome = run_command(replace(migrated_settings, secret=SECRET), "restore", str(path), "--json").json
    assert outcome["sound"] is True
    assert not DataFolder(migrated_settings.data).secret.exists()


def test_a_backup_of_an_earlier_version_is_brought_to_this_one(
    sample_installation: SampleInstallation,
    migrated_settings: Settings,
    empty_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    earlier = steps_for("sqlite")[-1].number
    add_steps(monkeypatch, tmp_path / "steps", {"pins.sql": ADD_PINNED_COLUMN})
    assert "not applied" in run_command(sample_installation.settings, "check", "--json").output

    assert run_command(empty_settings, "restore", str(path), "--json").json["sound"] is True

    assert {pinned for (pinned,) in query_all(empty_settings, "SELECT pinned FROM note")} == {0}
    run_command(migrated_settings, "migrate")
    refusal = run_command(migrated_settings, "restore", str(path), "--json").error
    assert refusal.startswith(f"The database has schema step {earlier + 1} already, and the backup {earlier}.")


def test_a_backup_from_before_the_baseline_is_refused(
    sample_installation: SampleInstallation, empty_settings: Settings, tmp_path: Path
) -> None:
    sample_installation.corrupt("DELETE FROM schema_step WHERE number > 63")
    sample_installation.corrupt("UPDATE schema_step SET number = 62, name = '0062_customer_keys'")
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    refusal = run_command(empty_settings, "restore", str(path), "--json").error
    assert refusal.startswith("The backup has schema step 62, which is older than this Mainstay can bring up to date.")
    assert "Restore it with Mainstay 0.1.0 beta of 18 November 2026 (commit 11db8abd)" in refusal


def test_a_database_from_before_the_baseline_is_not_restored_into(
    sample_installation: SampleInstallation, migrated_settings: Settings, tmp_path: Path
) -> None:
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    database = connect(migrated_settings)
    with database.migration_transaction() as db:
        db.run("DELETE FROM schema_step WHERE number > 63")
        db.run("UPDATE schema_step SET number = 62")
    database.close()
    refusal = run_command(migrated_settings, "restore", str(path), "--json").error
    assert refusal.startswith("The database has schema step 62 already, and the backup ")
    assert not any(DataFolder(migrated_settings.data).files.rglob("*/*"))


def test_a_backup_of_a_later_version_is_refused(
    sample_installation: SampleInstallation, empty_settings: Settings, tmp_path: Path
) -> None:
    sample_installation.corrupt("INSERT INTO schema_step VALUES (9999, '9999_later', '2026')")
    path = make_backup(sample_installation.settings, tmp_path / "backup")
    refusal = run_command(empty_settings, "restore", str(path), "--json").error
    assert refusal.startswith("The backup has schema step 9999; this Mainstay knows ")


def test_where_nothing_is_there_is_nothing_to_back_up(empty_settings: Settings, tmp_path: Path) -> None:
    ended: Any = run_command(empty_settings, "backup", str(tmp_path / "backup"), "--json")
    assert "no database" in ended.error or "nothing to back up" in ended.error
    assert not (tmp_path / "backup").exists()
