"""Bring a database to the newest schema.

The first step is the baseline, which is the whole schema as of its number. Each later step is a change, there for both
engines under the same number. Its files are SQL for both engines (`0064_name.sql`), SQL for one of them
(`0064_name.sqlite.sql`), or both; what SQL cannot express is a module with one function, `apply` (`0064_name.py`).

A step that servers of the version before can live with says so in a comment: `Servers that know step 0077 may go on
writing.` It may add tables, indexes, and columns that are null or have a default. After any other step, older servers
refuse changes until they are updated, and go on reading.

Each step and the note that it ran are one transaction, so a process killed half-way leaves the step undone, and
processes that start together take turns. In an empty database all steps are one transaction.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from runpy import run_path
from typing import NamedTuple

from mainstay.infrastructure.database import (
    DatabaseHandle,
    MigratableDatabase,
    NewerSchema,
    OlderSchema,
    SchemaHandle,
)
from mainstay.infrastructure.row_hashes import HASHED_TABLES
from mainstay.infrastructure.row_security import enable_row_security
from mainstay.infrastructure.schema_guard import SchemaGuard
from mainstay.lazy_import import import_lazily
from mainstay.values.moments import moment_text, system_clock

_FOLDER = Path(__file__).parent

# The last version that has the steps before the baseline, and what to do with a database that lacks some of them.
LAST_WITH_OLDER_STEPS = "Mainstay 0.1.0 beta of 18 November 2026 (commit 11db8abd)"
HOW_TO_UPDATE = f"First run `mainstay migrate` of {LAST_WITH_OLDER_STEPS}."

_CREATE_SCHEMA_STEP = """
CREATE TABLE IF NOT EXISTS schema_step (
    number bigint NOT NULL PRIMARY KEY,
    name text NOT NULL,
    applied_at text NOT NULL
)
"""


# The step that created the table with the oldest writer.
_FIRST_GUARDED_STEP = 77
_OLDEST_WRITER = re.compile(r"^(?:--|#) Servers that know step (\d{4}) may go on writing\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """One numbered change of the schema."""

    number: int
    name: str
    # Makes the change; files are read only then, since most starts need none.
    run: Callable[[SchemaHandle], None]
    files: tuple[Path, ...] = ()

    @property
    def oldest_writer(self) -> int:
        """The oldest step that a program must know to change a database with this step: its own, or an older one."""
        declared = _OLDEST_WRITER.search("".join(file.read_text("utf-8") for file in self.files))
        return int(declared[1]) if declared else self.number

    def find_changed_tables(self) -> list[str]:
        """Return the hashed tables whose rows the step may change: if it is only SQL, the tables that it names."""
        if not self.files or any(file.suffix != ".sql" for file in self.files):
            return list(HASHED_TABLES)
        text = "".join(file.read_text("utf-8") for file in self.files)
        return [table for table in HASHED_TABLES if re.search(rf"\b{table}\b", text)]


def migrate(database: MigratableDatabase, last: int | None = None) -> list[str]:
    """Apply the steps that are missing, perhaps only up to a last one, and return their names."""
    steps = steps_for(database.engine)
    with database.migration_transaction() as handle:
        handle.run_script(_CREATE_SCHEMA_STEP)
        newest = newest_step(handle)
        known = steps[-1].number
        if newest > known and _read_oldest_writer(handle) > known:
            raise NewerSchema(f"The database has schema step {newest}; this Mainstay knows {known}. Use a newer one.")
    if is_too_old(newest, database.engine):
        raise OlderSchema(
            f"The database has schema step {newest}, which is older than this Mainstay can bring up to date."
            f" {HOW_TO_UPDATE}"
        )
    wanted = [step for step in steps if newest < step.number <= (known if last is None else last)]
    batches = [wanted] if newest == 0 else [[step] for step in wanted]
    return [name for batch in batches for name in _apply_steps(database, batch)]


def steps_for(engine: str) -> list[MigrationStep]:
    """Return the steps of an engine in order."""
    files = sorted(file for file in map(_parse_file_name, _FOLDER.iterdir()) if file and file.engine in {"", engine})
    return [
        _build_step(name, tuple(file.path for file in of_step))
        for name, of_step in groupby(files, key=attrgetter("step"))
    ]


def is_too_old(newest: int, engine: str) -> bool:
    """Return whether the schema ends before the oldest step that still exists."""
    return 0 < newest < steps_for(engine)[0].number


def build_schema(handle: SchemaHandle) -> None:
    """Build the newest schema in an empty one."""
    handle.run_script(_CREATE_SCHEMA_STEP)
    for step in steps_for(handle.engine):
        _run_step(handle, step)


class _StepFile(NamedTuple):
    """A file of a step; in order, one for both engines comes before one for a single engine."""

    step: str
    engine: str
    path: Path


_NAME = re.compile(r"(?P<step>\d{4}_\w+)(\.(?P<engine>\w+))?\.(sql|py)")


def _parse_file_name(path: Path) -> _StepFile | None:
    name = _NAME.fullmatch(path.name)
    return _StepFile(name["step"], name["engine"] or "", path) if name else None


def _build_step(name: str, files: tuple[Path, ...]) -> MigrationStep:
    return MigrationStep(int(name.partition("_")[0]), name, partial(_run_files, files), files)


def _run_files(files: tuple[Path, ...], handle: SchemaHandle) -> None:
    for file in files:
        if file.suffix == ".sql":
            handle.run_script(file.read_text("utf-8"))
        else:
            run_path(str(file))["apply"](handle)


def _run_step(handle: SchemaHandle, step: MigrationStep) -> None:
    step.run(handle)
    enable_row_security(handle)


def _apply_steps(database: MigratableDatabase, steps: list[MigrationStep]) -> list[str]:
    with database.migration_transaction() as handle:
        # Read again under the lock: another process may have applied them meanwhile.
        newest = newest_step(handle)
        missing = [step for step in steps if step.number > newest]
        for step in missing:
            with _rehash_changed_rows(handle, step, newest):
                _run_step(handle, step)
            handle.run(
                "INSERT INTO schema_step (number, name, applied_at) VALUES (:number, :name, :at)",
                number=step.number,
                name=step.name,
                at=moment_text(system_clock()),
            )
            if step.number >= _FIRST_GUARDED_STEP:
                _store_oldest_writer(handle, step.oldest_writer)
        return [step.name for step in missing]


def _rehash_changed_rows(handle: SchemaHandle, step: MigrationStep, newest: int) -> AbstractContextManager[None]:
    """Update the hashes of the rows that a step changes, if there are any rows."""
    if newest == 0 or not (tables := step.find_changed_tables()):
        return nullcontext()
    rehashing: AbstractContextManager[None] = import_lazily("mainstay.infrastructure.rehashing").rehash_changed_rows(
        handle, step.name, tables
    )
    return rehashing


def make_schema_guard(engine: str) -> SchemaGuard:
    """Return the guard that knows every step of an engine."""
    return SchemaGuard(steps_for(engine)[-1].number)


def _read_oldest_writer(handle: DatabaseHandle) -> int:
    row = handle.one("SELECT value FROM installation WHERE name = 'oldest_writer'")
    return int(row[0] or 0) if row else 0


def _store_oldest_writer(handle: DatabaseHandle, number: int) -> None:
    number = max(number, _read_oldest_writer(handle))
    handle.run("DELETE FROM installation WHERE name = 'oldest_writer'")
    handle.run("INSERT INTO installation (name, value) VALUES ('oldest_writer', :number)", number=str(number))


def newest_step(handle: DatabaseHandle) -> int:
    """Return the number of the last step that was applied, or 0."""
    row = handle.one("SELECT coalesce(max(number), 0) FROM schema_step")
    return int(row[0] or 0) if row else 0
