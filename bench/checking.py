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
    """Measure every size, or one."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--invoices", type=int)
    words.add_argument("--check", type=Path, help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.check:
        look_at(given.check)
        return
    for invoices in [given.invoices] if given.invoices else SIZES:
        with TemporaryDirectory() as folder:
            make(Path(folder), invoices)
            print(f"{invoices:>7} invoices: ", end="", flush=True)
            # In a process of its own, so that its memory is what the check takes.
            subprocess.run([sys.executable, "-m", "bench.checking", "--check", folder], check=True)


def make(folder: Path, invoices: int) -> None:
    """Make a firm with so many invoices."""
    settings = replace(read_settings({}), data=folder)
    DataFolder(folder).make()
    stage = open_stage(settings)
    make_firm(stage, folder, _JOBS, invoices)
    stage.database.close()
    database = connect(settings)
    with database.migrating() as rows:
        hash_rows(rows, "bench")
    database.close()


def look_at(folder: Path) -> None:
    """Check a firm, and tell how long each part took."""
    settings = replace(read_settings({}), data=folder)
    database = connect(settings)
    before, began = _megabytes(), process_time()
    seconds, since = {}, began
    for found in check(database, open_files(settings), system_clock(), PROOFS):
        seconds[found.proof.name], since = process_time() - since, process_time()
    most = ", ".join(f"{name} {seconds[name]:.1f}" for name in sorted(seconds, key=seconds.__getitem__)[:-6:-1])
    print(f"{process_time() - began:.1f} s of a processor ({most}), {_megabytes() - before} MB of memory")
    database.close()


def _megabytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
