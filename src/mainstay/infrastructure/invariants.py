"""Invariants: what must hold of all stored data, and how violations are found.

An area declares its invariants in `invariants.py`, and the catalogue lists them. Checking changes nothing: it reads one
consistent state, row by row, however much there is.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mainstay.infrastructure.database import ScanHandle, SchemaHandle
from mainstay.infrastructure.files import FileStore


class CheckContext(NamedTuple):
    """What an invariant is checked against: the rows of one organisation or of all, and the stored files."""

    db: ScanHandle
    engine: str
    files: FileStore
    now: datetime
    # Opens an empty temporary schema.
    temporary_schema: Callable[[], AbstractContextManager[SchemaHandle]]


class Violation(NamedTuple):
    """A place where an invariant does not hold."""

    where: str
    problem: str


# Clocks differ a little. A larger difference means that one of them is wrong.
MAX_CLOCK_DIFFERENCE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Invariant:
    """One rule that must hold."""

    name: str
    # The rule in words.
    rule: str
    find_violations: Callable[[CheckContext], Iterator[Violation]]
    # Whether it concerns the whole installation instead of each organisation.
    is_installation_wide: bool = False
    # Whether nothing else can be checked if it does not hold.
    stops_check: bool = False


def no_rows_invariant(name: str, rule: str, sql: str, problem: str) -> Invariant:
    """Return the invariant that a statement about an organisation finds no rows.

    The first column of a found row says where the violation is. The problem is formatted with the other columns, in
    their order.
    """

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        for where, *values in context.db.stream(sql):
            yield Violation(str(where), problem.format(*values))

    return Invariant(name, rule, find_violations)


def same_rows_invariant(name: str, rule: str, first: tuple[str, str], second: tuple[str, str]) -> Invariant:
    """Return the invariant that two statements about an organisation find the same rows.

    Each statement comes with the problem of a row that only it finds.
    """

    def find_violations(context: CheckContext) -> Iterator[Violation]:
        for (sql, problem), (other_sql, _) in ((first, second), (second, first)):
            for where, *values in context.db.stream(f"{sql} EXCEPT {other_sql}"):
                yield Violation(str(where), problem.format(*values))

    return Invariant(name, rule, find_violations)
