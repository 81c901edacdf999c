import subprocess
import sys
from pathlib import Path

import pytest

from mainstay.infrastructure.process_slots import claim_slot

HOLDER = """
import sys, pathlib
from mainstay.infrastructure.process_slots import claim_slot
row = claim_slot(pathlib.Path(sys.argv[1]), 3)
print(row.number, flush=True)
sys.stdin.read()
"""


def hold_row(path: Path) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def test_each_process_gets_the_lowest_row_that_is_free(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    first, first_number = hold_row(path)
    second, second_number = hold_row(path)
    mine = claim_slot(path, 3)
    assert [first_number, second_number, mine.number] == [0, 1, 2]

    first.kill()
    first.communicate()
    third, third_number = hold_row(path)
    assert third_number == 0

    mine.close()
    fourth, fourth_number = hold_row(path)
    assert fourth_number == 2
    for process in (second, third, fourth):
        process.communicate()


def test_when_all_rows_are_taken_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    process, _ = hold_row(path)

    with pytest.raises(RuntimeError, match="All 1 rows are taken"):
        claim_slot(path, 1)

    process.communicate()
