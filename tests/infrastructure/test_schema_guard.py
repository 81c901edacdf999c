"""Two versions on one database: an older server goes on changing what it can, and refuses what it cannot."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mainstay.business.customers.operations import create_customer, get_customer, update_customer
from mainstay.composition import connect, open_files, open_performer
from mainstay.infrastructure.database import DatabaseUnavailable, NewerSchema
from mainstay.infrastructure.migrations.apply import make_schema_guard, migrate, steps_for
from mainstay.infrastructure.readiness import Readiness
from mainstay.infrastructure.rehashing import hash_rows
from mainstay.infrastructure.row_hashes import find_differences, forget_columns
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Role
from support.cast import Cast, make_cast
from support.schema_steps import add_steps

# A column as a later version adds it: not null, but with a default.
ADD_COLUMN = "ALTER TABLE customer ADD COLUMN rating bigint NOT NULL DEFAULT 0;\n"


@pytest.fixture
def old_server(fresh_settings: Settings) -> Iterator[Performer]:
    """The performer of a server of this version, which is the older one here."""
    performer = open_performer(fresh_settings)
    yield performer
    performer.database.close()
    # Other tests in this process have no later column.
    forget_columns()


@pytest.fixture
def cast(old_server: Performer) -> Cast:
    """People of an organisation on the older server."""
    return make_cast(old_server)


def upgrade(settings: Settings, monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> Performer:
    """Return the performer of a newer server, which has one step more and has just started."""
    add_steps(monkeypatch, folder, {"ratings.sql": script})
    return open_performer(settings)


def declare_oldest_writer(script: str) -> str:
    return f"-- Servers that know step {steps_for('sqlite')[-1].number:04} may go on writing.\n{script}"


def find_wrong_rows(settings: Settings, cast: Cast) -> list[str]:
    with closing(connect(settings)) as database, database.scan_transaction() as db:
        return [found.name for found in find_differences(db.for_organisation(cast.organisation))]


def migrate_again(settings: Settings) -> list[str]:
    """Do what a start of the older server does."""
    with closing(connect(settings)) as database:
        return migrate(database)


def test_after_a_step_that_only_adds_an_older_server_goes_on_writing(
    fresh_settings: Settings, cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    customer = cast.perform(create_customer, name="Ada")
    known = make_schema_guard(cast.performer.database.engine)
    upgrade(fresh_settings, monkeypatch, tmp_path / "steps", declare_oldest_writer(ADD_COLUMN)).database.close()

    # The newer server gives the customer something that the older one does not know.
    with closing(connect(fresh_settings)) as database, database.migration_transaction() as db:
        db.run("UPDATE customer SET rating = 5 WHERE id = :id", id=customer["id"])
        hash_rows(db, "a test")
    changed = cast.perform(update_customer, customerId=customer["id"], name="Ada Lovelace")
    assert changed["name"] == "Ada Lovelace"
    assert find_wrong_rows(fresh_settings, cast) == []
    assert (
        Readiness(cast.performer.database, known, fresh_settings.data, open_files(fresh_settings)).find_problem()
        is None
    )


def test_after_any_other_step_an_older_server_only_reads(
    fresh_settings: Settings, cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    customer = cast.perform(create_customer, name="Ada")
    known = make_schema_guard(cast.performer.database.engine)
    upgrade(fresh_settings, monkeypatch, tmp_path / "steps", ADD_COLUMN).database.close()

    with pytest.raises(DatabaseUnavailable, match="This server is older than its database"):
        cast.perform(update_customer, customerId=customer["id"], name="Eve")
    assert cast.perform(get_customer, Role.OFFICE, customerId=customer["id"])["name"] == "Ada"
    problem = Readiness(cast.performer.database, known, fresh_settings.data, open_files(fresh_settings)).find_problem()
    assert problem is not None
    assert problem.startswith("This server is older than its database: it knows schema step ")


def test_an_older_server_starts_again_if_it_may_write(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as newer:
        upgrade(fresh_settings, newer, tmp_path / "steps", declare_oldest_writer(ADD_COLUMN)).database.close()
    assert migrate_again(fresh_settings) == []


def test_an_older_server_does_not_start_again_if_it_may_not_write(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as newer:
        upgrade(fresh_settings, newer, tmp_path / "steps", ADD_COLUMN).database.close()
    with pytest.raises(NewerSchema):
        migrate_again(fresh_settings)
