"""The power fails at any moment: what a change acknowledged is there afterwards, whole."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw
import pytest

from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.sqlite import SqliteDatabase
from support.power_failures import FailingDisk

pytestmark = pytest.mark.usefixtures("durable")

CUTS = [60, pytest.param(1_000, marks=pytest.mark.long)]
# So often that many a cut falls into the copying of the log into the file.
PAGES_BETWEEN_CHECKPOINTS = 20


class Machine:
    """A machine whose power is cut now and then. Each cut keeps the disk and the number of acknowledged changes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = Random(seed)
        self._folder = folder
        self.disk = FailingDisk(self._perhaps_cut)
        self.acknowledged = 0
        self.cuts: list[tuple[Path, int]] = []
        self._armed = False

    def work(self, cuts: int, synchronous: str | None = None) -> None:
        """Make changes until the power was cut this many times."""
        database = SqliteDatabase(self._folder / "mainstay.db")
        database._writer.execute(f"PRAGMA wal_autocheckpoint = {PAGES_BETWEEN_CHECKPOINTS}")
        if synchronous:
            database._writer.execute(f"PRAGMA synchronous = {synchronous}")
        with database.migration_transaction() as schema:
            schema.run_script("CREATE TABLE a (x int PRIMARY KEY, filling text); CREATE TABLE b (x int PRIMARY KEY)")
        self.disk.sync_all()
        self._armed = True
        while len(self.cuts) < cuts:
            number = self.acknowledged + 1
            with database.write_transaction(ALL_ORGANISATIONS) as db:
                db.run("INSERT INTO a VALUES (:x, :filling)", x=number, filling="x" * self._random.randrange(9_000))
                db.run("INSERT INTO b VALUES (:x)", x=number)
            self.acknowledged = number
        self._armed = False
        database.close()

    def _perhaps_cut(self) -> None:
        if self._armed and self._random.random() < 0.2:
            folder = self._folder / f"cut-{len(self.cuts)}"
            self.disk.cut_power(folder, self._random)
            self.cuts.append((folder, self.acknowledged))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path, seed=1)
    yield machine
    machine.disk.unregister()


def find_losses(machine: Machine) -> list[str]:
    """What is wrong after each cut, found by opening the database as the product does."""
    machine.disk.unregister()
    found = []
    for folder, acknowledged in machine.cuts:
        database = SqliteDatabase(folder / "mainstay.db")
        try:
            with database.read_transaction(ALL_ORGANISATIONS) as db:
                a = [number for (number,) in db.all("SELECT x FROM a ORDER BY x")]
                b = [number for (number,) in db.all("SELECT x FROM b ORDER BY x")]
                sound = db.all("PRAGMA integrity_check") == [("ok",)]
        except apsw.Error as error:
            found.append(f"{folder.name}: {error}")
            continue
        finally:
            database.close()
        if not sound or a != b or a not in (list(range(1, acknowledged + 1)), list(range(1, acknowledged + 2))):
            found.append(f"{folder.name}: {acknowledged} acknowledged, {len(a)} and {len(b)} there, sound: {sound}")
    return found


@pytest.mark.parametrize("cuts", CUTS)
def test_nothing_acknowledged_is_lost_and_nothing_is_there_by_half(machine: Machine, cuts: int) -> None:
    machine.work(cuts)

    assert find_losses(machine) == []


def test_the_power_is_really_cut(machine: Machine) -> None:
    """With less care at the end of a change, some changes are lost: this disk can lose them."""
    machine.work(60, synchronous="NORMAL")

    assert find_losses(machine)
