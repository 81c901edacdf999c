import hashlib
from contextlib import AbstractContextManager
from typing import Any

import apsw
import orjson
import psycopg
import pytest

from cast import Cast
from evidence import history, holder, touched, trail
from mainstay.backing.database import EVERY, SchemaHandle, Unreachable
from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.ledger import audit
from mainstay.terms.actor import ActorKind, Stamp
from mainstay.terms.refusal import Conflict
from mainstay.terms.rights import Role
from mainstay.webhooks.endpoints import create_webhook, delete_webhook

# How a vandal with the database in their hands takes the guard off the trail.
UNGUARD = {
    "sqlite": "DROP TRIGGER IF EXISTS audit_is_not_changed;\nDROP TRIGGER IF EXISTS audit_is_not_removed;",
    "postgresql": "ALTER TABLE audit DISABLE TRIGGER USER;",
}


def first_break(cast: Cast) -> int | None:
    with cast.stage.database.reading(cast.organisation) as rows:
        return audit.first_break(rows)


def schema_of(cast: Cast) -> AbstractContextManager[SchemaHandle]:
    database: Any = cast.stage.database
    opened: AbstractContextManager[SchemaHandle] = database.migrating()
    return opened


def vandalise(cast: Cast, sql: str, **given: int) -> None:
    with schema_of(cast) as schema:
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


@pytest.mark.parametrize(
    "column", ["at", "actor", "request_id", "operation", "given", "events", "records", "changed", "row_hashes", "hash"]
)
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


@pytest.mark.parametrize("column", ["records", "changed", "row_hashes"])
def test_a_row_of_which_something_was_taken_out_is_found(alone: Cast, column: str) -> None:
    work(alone)
    vandalise(alone, f"UPDATE audit SET {column} = NULL WHERE sequence = :row", row=8)
    assert first_break(alone) == 8


# What a row said before records were named, and before it was noted what of them had changed.
UNNAMED = "sequence, at, actor, request_id, operation, given, events"
UNNOTED = f"{UNNAMED}, records"


def as_before(cast: Cast, said: str) -> None:
    """Write the whole chain anew as it was when a row said no more than this: hashed without the rest."""
    with schema_of(cast) as schema:
        schema.script(UNGUARD[cast.stage.database.engine])
        schema.run("UPDATE audit SET changed = NULL, row_hashes = NULL")
        if said == UNNAMED:
            schema.run("UPDATE audit SET records = NULL")
        previous = "0" * 64
        for sequence, *kept in schema.all(f"SELECT {said} FROM audit ORDER BY sequence"):
            previous = hashlib.sha256(orjson.dumps([previous, sequence, *kept])).hexdigest()
            schema.run("UPDATE audit SET hash = :hash WHERE sequence = :sequence", hash=previous, sequence=sequence)


@pytest.mark.parametrize(("said", "added"), [(UNNAMED, "records = '[]'"), (UNNOTED, "changed = '{}'")])
def test_a_chain_goes_on_behind_rows_that_said_less(alone: Cast, said: str, added: str) -> None:
    work(alone, 3)
    as_before(alone, said)
    assert first_break(alone) is None
    work(alone, 3)
    assert first_break(alone) is None
    vandalise(alone, f"UPDATE audit SET {added} WHERE sequence = :row", row=4)
    assert first_break(alone) == 4


def without_kinds(cast: Cast) -> None:
    """Write the whole chain anew as it was before stamps said what acted."""
    as_before(cast, UNNOTED)
    with schema_of(cast) as schema:
        previous = "0" * 64
        for sequence, at, stamped, *kept in schema.all(f"SELECT {UNNOTED} FROM audit ORDER BY sequence"):
            stamp = orjson.loads(str(stamped))
            del stamp["kind"]
            actor = orjson.dumps(stamp).decode()
            previous = hashlib.sha256(orjson.dumps([previous, sequence, at, actor, *kept])).hexdigest()
            changed = "UPDATE audit SET actor = :actor, hash = :hash WHERE sequence = :sequence"
            schema.run(changed, actor=actor, hash=previous, sequence=sequence)


def test_stamps_from_before_they_said_what_acted_are_read_as_they_were_meant(alone: Cast) -> None:
    work(alone, 2)
    without_kinds(alone)
    work(alone, 1)
    assert first_break(alone) is None
    stamps = [Stamp.model_validate(entry["actor"]) for entry in trail(alone)]
    # The operator made the organisation and its people, then its owner worked.
    assert [stamp.kind for stamp in stamps] == [ActorKind.OPERATOR] * 5 + [ActorKind.PERSON] * 3
    assert [stamp.person.name if stamp.person else None for stamp in stamps] == [None] * 5 + ["Olivia Owner"] * 3


def test_every_act_names_the_records_it_touched(cast: Cast) -> None:
    key = holder(cast, cast.key(role=Role.ADMIN)).credential
    person = cast.perform(invite_person, name="N", email="n@new.example", role="member")["id"]
    admin = cast.people[Role.ADMIN]
    cast.perform(update_person, personId=admin, phone="1")
    cast.perform(update_person, personId=admin, phone="1")
    cast.perform(remove_person, personId=admin, confirmed=True)
    webhook = cast.perform(create_webhook, url="https://1.1.1.1/")["id"]
    cast.perform(delete_webhook, webhookId=webhook, confirmed=True)
    named = touched(cast)
    assert named[0] == [cast.organisation, cast.people[Role.OWNER]]
    # What changes nothing is no act; what ends keys names them too.
    assert named[5:] == [[key], [person], [admin], [key, admin], [webhook], [webhook]]
    assert history(cast, admin) == ["add_person", "update_person", "remove_person"]
    assert history(cast, key) == ["create_key", "remove_person"]


def test_what_is_refused_or_rehearsed_is_in_nobody_s_history(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=member)
    with pytest.raises(Conflict):
        cast.perform(update_person, personId=member, email="adam@cast.example")
    assert history(cast, member) == ["add_person"]


def test_a_record_s_history_is_its_organisation_s_own(cast: Cast, stranger: Cast) -> None:
    assert history(stranger, cast.people[Role.MEMBER]) == []


@pytest.mark.only_on("sqlite")
def test_a_record_s_history_is_found_by_an_index(cast: Cast) -> None:
    with cast.stage.database.reading(cast.organisation) as rows:
        plan = rows.all(
            "EXPLAIN QUERY PLAN SELECT sequence FROM audit_record"
            " WHERE organisation_id = :organisation AND record_id = 'x' ORDER BY sequence DESC"
        )
    (step,) = [str(row[3]) for row in plan]
    assert step == "SEARCH audit_record USING PRIMARY KEY (organisation_id=? AND record_id=?)"


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
