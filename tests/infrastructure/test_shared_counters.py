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
counters = SharedCounters(folder / "counters", ["mails", "seconds", "faults"], row.number)
print(row.number, flush=True)
sys.stdin.readline()
mails = counters.find_index("mails")
for _ in range(20_000):
    counters.own_row[mails] += 1
    counters.own_row[counters.find_index("seconds")] += 0.25
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
    SharedCounters.create(tmp_path / "counters", NAMES, row_count=4)
    processes = [Process(tmp_path), Process(tmp_path)]
    assert [process.row for process in processes] == [0, 1]

    for process in processes:
        process.send_go()
    assert [process.read_line() for process in processes] == ["added", "added"]

    counters = SharedCounters(tmp_path / "counters", NAMES, row_index=3)
    counters.own_row[counters.find_index("faults")] += 1
    assert counters.sum_rows() == {"mails": 40_000, "seconds": 10_000, "faults": 1}
    counters.close()
    for process in processes:
        process.kill()


def test_the_row_of_a_killed_process_is_claimed_again_and_keeps_its_counts(tmp_path: Path) -> None:
    SharedCounters.create(tmp_path / "counters", NAMES, row_count=4)
    for _ in range(2):
        process = Process(tmp_path)
        assert process.row == 0
        process.send_go()
        assert process.read_line() == "added"
        process.kill()

    counters = SharedCounters(tmp_path / "counters", NAMES, row_index=0)
    assert counters.sum_rows() == {"mails": 40_000, "seconds": 10_000, "faults": 0}
    counters.close()


def test_a_fresh_file_is_private_and_begins_at_nought(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    SharedCounters.create(path, NAMES, row_count=1)
    earlier = SharedCounters(path, NAMES, row_index=0)
    earlier.own_row[earlier.find_index("mails")] += 1

    SharedCounters.create(path, NAMES, row_count=1)
    later = SharedCounters(path, NAMES, row_index=0)

    assert (earlier.sum_rows()["mails"], later.sum_rows()["mails"]) == (1, 0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    earlier.close()
    later.close()


def test_every_row_and_every_name_has_a_place_of_its_own(tmp_path: Path) -> None:
    names = [str(number) for number in range(37)]
    SharedCounters.create(tmp_path / "counters", names, row_count=5)
    for row in range(5):
        counters = SharedCounters(tmp_path / "counters", names, row)
        for index, name in enumerate(names):
            counters.own_row[counters.find_index(name)] += (row + 1) * index
        counters.close()

    counters = SharedCounters(tmp_path / "counters", names, row_index=0)
    assert counters.sum_rows() == {name: 15 * index for index, name in enumerate(names)}
    counters.close()


def test_a_file_made_for_other_names_is_not_opened(tmp_path: Path) -> None:
    SharedCounters.create(tmp_path / "counters", NAMES, row_count=4)

    with pytest.raises(ValueError, match="has another purpose or version"):
        SharedCounters(tmp_path / "counters", [*NAMES[1:], "other"], row_index=0)


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_that_does_not_exist_is_an_error(tmp_path: Path, row: int) -> None:
    SharedCounters.create(tmp_path / "counters", NAMES, row_count=4)

    with pytest.raises(ValueError, match="There is no row"):
        SharedCounters(tmp_path / "counters", NAMES, row)
