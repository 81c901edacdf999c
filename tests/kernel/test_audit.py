import apsw
import psycopg
import pytest

from cast import Cast
from evidence import trail
from mainstay.backing.database import EVERY, Unreachable
from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.kernel.rights import Role
from mainstay.ledger import audit

# How a vandal with the database in their hands takes the guard off the trail.
UNGUARD = {
    "sqlite": "DROP TRIGGER audit_is_not_changed;\nDROP TRIGGER audit_is_not_removed;",
    "postgresql": "ALTER TABLE audit DISABLE TRIGGER USER;",
}


def first_break(cast: Cast) -> int | None:
    with cast.stage.database.reading(cast.organisation) as rows:
        return audit.first_break(rows)


def vandalise(cast: Cast, sql: str, **given: int) -> None:
    with cast.stage.database.migrating() as schema:
        schema.script(UNGUARD[cast.stage.database.engine])
        assert schema.run(sql, **given) == 1


def work(cast: Cast, acts: int = 6) -> None:
    for number in range(acts):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=str(number))


def test_the_chain_is_whole_after_many_changes(cast: Cast) -> None:
    work(cast)
    cast.perform(invite_person, name="Zoë «☂»", email="z@new.example", role="member")
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert first_break(cast) is None
    assert [entry["sequence"] for entry in trail(cast)] == [*range(1, 14)]


def test_the_chain_is_followed_over_more_rows_than_are_read_at_once(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_BATCH", 3)
    work(cast, 10)
    assert first_break(cast) is None


def test_each_organisation_has_a_chain_of_its_own(cast: Cast, stranger: Cast) -> None:
    work(cast, 2)
    work(stranger, 2)
    work(cast, 1)
    assert first_break(cast) is None
    assert first_break(stranger) is None


def test_the_chain_is_whole_after_a_rehearsal(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER])
    work(cast, 1)
    assert first_break(cast) is None


@pytest.mark.parametrize("column", ["at", "actor", "request_id", "operation", "given", "events", "hash"])
def test_an_altered_row_is_found(alone: Cast, column: str) -> None:
    work(alone)
    vandalise(alone, f"UPDATE audit SET {column} = {column} || ' ' WHERE sequence = :row", row=8)
    assert first_break(alone) == 8


def test_a_row_taken_out_is_found(alone: Cast) -> None:
    work(alone)
    vandalise(alone, "DELETE FROM audit WHERE sequence = :row", row=8)
    assert first_break(alone) == 9


def test_a_row_taken_out_is_found_though_the_rest_is_numbered_anew(alone: Cast) -> None:
    work(alone, 4)
    vandalise(alone, "DELETE FROM audit WHERE sequence = :row", row=8)
    with alone.stage.database.changing(EVERY) as rows:
        rows.run("UPDATE audit SET sequence = 8 WHERE sequence = 9")
    assert first_break(alone) == 8


def test_the_first_row_taken_out_is_found(alone: Cast) -> None:
    vandalise(alone, "DELETE FROM audit WHERE sequence = :row", row=1)
    assert first_break(alone) == 2


@pytest.mark.parametrize("sql", ["UPDATE audit SET given = given", "DELETE FROM audit"])
def test_the_database_itself_refuses_to_change_the_trail(cast: Cast, sql: str) -> None:
    refusals = (apsw.ConstraintError, psycopg.errors.RaiseException, Unreachable)
    before = trail(cast)
    with pytest.raises(refusals, match="append-only"), cast.stage.database.changing(cast.organisation) as rows:
        rows.run(f"{sql} WHERE organisation_id = :organisation")
    assert trail(cast) == before


def test_the_trail_cannot_be_emptied_at_one_stroke(alone: Cast) -> None:
    strokes = {"sqlite": "DELETE FROM audit", "postgresql": "TRUNCATE audit"}
    before = trail(alone)
    with pytest.raises(Exception, match="append-only"), alone.stage.database.changing(EVERY) as rows:
        rows.run(strokes[alone.stage.database.engine])
    assert trail(alone) == before
