"""What every test stands on: an organisation that is copied is just like one that operations have made."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import cast
from evidence import contents
from installations import Opened
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text

FIRST = datetime(2038, 3, 1, 9, 30, tzinfo=UTC)
THEN = FIRST + timedelta(days=40, seconds=1)


def test_what_is_copied_is_what_operations_make_and_its_books_are_sound(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cast, "_firsts", [])
    made, copied, again = (_added(opened.stage, at) for at in (FIRST, THEN, FIRST))
    assert {"organisation", "person", "event", "audit", "search_fresh"} <= {
        table for table, rows in made.items() if rows
    }
    assert copied == made
    assert again == made
    assert opened.flaws(THEN) == {}


def test_where_they_have_no_accounts_yet_operations_open_them(fresh_settings: Settings) -> None:
    stage = open_stage(fresh_settings)
    first, second = (cast.assemble(stage) for _ in range(2))
    assert first.actor(Role.MEMBER).id == first.people[Role.MEMBER] != second.people[Role.MEMBER]
    assert len(contents(stage.database)["account"]) == len(Role)
    stage.database.close()


def _added(stage: Stage, at: datetime) -> dict[str, list[str]]:
    """What an organisation of this moment adds to each table, told without its name, its moment, its ids and hashes."""
    before = contents(stage.database)
    cast.assemble(replace(stage, clock=lambda: at))
    rows = {
        table: [repr(row) for row in rows if row not in before[table]]
        for table, rows in contents(stage.database).items()
    }
    ids = sorted(set(_ID.findall(str(rows))), key=lambda one: one.rpartition("_")[2])
    told = {one: f"{one.partition('_')[0]} {place}" for place, one in enumerate(ids)} | {moment_text(at): "at"}
    for known, word in told.items():
        rows = {table: [row.replace(known, word) for row in found] for table, found in rows.items()}
    return {table: sorted(_OWN.sub("", row) for row in found) for table, found in rows.items()}


_ID = re.compile(r"\b[a-z]+_[0-9A-Z]{26}\b")
_OWN = re.compile(r"Organisation \d+|\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
