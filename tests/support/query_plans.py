"""How an engine would run a statement, by its own EXPLAIN."""

import itertools
import re

from mainstay.infrastructure.database import ALL_ORGANISATIONS, Database
from support.recorded_statements import RecordedStatement

_statement_numbers = itertools.count(1)
# Of a named parameter; a cast has two colons.
PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
# Steps that are cheap for a small table and too slow for a large one.
_DISABLED_STEPS = ("seqscan", "sort", "bitmapscan", "hashagg", "hashjoin", "mergejoin")


def explain(database: Database, statement: RecordedStatement) -> list[str]:
    """Return the steps of a statement; on PostgreSQL those of a prepared one, in tables too large to be scanned."""
    with database.read_transaction(ALL_ORGANISATIONS) as db:
        if database.engine == "sqlite":
            given = {name: value for name, value in statement.given.items() if name not in {"organisation", "me"}}
            return [str(row[3]) for row in db.all(f"EXPLAIN QUERY PLAN {statement.sql}", **given)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(PARAMETER.findall(statement.sql)), 1)}
        sql = PARAMETER.sub(lambda found: f"${numbers[found[1]]}", statement.sql)
        for step_kind in _DISABLED_STEPS:
            db.run(f"SET LOCAL enable_{step_kind} = off")
        # Each time in other words, so that it is never prepared: it has parameters and is given none.
        return [str(step) for (step,) in db.all(f"EXPLAIN (GENERIC_PLAN) {sql} -- {next(_statement_numbers)}")]


# What is read to its end because it was made by the statement itself, and is short.
_DERIVED_SCAN = re.compile(r"^SCAN (found|cut|counted|newest_\w+|CONSTANT ROW|\(subquery-\d+\))\b")


def find_full_scans(steps: list[str]) -> list[str]:
    """Return the steps that read a whole table or a whole index."""
    return [step for step in steps if "Seq Scan" in step or (step.startswith("SCAN") and not _DERIVED_SCAN.match(step))]
