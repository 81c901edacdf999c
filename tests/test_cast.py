"""What every test stands on: an organisation that is copied is just like one that operations have made."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast as known_as

import pytest

import cast
from evidence import contents
from installations import Installations
from mainstay.backing.database import WholeDatabase
from mainstay.catalogue import PROOFS
from mainstay.kernel.perform import Stage
from mainstay.safekeeping.checking import check
from mainstay.settings import Settings
from mainstay.staging import open_files, open_stage
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text

FIRST = datetime(2038, 3, 1, 9, 30, tzinfo=UTC)
THEN = FIRST + timedelta(days=40, seconds=1)


def test_what_is_copied_is_what_operations_make_and_its_books_are_sound(
    engine: str, installations: Installations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cast, "_firsts", [])
    settings = installations.furnished(engine, tmp_path)
    stage = open_stage(settings)
    made, copied, again = (_added(stage, at) for at in (FIRST, THEN, FIRST))
    assert sum(map(len, made.values())) > 40
    assert copied == made
    assert again == made
    found = check(known_as("WholeDatabase", stage.database), open_files(settings), THEN, PROOFS)
    assert {one.proof.name: one.flaws for one in found if one.flaws} == {}
    stage.database.close()


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
_OWN = re.compile(r"Organisation \d+|\b[0-9a-f]{64}\b")
