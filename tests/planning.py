"""How an engine would run a statement, as it says itself."""

import itertools
import re

from mainstay.backing.database import EVERY, Database
from recording import Statement

_numbers = itertools.count(1)
# Of a named parameter; a cast has two colons.
PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
# What a small table invites to and a large one would not bear.
_SMALL = ("seqscan", "sort", "bitmapscan", "hashagg", "hashjoin", "mergejoin")


def plan(database: Database, statement: Statement) -> list[str]:
    """The steps; on PostgreSQL those of a prepared statement, whatever it is given, in tables too large to be read."""
    with database.reading(EVERY) as rows:
        if database.engine == "sqlite":
            given = {name: value for name, value in statement.given.items() if name not in {"organisation", "me"}}
            return [str(row[3]) for row in rows.all(f"EXPLAIN QUERY PLAN {statement.sql}", **given)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(PARAMETER.findall(statement.sql)), 1)}
        sql = PARAMETER.sub(lambda found: f"${numbers[found[1]]}", statement.sql)
        for way in _SMALL:
            rows.run(f"SET LOCAL enable_{way} = off")
        # Each time in other words, so that it is never prepared: it has parameters and is given none.
        return [str(step) for (step,) in rows.all(f"EXPLAIN (GENERIC_PLAN) {sql} -- {next(_numbers)}")]


# What is read to its end because it was made by the statement itself, and is short.
_MADE = re.compile(r"^SCAN (found|cut|counted|newest_\w+|CONSTANT ROW|\(subquery-\d+\))\b")


def read_whole(steps: list[str]) -> list[str]:
    """The steps that read a table, or a whole index, from its beginning."""
    return [step for step in steps if "Seq Scan" in step or (step.startswith("SCAN") and not _MADE.match(step))]
