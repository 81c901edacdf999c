"""Bring a database to the newest schema.

A step is a numbered file of SQL; where the engines differ it is for one of them (`0002_fences.sqlite.sql`), and where
SQL cannot say it, it is a module with one function (`0008_addresses.py`). Each step and the note that it ran are one
transaction, so a process killed half-way leaves the step undone, and processes that start together take turns. In an
empty database all steps are one: nobody's data makes them long, and to wait for the disk after each does.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mainstay.backing.database import EVERY, Database, Handle, NewerSchema, SchemaHandle, WholeDatabase
from mainstay.backing.row_hashes import HASHED
from mainstay.late import late
from mainstay.values.moments import moment_text, system_clock

_NOTES = """
CREATE TABLE IF NOT EXISTS schema_step (
    number bigint NOT NULL PRIMARY KEY,
    name text NOT NULL,
    applied_at text NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One numbered change of the schema."""

    number: int
    name: str
    # Makes the change; a file is read, or imported, only then, since most starts need none.
    run: Callable[[SchemaHandle], None]
    file: Path | None = None

    def may_change(self) -> list[str]:
        """Return the hashed tables whose rows the step may change: those that it names, if it is SQL."""
        text = self.file.read_text("utf-8") if self.file and self.file.suffix == ".sql" else None
        return [table for table in HASHED if text is None or re.search(rf"\b{table}\b", text)]


def migrate(database: WholeDatabase, last: int | None = None) -> list[str]:
    """Apply the steps that are missing, perhaps no more than up to this one; their names."""
    steps = steps_for(database.engine)
    with database.migrating() as handle:
        handle.script(_NOTES)
        newest = newest_step(handle)
    known = steps[-1].number
    if newest > known:
        raise NewerSchema(f"The database has schema step {newest}; this Mainstay knows {known}. Use a newer one.")
    wanted = [step for step in steps if newest < step.number <= (known if last is None else last)]
    at_once = [wanted] if newest == 0 else [[step] for step in wanted]
    return [name for some in at_once for name in _apply(database, some)]


def steps_for(engine: str) -> list[Step]:
    """The steps of an engine in order."""
    steps = []
    for file in sorted(Path(__file__).parent.iterdir()):
        written = _STEP.fullmatch(file.name)
        if written and written["engine"] in {None, engine}:
            steps.append(Step(int(written["number"]), written["name"], partial(_run, file), file))
    return steps


def build(handle: SchemaHandle) -> None:
    """Build the newest schema in an empty one."""
    handle.script(_NOTES)
    for step in steps_for(handle.engine):
        step.run(handle)


def newest_known() -> int:
    """The number of the last step that there is for any engine."""
    return max(
        int(written["number"]) for file in Path(__file__).parent.iterdir() if (written := _STEP.fullmatch(file.name))
    )


def level(engine: str, newest: int) -> int:
    """How far a schema is, on either engine, whose newest step on this one is known: some steps are for one of them."""
    following = [step.number for step in steps_for(engine) if step.number > newest]
    return following[0] - 1 if following else max(newest, newest_known())


_STEP = re.compile(r"(?P<name>(?P<number>\d{4})_\w+)(\.(?P<engine>\w+))?\.(sql|py)")


def _run(file: Path, handle: SchemaHandle) -> None:
    if file.name.endswith(".sql"):
        handle.script(file.read_text("utf-8"))
    else:
        late(f"{__package__}.{file.name.removesuffix('.py')}").apply(handle)


def _apply(database: WholeDatabase, steps: list[Step]) -> list[str]:
    with database.migrating() as handle:
        # Asked again under the lock: another process may have done them meanwhile.
        newest = newest_step(handle)
        missing = [step for step in steps if step.number > newest]
        for step in missing:
            with _hashing_again(handle, step, newest):
                step.run(handle)
            handle.run(
                "INSERT INTO schema_step (number, name, applied_at) VALUES (:number, :name, :at)",
                number=step.number,
                name=step.name,
                at=moment_text(system_clock()),
            )
        return [step.name for step in missing]


def _hashing_again(handle: SchemaHandle, step: Step, newest: int) -> AbstractContextManager[None]:
    """Keep the hashes of rows right while a step changes rows, if there are any rows."""
    if newest == 0 or step.number <= _ROW_HASHES or not (tables := step.may_change()):
        return nullcontext()
    hashing: AbstractContextManager[None] = late("mainstay.backing.rehashing").hashing_again(handle, step.name, tables)
    return hashing


# The step that hashed all rows for the first time.
_ROW_HASHES = 60


def is_current(database: Database) -> bool:
    """Whether every step has been applied."""
    with database.reading(EVERY) as handle:
        return newest_step(handle) == steps_for(database.engine)[-1].number


def newest_step(handle: Handle) -> int:
    """The number of the last step that was applied."""
    row = handle.one("SELECT coalesce(max(number), 0) FROM schema_step")
    return int(row[0] or 0) if row else 0
