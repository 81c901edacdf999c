"""A server that cannot save anything is not ready, and says why; one that is only busy is ready."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mainstay.composition import connect, open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import MigratableDatabase
from mainstay.infrastructure.files import FolderFileStore
from mainstay.infrastructure.migrations.apply import make_schema_guard
from mainstay.infrastructure.readiness import Readiness
from mainstay.infrastructure.sqlite import SqliteDatabase
from mainstay.settings import Settings
from support.stored_state import read_all_rows


@pytest.fixture
def database(fresh_settings: Settings) -> Iterator[MigratableDatabase]:
    """A migrated database."""
    open_performer(fresh_settings).database.close()
    with closing(connect(fresh_settings)) as database:
        yield database


def make_readiness(database: MigratableDatabase, folder: Path) -> Readiness:
    return Readiness(database, make_schema_guard(database.engine), folder, FolderFileStore(folder / "files"))


def test_a_server_that_can_write_is_ready_and_leaves_nothing_behind(
    database: MigratableDatabase, fresh_settings: Settings
) -> None:
    before = read_all_rows(database)
    assert make_readiness(database, fresh_settings.data).find_problem() is None
    assert read_all_rows(database) == before


def test_a_database_without_the_newest_steps_is_not_served(
    database: MigratableDatabase, fresh_settings: Settings
) -> None:
    with database.migration_transaction() as db:
        db.run("DELETE FROM schema_step WHERE number > 70")
    problem = make_readiness(database, fresh_settings.data).find_problem()
    assert problem == "The database has not been migrated to this version yet."


def test_a_full_disk_is_no_place_for_files(database: MigratableDatabase) -> None:
    # A file system on which there is never any room.
    assert make_readiness(database, Path("/proc")).find_problem() == "The disk is full."


@pytest.mark.engines("sqlite")
def test_a_full_database_is_noticed_by_writing(fresh_settings: Settings) -> None:
    open_performer(fresh_settings).database.close()
    with closing(SqliteDatabase(DataFolder(fresh_settings.data).database)) as database:
        readiness = make_readiness(database, fresh_settings.data)
        database._writer.execute("PRAGMA query_only = ON")
        assert readiness.find_problem() == "The database cannot be written to."
        database._writer.execute("PRAGMA query_only = OFF")
        assert readiness.find_problem() is None


@pytest.mark.engines("postgresql")
@pytest.mark.usefixtures("database")
def test_a_replica_is_noticed_by_writing(fresh_settings: Settings) -> None:
    address = f"{fresh_settings.database}&options=-c%20default_transaction_read_only%3Don"
    with closing(connect(replace(fresh_settings, database=address))) as replica:
        assert make_readiness(replica, fresh_settings.data).find_problem() == "The database cannot be written to."


def test_a_busy_database_is_ready(database: MigratableDatabase, fresh_settings: Settings) -> None:
    with closing(connect(fresh_settings)) as other, other.migration_transaction():
        assert make_readiness(database, fresh_settings.data).find_problem() is None
