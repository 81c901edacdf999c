"""`check`: checks every invariant on one consistent state of the database, while others go on working."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from mainstay.infrastructure.database import MigratableDatabase
from mainstay.infrastructure.files import FileStore
from mainstay.infrastructure.invariants import CheckContext, Invariant
from mainstay.values.moments import moment_text

# So many violations of an invariant are listed. The others are only counted.
MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The violations of one invariant; none if it holds."""

    invariant: Invariant
    violations: list[dict[str, Any]]
    more: int

    @property
    def report(self) -> dict[str, Any]:
        """The result as the command prints it."""
        return {"name": self.invariant.name, "holds": self.invariant.rule, "flaws": self.violations, "more": self.more}


def check_invariants(
    database: MigratableDatabase, files: FileStore, now: datetime, invariants: Sequence[Invariant]
) -> Iterator[CheckResult]:
    """Check the invariants one after the other.

    If a prerequisite does not hold, stop: the others depend on it.
    """
    with database.scan_transaction() as rows:
        rows.now = lambda: moment_text(now)
        context = CheckContext(rows, database.engine, files, now, database.temporary_schema)
        for invariant in invariants:
            violations = _find_violations(invariant, context)
            result = CheckResult(invariant, list(islice(violations, MAX_LISTED)), sum(1 for _ in violations))
            yield result
            if result.violations and invariant.stops_check:
                return


def _find_violations(invariant: Invariant, context: CheckContext) -> Iterator[dict[str, Any]]:
    if invariant.is_installation_wide:
        yield from ({"organisation": None, **violation._asdict()} for violation in invariant.find_violations(context))
        return
    for (organisation,) in context.db.stream("SELECT id FROM organisation"):
        own = context._replace(db=context.db.for_organisation(str(organisation)))
        yield from (
            {"organisation": organisation, **violation._asdict()} for violation in invariant.find_violations(own)
        )
