import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mainstay.infrastructure.shared_counters import SharedCounters

NAMES = ["mails", "seconds", "faults"]

ADDER = """
import sys
from pathlib import Path
from mainstay.infrastructure.process_slots import claim_slot
from mainstay.infrastructure.shared_counters import SharedCounters
folder = Path(sys.argv[1])
row = claim_slot(folder / "rows", 4)
tallies = SharedCounters(folder / "tallies", ["mails", "seconds", "faults"], row.number)
print(row.number, flush=True)
sys.stdin.readline()
mails = tallies.index_of("mails")
for _ in range(20_000):
    tallies.own_row[mails] += 1
    tallies.own_row[tallies.index_of("seconds")] += 0.25
print("added", flush=True)
sys.stdin.readline()
"""


class Process:
    """A process that claims a row, adds when told, and then waits."""

    def __init__(self, folder: Path) -> None:
        self.running = subprocess.Popen(
            [sys.executable, "-c", ADDER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.row = int(self.read_line())

    def read_line(self) -> str:
        assert self.running.stdout is not None
        return self.running.stdout.readline().strip()

    def send_go(self) -> None:
        assert self.running.stdin is not None
        self.running.stdin.write("go\n")
        self.running.stdin.flush()

    def kill(self) -> None:
        self.running.kill()
        self.running.communicate()


def test_the_sums_of_two_processes_that_add_at_once_are_right(tmp_path: Path) -> None:
    SharedCounters.create(tmp_path / "tallies", NAMES, rows=4)
    processes = [Process(tmp_path), Process(tmp_path)]
    assert [process.row for process in processes] == [0, 1]

    for process in processes:
        process.send_go()
    assert [process.read_line() for process in processes] == ["added", "added"]

    tallies = SharedCounters(tmp_path / "tallies", NAMES, row=3)
    tallies.own_row[tallies.index_of("faults")] += 1
    assert tallies.totals() == {"mails": 40_000, "seconds": 10_000, "faults": 1}
    tallies.close()
    for process in processes:
        process.kill()


def test_the_row_of_a_killed_process_is_claimed_again_and_keeps_its_counts(tmp_path: Path) -> None:
    SharedCounters.create(tmp_path / "tallies", NAMES, rows=4)
    for _ in range(2):
        process = Process(tmp_path)
        assert process.row == 0
        process.send_go()
        assert process.read_line() == "added"
        process.kill()

    tallies = SharedCounters(tmp_path / "tallies", NAMES, row=0)
    assert tallies.totals() == {"mails": 40_000, "seconds": 10_000, "faults": 0}
    tallies.close()


def test_a_fresh_file_is_private_and_begins_at_nought(tmp_path: Path) -> None:
    path = tmp_path / "tallies"
    SharedCounters.create(path, NAMES, rows=1)
    earlier = SharedCounters(path, NAMES, row=0)
    earlier.own_row[earlier.index_of("mails")] += 1

    SharedCounters.create(path, NAMES, rows=1)
    later = SharedCounters(path, NAMES, row=0)

    assert (earlier.totals()["mails"], later.totals()["mails"]) == (1, 0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    earlier.close()
    later.close()


def test_every_row_and_every_name_has_a_place_of_its_own(tmp_path: Path) -> None:
    names = [str(number) for number in range(37)]
    SharedCounters.create(tmp_path / "tallies", names, rows=5)
    for row in range(5):
        tallies = SharedCounters(tmp_path / "tallies", names, row)
        for index, name in enumerate(names):
            tallies.own_row[tallies.index_of(name)] += (row + 1) * index
        tallies.close()

    tallies = SharedCounters(tmp_path / "tallies", names, row=0)
    assert tallies.totals() == {name: 15 * index for index, name in enumerate(names)}
    tallies.close()


def test_a_file_made_for_other_names_is_not_opened(tmp_path: Path) -> None:
    SharedCounters.create(tmp_path / "tallies", NAMES, rows=4)

    with pytest.raises(ValueError, match="has another purpose or version"):
        SharedCounters(tmp_path / "tallies", [*NAMES[1:], "other"], row=0)


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_that_does_not_exist_is_an_error(tmp_path: Path, row: int) -> None:
    SharedCounters.create(tmp_path / "tallies", NAMES, rows=4)

    with pytest.raises(ValueError, match="There is no row"):
        SharedCounters(tmp_path / "tallies", NAMES, row)
