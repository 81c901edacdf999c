"""`check`: every proof of the books, looked at in one state of them while others go on working."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from mainstay.backing.database import WholeDatabase
from mainstay.backing.files import Files
from mainstay.backing.proof import Books, Proof
from mainstay.values.moments import moment_text

# Of what one proof finds, so much is told; the rest is counted.
MOST_TOLD = 100


@dataclass(frozen=True, slots=True)
class Found:
    """What a proof found: nothing, where it holds."""

    proof: Proof
    flaws: list[dict[str, Any]]
    more: int

    @property
    def told(self) -> dict[str, Any]:
        """As the command tells it."""
        return {"name": self.proof.name, "holds": self.proof.holds, "flaws": self.flaws, "more": self.more}


def check(database: WholeDatabase, files: Files, now: datetime, proofs: Sequence[Proof]) -> Iterator[Found]:
    """Look at each proof in turn; where a decisive one does not hold, the rest cannot be looked at."""
    with database.surveying() as rows:
        rows.now = lambda: moment_text(now)
        everything = Books(rows, database.engine, files, now, database.trying)
        for proof in proofs:
            flaws = _flaws(proof, everything)
            found = Found(proof, list(islice(flaws, MOST_TOLD)), sum(1 for _ in flaws))
            yield found
            if found.flaws and proof.decisive:
                return


def _flaws(proof: Proof, everything: Books) -> Iterator[dict[str, Any]]:
    if proof.whole:
        yield from ({"organisation": None, **flaw._asdict()} for flaw in proof.flaws(everything))
        return
    for (organisation,) in everything.rows.each("SELECT id FROM organisation"):
        own = everything._replace(rows=everything.rows.within(str(organisation)))
        yield from ({"organisation": organisation, **flaw._asdict()} for flaw in proof.flaws(own))
