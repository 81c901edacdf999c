"""Proofs of the books: what must hold of all that is kept, and what finds the places where it does not.

An area declares its proofs beside its store, and the catalogue lists them. A proof changes nothing; it looks at one
state of everything, row by row, however much there is.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from mainstay.backing.database import SchemaHandle, Survey
from mainstay.backing.files import Files


class Books(NamedTuple):
    """What a proof looks at: the rows of one organisation, or of every one, and the files that are kept."""

    rows: Survey
    engine: str
    files: Files
    now: datetime
    # Opens an empty schema in which something can be tried.
    trying: Callable[[], AbstractContextManager[SchemaHandle]]


class Flaw(NamedTuple):
    """Something that is not as it must be."""

    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing that must hold."""

    name: str
    # What holds, in words.
    holds: str
    flaws: Callable[[Books], Iterator[Flaw]]
    # Whether it is about the installation as a whole, and not about each organisation.
    whole: bool = False
    # Whether nothing else can be looked at where it does not hold.
    decisive: bool = False


def follows(name: str, holds: str, sql: str, problem: str) -> Proof:
    """The proof that a statement about an organisation finds nothing.

    Of a row that it finds, the first column says where; the problem is told with the others, in their order.
    """

    def flaws(books: Books) -> Iterator[Flaw]:
        for where, *told in books.rows.each(sql):
            yield Flaw(str(where), problem.format(*told))

    return Proof(name, holds, flaws)


def agree(name: str, holds: str, first: tuple[str, str], second: tuple[str, str]) -> Proof:
    """The proof that two statements about an organisation find the same rows, each with the problem of lacking one."""

    def flaws(books: Books) -> Iterator[Flaw]:
        for (found, problem), (other, _) in ((first, second), (second, first)):
            for where, *told in books.rows.each(f"{found} EXCEPT {other}"):
                yield Flaw(str(where), problem.format(*told))

    return Proof(name, holds, flaws)
