"""`backup` and `restore`: everything comes back, while others work on; what is damaged or in the way is refused."""

import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from answers import answers
from commanding import command
from inside import open_inside
from keepsakes import Keepsake, renew_hashes, rows_of
from mainstay.backing.database import EVERY
from mainstay.backing.folder import DataFolder
from mainstay.backing.migrations.apply import migrate, newest_known
from mainstay.business.records.forgetting import NAMED_IN
from mainstay.safekeeping.installation import Installation
from mainstay.safekeeping.taking import take
from mainstay.settings import Settings
from mainstay.staging import connect, open_files
from mainstay.terms.rights import Access
from mainstay.values.moments import system_clock
from running import RunningServer
from scheduling import plan
from trade import a_job


@pytest.fixture
def empty(keepsake: Keepsake, engine: str, tmp_path: Path) -> Settings:
    """A place where nothing is yet."""
    return keepsake.installations.empty(engine, tmp_path / "empty")


@pytest.fixture
def bare(keepsake: Keepsake, engine: str, tmp_path: Path) -> Settings:
    """A place that was opened before: its tables are there already, which takes long to make, and nothing in them."""
    return keepsake.installations.bare(engine, tmp_path / "bare")


def backed_up(settings: Settings, path: Path) -> Path:
    outcome = command(settings, "backup", str(path), "--json").outcome
    assert outcome["file"] == str(path)
    assert outcome["missing"] == []
    return path


def test_everything_comes_back(keepsake: Keepsake, empty: Settings, tmp_path: Path) -> None:
    now = system_clock()
    before = answers(keepsake.settings, keepsake.exhibit, now)
    assert sum(b'"object"' in answer for answer in before.values()) > 100
    path = backed_up(keepsake.settings, tmp_path / "backup")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir() if "unfinished" in one.name] == []

    restored = command(empty, "restore", str(path), "--json").outcome

    assert restored["sound"] is True
    assert restored["rows"] > 400
    assert answers(empty, keepsake.exhibit, now) == before
    (name,) = rows_of(empty, "SELECT DISTINCT content FROM document")
    assert open_files(empty).path(name[0]).read_bytes() == b"a plan of the house"


class Load:
    """Someone who makes jobs through the API, one after another, until told to stop."""

    def __init__(self, server: RunningServer, key: str, customer: str) -> None:
        self.acknowledged: list[str] = []
        self._asked = server, key, customer
        self._stopping = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._go)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._first.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _go(self) -> None:
        server, key, customer = self._asked
        while not self._stopping.is_set():
            given = {"customerId": customer, "title": f"Job {len(self.acknowledged)}"}
            answer = server.request("POST", "/api/v1/jobs", key, json=given)
            if answer.status_code == 201:
                self.acknowledged.append(answer.json()["id"])
                self._first.set()


def test_a_backup_under_load_has_everything_that_was_acknowledged(
    keepsake: Keepsake, engine: str, tmp_path: Path
) -> None:
    with keepsake.opened() as exhibit:
        key = exhibit.cast.key(Access.WRITE)
    with open_inside(keepsake.settings) as server, Load(server, key, keepsake.exhibit.business.customer) as load:
        for number in range(20):
            before = [*load.acknowledged]
            path = backed_up(keepsake.settings, tmp_path / f"backup {number}")
            if len(load.acknowledged) > len(before):
                break
        else:
            pytest.fail("nothing was done while a backup was made")

    target = keepsake.installations.bare(engine, tmp_path / "restored")
    assert command(target, "restore", str(path), "--json").outcome["sound"] is True

    there = {identity for (identity,) in rows_of(target, "SELECT id FROM job")}
    assert set(before) <= there
    assert there <= {identity for (identity,) in rows_of(keepsake.settings, "SELECT id FROM job")}
    assert command(keepsake.settings, "check", "--json").outcome["sound"] is True


def test_a_backup_is_of_one_moment(keepsake: Keepsake, bare: Settings, tmp_path: Path) -> None:
    made: list[str] = []
    database = connect(keepsake.settings)
    with keepsake.opened() as exhibit:

        def make_a_job(said: str) -> None:
            """In the middle: some tables are copied already, others are not."""
            if said.startswith("table customer:"):
                made.append(a_job(exhibit.cast, exhibit.business.customer)["id"])

        source = Installation(database, DataFolder(keepsake.settings.data), None)
        take(source, tmp_path / "backup", system_clock(), NAMED_IN, make_a_job)
    database.close()

    assert command(bare, "restore", str(tmp_path / "backup"), "--json").outcome["sound"] is True

    assert len(made) == 1
    for table, column in (("job", "id"), ("audit_record", "record_id"), ("search_fresh", "record_id")):
        assert rows_of(bare, f"SELECT 1 FROM {table} WHERE {column} = :id", id=made[0]) == []
        assert rows_of(keepsake.settings, f"SELECT 1 FROM {table} WHERE {column} = :id", id=made[0])


def test_visits_that_were_let_overlap_come_back_in_any_order(
    keepsake: Keepsake, bare: Settings, tmp_path: Path
) -> None:
    with keepsake.opened() as exhibit:
        plan(exhibit.cast, times=("09:00", "10:00"))
        plan(exhibit.cast, times=("09:30", "11:00"), allowOverlap=True, overlapReason="Both are next door.")
    # As if the one that was let overlap were the one that stands first: the other would find its time taken.
    keepsake.spoil("UPDATE visit SET allow_overlap = 1 - allow_overlap WHERE job_id IS NOT NULL")
    renew_hashes(keepsake.settings)

    path = backed_up(keepsake.settings, tmp_path / "backup")

    assert command(bare, "restore", str(path), "--json").outcome["sound"] is True


def test_a_restored_place_is_guarded_as_any_other(keepsake: Keepsake, empty: Settings, tmp_path: Path) -> None:
    command(empty, "restore", str(backed_up(keepsake.settings, tmp_path / "backup")))

    database = connect(empty)
    with pytest.raises(Exception, match="append-only"), database.changing(EVERY) as rows:
        rows.run("UPDATE audit SET given = '{}'")
    database.close()


def test_a_place_with_data_is_left_as_it_is(keepsake: Keepsake, tmp_path: Path) -> None:
    path = backed_up(keepsake.settings, tmp_path / "backup")
    told = command(keepsake.settings, "restore", str(path), "--json").refusal
    assert told.startswith("There is data here already")
    assert command(keepsake.settings, "check", "--json").outcome["sound"] is True


def test_half_a_restore_leaves_nothing(keepsake: Keepsake, empty: Settings, tmp_path: Path) -> None:
    good = backed_up(keepsake.settings, tmp_path / "good")
    # One of the last tables that are filled.
    keepsake.spoil("UPDATE time_entry SET job_id = 'job_x' WHERE job_id IS NOT NULL")
    bad = backed_up(keepsake.settings, tmp_path / "bad")

    told = command(empty, "restore", str(bad), "--json").refusal

    assert told.startswith("The rows of the table time_entry in the backup do not fit together: ")
    assert rows_of(empty, "SELECT id FROM organisation") == []
    assert command(empty, "restore", str(good), "--json").outcome["sound"] is True


def test_a_file_is_never_written_over(keepsake: Keepsake, tmp_path: Path) -> None:
    path = tmp_path / "backup"
    path.write_text("something else")
    assert command(keepsake.settings, "backup", str(path)).code == 1
    assert path.read_text() == "something else"
    told = command(keepsake.settings, "backup", str(tmp_path / "nowhere" / "backup"), "--json").refusal
    assert told.endswith("nowhere/backup: No such file or directory.")


def test_a_lost_file_is_told_of_and_the_rest_is_kept(keepsake: Keepsake, bare: Settings, tmp_path: Path) -> None:
    ((name,),) = rows_of(keepsake.settings, "SELECT DISTINCT logo FROM organisation")
    open_files(keepsake.settings).path(name).unlink()

    ended = command(keepsake.settings, "backup", str(tmp_path / "backup"), "--json")

    assert (ended.code, ended.errors.count("\n")) == (1, 1)
    assert f'"missing":["{name}"]' in ended.output
    restored = command(bare, "restore", str(tmp_path / "backup"), "--json")
    assert restored.code == 1
    assert f"has the file {name}, which cannot be read" in restored.output
    assert rows_of(bare, "SELECT id FROM organisation") == rows_of(keepsake.settings, "SELECT id FROM organisation")


def test_people_are_told_how_far_it_is(keepsake: Keepsake, bare: Settings, tmp_path: Path) -> None:
    path = str(tmp_path / "backup")
    made, restored = command(keepsake.settings, "backup", path), command(bare, "restore", path)
    for ended in (made, restored):
        assert ended.code == 0
        assert "table job: " in ended.errors
    assert f"file: {path}\n" in made.output
    assert "holds  The audit trail is unbroken\n" in restored.output


SECRET = "x" * 40


def test_the_secret_comes_back_or_is_asked_for(keepsake: Keepsake, bare: Settings, tmp_path: Path) -> None:
    kept = DataFolder(keepsake.settings.data).secret
    kept.write_text("a secret that was made once, of many letters")
    of_file = str(backed_up(keepsake.settings, tmp_path / "of file"))
    by_setting = str(backed_up(replace(keepsake.settings, secret=SECRET), tmp_path / "by setting"))
    there = DataFolder(bare.data)

    assert "Set it to what it was" in command(bare, "restore", by_setting, "--json").refusal
    other = command(replace(bare, secret="y" * 40), "restore", by_setting, "--json").refusal
    assert other.startswith("MAINSTAY_SECRET is another secret")
    there.secret.write_text("another")
    assert "Take it away first" in command(bare, "restore", of_file, "--json").refusal
    there.secret.unlink()
    assert rows_of(bare, "SELECT id FROM organisation") == []

    assert command(bare, "restore", of_file, "--json").outcome["sound"] is True
    assert there.secret.read_bytes() == kept.read_bytes()
    assert stat.S_IMODE(there.secret.stat().st_mode) == 0o600


def test_a_secret_that_a_setting_gives_is_in_no_backup(keepsake: Keepsake, bare: Settings, tmp_path: Path) -> None:
    path = backed_up(replace(keepsake.settings, secret=SECRET), tmp_path / "backup")
    assert SECRET.encode() not in path.read_bytes()
    outcome = command(replace(bare, secret=SECRET), "restore", str(path), "--json").outcome
    assert outcome["sound"] is True
    assert not DataFolder(bare.data).secret.exists()


ORGANISATION = (
    "INSERT INTO organisation (id, name, country, currency, time_zone, subscription, created_at, created_by,"
    " updated_at, updated_by, version) VALUES ('org_01KA3R2D4F6H8J0K2N4P6R8T0V', 'O', 'GB', 'GBP', 'UTC', 'active',"
    " '', '{}', '', '{}', 1)"
)


def test_a_backup_of_an_earlier_version_is_brought_to_this_one(
    keepsake: Keepsake, empty: Settings, engine: str, tmp_path: Path
) -> None:
    earlier = keepsake.installations.empty(engine, tmp_path / "earlier")
    database = connect(earlier)
    migrate(database, 12)
    with database.changing(EVERY) as rows:
        rows.run(ORGANISATION)
    database.close()
    path = backed_up(earlier, tmp_path / "backup")
    assert "not applied" in command(earlier, "check", "--json").output, "a backup leaves the schema as it is"

    assert command(empty, "restore", str(path), "--json").outcome["sound"] is True

    assert rows_of(empty, "SELECT name, quote_valid_days FROM organisation") == [("O", 30)]
    known = newest_known()
    migrated = keepsake.installations.empty(engine, tmp_path / "migrated")
    command(migrated, "migrate")
    told = command(migrated, "restore", str(path), "--json").refusal
    assert told.startswith(f"The database has schema step {known} already, and the backup ")


def test_a_backup_of_a_later_version_is_refused(keepsake: Keepsake, empty: Settings, tmp_path: Path) -> None:
    keepsake.spoil("INSERT INTO schema_step VALUES (9999, '9999_later', '2026')")
    path = backed_up(keepsake.settings, tmp_path / "backup")
    told = command(empty, "restore", str(path), "--json").refusal
    assert told.startswith("The backup has schema step 9999; this Mainstay knows ")


def test_where_nothing_is_there_is_nothing_to_back_up(empty: Settings, tmp_path: Path) -> None:
    ended: Any = command(empty, "backup", str(tmp_path / "backup"), "--json")
    assert "no database" in ended.refusal or "nothing to back up" in ended.refusal
    assert not (tmp_path / "backup").exists()
