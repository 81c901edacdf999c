"""A copied organisation is just like one that operations have made. Every test relies on that."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from support import cast
from support.installations import Installation
from support.stored_state import read_all_rows

FIRST = datetime(2038, 3, 1, 9, 30, tzinfo=UTC)
THEN = FIRST + timedelta(days=40, seconds=1)


def test_what_is_copied_is_what_operations_make_and_its_books_are_sound(
    own_installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cast, "_first_organisations", [])
    made, copied, again = (_find_added_rows(own_installation.performer, at) for at in (FIRST, THEN, FIRST))
    assert {"organisation", "person", "event", "audit", "search_fresh"} <= {
        table for table, rows in made.items() if rows
    }
    assert copied == made
    assert again == made
    assert own_installation.find_violations(THEN) == {}


def test_where_they_have_no_accounts_yet_operations_open_them(fresh_settings: Settings) -> None:
    performer = open_performer(fresh_settings)
    first, second = (cast.make_cast(performer) for _ in range(2))
    assert first.actor(Role.MEMBER).id == first.people[Role.MEMBER] != second.people[Role.MEMBER]
    assert len(read_all_rows(performer.database)["account"]) == len(Role)
    performer.database.close()


def _find_added_rows(performer: Performer, at: datetime) -> dict[str, list[str]]:
    """Return the rows that a new organisation adds to each table, without its name, moment, ids and hashes."""
    before = read_all_rows(performer.database)
    cast.make_cast(replace(performer, clock=lambda: at))
    rows = {
        table: [repr(row) for row in rows if row not in before[table]]
        for table, rows in read_all_rows(performer.database).items()
    }
    ids = sorted(set(_ID_PATTERN.findall(str(rows))), key=lambda one: one.rpartition("_")[2])
    placeholders = {one: f"{one.partition('_')[0]} {place}" for place, one in enumerate(ids)} | {moment_text(at): "at"}
    for known, word in placeholders.items():
        rows = {table: [row.replace(known, word) for row in found] for table, found in rows.items()}
    return {table: sorted(_NAME_OR_HASH.sub("", row) for row in found) for table, found in rows.items()}


_ID_PATTERN = re.compile(r"\b[a-z]+_[0-9A-Z]{26}\b")
_NAME_OR_HASH = re.compile(r"Organisation \d+|\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
