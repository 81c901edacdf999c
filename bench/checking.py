"""How long `mainstay check` takes for a firm of 1,000, 10,000 and 100,000 invoices, and how much memory.

The rows of the firm are written in bulk and hashed as a migration hashes them. What is wrong with them otherwise (the
bulk has no chain of acts and no files) does not matter here: every row is looked at all the same.

`python -m bench.checking` measures; `--invoices N` measures one firm.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.firm import make_firm

from mainstay.backing.folder import DataFolder
from mainstay.backing.rehashing import hash_rows
from mainstay.catalogue import PROOFS
from mainstay.safekeeping.checking import check
from mainstay.settings import read_settings
from mainstay.staging import connect, open_files, open_stage
from mainstay.values.moments import system_clock

SIZES = (1_000, 10_000, 100_000)
_JOBS = 1_000


def main() -> None:
    """Measure every size in a process of its own, or one."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--invoices", type=int)
    invoices = words.parse_args().invoices
    if invoices:
        measure(invoices)
        return
    for size in SIZES:
        subprocess.run([sys.executable, "-m", "bench.checking", "--invoices", str(size)], check=True)


def measure(invoices: int) -> None:
    """Make a firm with so many invoices, and check it."""
    with TemporaryDirectory() as folder:
        settings = replace(read_settings({}), data=Path(folder))
        DataFolder(settings.data).make()
        stage = open_stage(settings)
        make_firm(stage, settings.data, _JOBS, invoices)
        stage.database.close()
        database = connect(settings)
        with database.migrating() as rows:
            hashing = _timed(lambda: hash_rows(rows, "bench"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        slowest: dict[str, float] = {}
        looked, since = process_time(), process_time()
        for found in check(database, open_files(settings), system_clock(), PROOFS):
            slowest[found.proof.name] = process_time() - since
            since = process_time()
        total, more = process_time() - looked, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        database.close()
    most = ", ".join(f"{name} {slowest[name]:.1f}" for name in sorted(slowest, key=slowest.__getitem__)[:-6:-1])
    print(
        f"{invoices:>7} invoices: check {total:.1f} s of a processor ({most}),"
        f" at most {max(more, 0) / 1024:.0f} MB more memory than to make them; hashing all rows {hashing:.1f} s"
    )


def _timed(deed: Callable[[], Any]) -> float:
    began = process_time()
    deed()
    return process_time() - began


if __name__ == "__main__":
    main()
