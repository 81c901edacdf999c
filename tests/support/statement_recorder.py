"""Chooses the tests of operations that `make test` need not repeat on PostgreSQL; `make not-repeated` runs it.

An operation is tested on SQLite with all its cases. PostgreSQL can only differ in what a statement does there: so a
test is repeated if it runs a statement that no other test runs there, or runs one with other kinds of values, with
text beyond ASCII, or with another outcome (no row, one, several, an error). So is a test with several threads.
"""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import psycopg
import pytest

from mainstay.infrastructure.database import Row, Value
from mainstay.infrastructure.postgresql import PostgresHandle
from support.engines import NOT_REPEATED, REPEATED_ONLY_FOR_STATEMENTS, folder_of, name_of

_HEADER = """\
# Tests that `make test` runs on SQLite only, because other tests run each of their statements on PostgreSQL as well.
# Written by `make not-repeated`. A test that is not listed runs on both engines; `make test-long` runs all on both.
"""


class StatementRecorder:
    """A plugin of pytest that records which statements each test runs on PostgreSQL, and with which outcome."""

    def __init__(self, folder: Path, process: str) -> None:
        self._file = folder / f"{process}.json"
        self._statements: dict[str, set[str]] = {}
        self._test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record what a test runs, with what its fixtures run."""
        with self.recording(item):
            return (yield)

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded in this process."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(orjson.dumps({name: sorted(found) for name, found in self._statements.items()}))

    @contextmanager
    def recording(self, test: pytest.Item) -> Iterator[None]:
        """Record what is run until the block ends."""
        self._test = name_of(test)
        self._statements.setdefault(self._test, set())
        with ExitStack() as patches:
            for method in ("_execute", "stream", "run_many"):
                patches.enter_context(patch.object(PostgresHandle, method, self._make_recording_method(method)))
            yield

    def _make_recording_method(self, method: str) -> Any:
        """Return this method of a handle, made to record what it is given."""
        inner = getattr(PostgresHandle, method)

        def record(handle: PostgresHandle, sql: str, given: Any = None, /, **parameters: Value) -> Any:
            if method != "_execute":
                self._note(sql, {}, method)
                return inner(handle, sql, *([] if given is None else [given]), **parameters)
            values = dict(given)
            try:
                cursor: psycopg.Cursor[Row] = inner(handle, sql, given)
            except Exception as error:
                self._note(sql, values, type(error).__name__)
                raise
            self._note(sql, values, str(min(cursor.rowcount, 2)))
            return cursor

        return record

    def _note(self, sql: str, values: dict[str, Value], outcome: str) -> None:
        kinds = [f"{name} {_kind_of(value)}" for name, value in sorted(values.items())]
        self._statements[self._test].add("\n".join((sql, *kinds, outcome)))
        if threading.current_thread() is not threading.main_thread():
            # No other test does the same.
            self._statements[self._test].add(f"threads of {self._test}")


def _kind_of(value: Value) -> str:
    """Return what PostgreSQL may treat differently in a value."""
    return "text beyond ASCII" if isinstance(value, str) and not value.isascii() else type(value).__name__


def choose_not_repeated(statements: dict[str, set[str]]) -> list[str]:
    """Return the tests without which every statement is still run: first those that run the most statements."""
    runs = Counter(one for found in statements.values() for one in found)
    chosen = []
    for name, found in sorted(statements.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if folder_of(name) in REPEATED_ONLY_FOR_STATEMENTS and all(runs[one] > 1 for one in found):
            runs.subtract(found)
            chosen.append(name)
    return sorted(chosen)


def read_records(folder: Path) -> dict[str, set[str]]:
    """Read what the processes of a run recorded: the statements of each test."""
    statements: dict[str, set[str]] = {}
    for file in folder.glob("*.json"):
        for name, found in orjson.loads(file.read_bytes()).items():
            statements.setdefault(name, set()).update(found)
    return statements


def main(folder: Path) -> None:
    """Write the list from what a run recorded."""
    statements = read_records(folder)
    chosen = choose_not_repeated(statements)
    NOT_REPEATED.write_text(_HEADER + "".join(f"{name}\n" for name in chosen))
    summary = f"{len(chosen)} of {len(statements)} test functions are not repeated on PostgreSQL.\n"
    sys.stdout.write(summary)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
