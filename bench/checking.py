"""How long `mainstay check` takes for a firm of 1,000, 10,000 and 100,000 invoices, and how much memory.

The rows of the firm are written in bulk and hashed as a migration hashes them. What is wrong with them otherwise (the
bulk has no chain of acts and no files) does not matter here: every row is looked at all the same.

`python -m bench.checking` measures all three; `--invoices N` measures another size.
"""

import argparse
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

# The parts of the bench are found from the root, however this is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.firm import make_firm

from mainstay.catalogue import INVARIANTS
from mainstay.composition import connect, open_files, open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.rehashing import hash_rows
from mainstay.maintenance.check import check_invariants
from mainstay.settings import read_settings
from mainstay.values.moments import system_clock

SIZES = (1_000, 10_000, 100_000)
_JOBS = 1_000


def main() -> None:
    """Measure every size, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--invoices", type=int)
    parser.add_argument("--check", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.check:
        check_firm(arguments.check)
        return
    for invoices in [arguments.invoices] if arguments.invoices else SIZES:
        with TemporaryDirectory() as folder:
            make_checked_firm(Path(folder), invoices)
            print(f"{invoices:>7} invoices: ", end="", flush=True)
            # In a process of its own, so that its memory is what the check takes.
            subprocess.run([sys.executable, "-m", "bench.checking", "--check", folder], check=True)


def make_checked_firm(folder: Path, invoices: int) -> None:
    """Make a firm with so many invoices."""
    settings = replace(read_settings({}), data=folder)
    DataFolder(folder).create()
    performer = open_performer(settings)
    make_firm(performer, folder, _JOBS, invoices)
    performer.database.close()
    database = connect(settings)
    with database.migration_transaction() as db:
        hash_rows(db, "bench")
    database.close()


def check_firm(folder: Path) -> None:
    """Check a firm, and tell how long each part took."""
    settings = replace(read_settings({}), data=folder)
    database = connect(settings)
    before, began = _peak_megabytes(), process_time()
    seconds, since = {}, began
    for found in check_invariants(database, open_files(settings), system_clock(), INVARIANTS):
        seconds[found.invariant.name], since = process_time() - since, process_time()
    most = ", ".join(f"{name} {seconds[name]:.1f}" for name in sorted(seconds, key=seconds.__getitem__)[:-6:-1])
    print(f"{process_time() - began:.1f} s of a processor ({most}), {_peak_megabytes() - before} MB of memory")
    database.close()


def _peak_megabytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
