import hashlib
from contextlib import AbstractContextManager
from typing import Any

import apsw
import orjson
import psycopg
import pytest

from mainstay.business.people.operations import invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.changes import audit
from mainstay.infrastructure.database import ALL_ORGANISATIONS, DatabaseUnavailable, SchemaHandle
from mainstay.vocabulary.actor import ActorKind, Stamp
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict
from mainstay.webhooks.endpoints import create_webhook, delete_webhook
from support.cast import Cast
from support.stored_state import actor_with_key, operations_on, read_trail, records_in_trail

# How someone with access to the database can remove the guards of the audit trail.
DROP_GUARDS = {
    "sqlite": "DROP TRIGGER IF EXISTS audit_is_not_changed;\nDROP TRIGGER IF EXISTS audit_is_not_removed;",
    "postgresql": "ALTER TABLE audit DISABLE TRIGGER USER;",
}


def find_first_break(cast: Cast) -> int | None:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return audit.find_break(db)


def open_schema(cast: Cast) -> AbstractContextManager[SchemaHandle]:
    database: Any = cast.performer.database
    opened: AbstractContextManager[SchemaHandle] = database.migration_transaction()
    return opened


def tamper(cast: Cast, sql: str, **given: int) -> None:
    with open_schema(cast) as schema:
        schema.run_script(DROP_GUARDS[cast.performer.database.engine])
        assert schema.run(sql, **given) == 1


def make_changes(cast: Cast, acts: int = 6) -> None:
    for number in range(acts):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], phone=str(number))


def test_the_chain_is_whole_after_many_changes(cast: Cast) -> None:
    make_changes(cast)
    cast.perform(invite_person, name="Zoë «☂»", email="z@new.example", role="member")
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert find_first_break(cast) is None
    assert [entry["sequence"] for entry in read_trail(cast)] == [*range(1, 14)]


def test_the_chain_is_followed_over_more_rows_than_are_read_at_once(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_BATCH_SIZE", 3)
    make_changes(cast, 10)
    assert find_first_break(cast) is None


def test_each_organisation_has_a_chain_of_its_own(cast: Cast, other_cast: Cast) -> None:
    make_changes(cast, 2)
    make_changes(other_cast, 2)
    make_changes(cast, 1)
    assert find_first_break(cast) is None
    assert find_first_break(other_cast) is None


def test_the_chain_is_whole_after_a_preview(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER])
    make_changes(cast, 1)
    assert find_first_break(cast) is None


@pytest.mark.parametrize(
    "column", ["at", "actor", "request_id", "operation", "given", "events", "records", "changed", "row_hashes", "hash"]
)
def test_an_altered_row_is_found(only_cast: Cast, column: str) -> None:
    make_changes(only_cast)
    tamper(only_cast, f"UPDATE audit SET {column} = {column} || ' ' WHERE sequence = :row", row=8)
    assert find_first_break(only_cast) == 8


def test_a_row_taken_out_is_found(only_cast: Cast) -> None:
    make_changes(only_cast)
    tamper(only_cast, "DELETE FROM audit WHERE sequence = :row", row=8)
    assert find_first_break(only_cast) == 9


def test_a_row_taken_out_is_found_though_the_rest_is_numbered_anew(only_cast: Cast) -> None:
    make_changes(only_cast, 4)
    tamper(only_cast, "DELETE FROM audit WHERE sequence = :row", row=8)
    with only_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        db.run("UPDATE audit SET sequence = 8 WHERE sequence = 9")
    assert find_first_break(only_cast) == 8


def test_the_first_row_taken_out_is_found(only_cast: Cast) -> None:
    tamper(only_cast, "DELETE FROM audit WHERE sequence = :row", row=1)
    assert find_first_break(only_cast) == 2


@pytest.mark.parametrize("column", ["records", "changed", "row_hashes"])
def test_a_row_of_which_something_was_taken_out_is_found(only_cast: Cast, column: str) -> None:
    make_changes(only_cast)
    tamper(only_cast, f"UPDATE audit SET {column} = NULL WHERE sequence = :row", row=8)
    assert find_first_break(only_cast) == 8


# The columns of a row before it named records, and before it noted which fields had changed.
COLUMNS_WITHOUT_RECORDS = "sequence, at, actor, request_id, operation, given, events"
COLUMNS_WITHOUT_CHANGES = f"{COLUMNS_WITHOUT_RECORDS}, records"


def rewrite_chain(cast: Cast, column_names: str) -> None:
    """Rewrite the whole audit chain with only these columns hashed, as earlier versions did."""
    with open_schema(cast) as schema:
        schema.run_script(DROP_GUARDS[cast.performer.database.engine])
        schema.run("UPDATE audit SET changed = NULL, row_hashes = NULL")
        if column_names == COLUMNS_WITHOUT_RECORDS:
            schema.run("UPDATE audit SET records = NULL")
        previous = "0" * 64
        for sequence, *values in schema.all(f"SELECT {column_names} FROM audit ORDER BY sequence"):
            previous = hashlib.sha256(orjson.dumps([previous, sequence, *values])).hexdigest()
            schema.run("UPDATE audit SET hash = :hash WHERE sequence = :sequence", hash=previous, sequence=sequence)


@pytest.mark.parametrize(
    ("said", "added"), [(COLUMNS_WITHOUT_RECORDS, "records = '[]'"), (COLUMNS_WITHOUT_CHANGES, "changed = '{}'")]
)
def test_a_chain_goes_on_behind_rows_that_said_less(only_cast: Cast, said: str, added: str) -> None:
    make_changes(only_cast, 3)
    rewrite_chain(only_cast, said)
    assert find_first_break(only_cast) is None
    make_changes(only_cast, 3)
    assert find_first_break(only_cast) is None
    tamper(only_cast, f"UPDATE audit SET {added} WHERE sequence = :row", row=4)
    assert find_first_break(only_cast) == 4


def rewrite_without_kinds(cast: Cast) -> None:
    """Rewrite the whole audit chain as it was before stamps named the kind of actor."""
    rewrite_chain(cast, COLUMNS_WITHOUT_CHANGES)
    with open_schema(cast) as schema:
        previous = "0" * 64
        for sequence, at, stamp_text, *values in schema.all(
            f"SELECT {COLUMNS_WITHOUT_CHANGES} FROM audit ORDER BY sequence"
        ):
            stamp = orjson.loads(str(stamp_text))
            del stamp["kind"]
            actor = orjson.dumps(stamp).decode()
            previous = hashlib.sha256(orjson.dumps([previous, sequence, at, actor, *values])).hexdigest()
            changed = "UPDATE audit SET actor = :actor, hash = :hash WHERE sequence = :sequence"
            schema.run(changed, actor=actor, hash=previous, sequence=sequence)


def test_stamps_from_before_they_said_what_acted_are_read_as_they_were_meant(only_cast: Cast) -> None:
    make_changes(only_cast, 2)
    rewrite_without_kinds(only_cast)
    make_changes(only_cast, 1)
    assert find_first_break(only_cast) is None
    stamps = [Stamp.model_validate(entry["actor"]) for entry in read_trail(only_cast)]
    # The operator made the organisation and its people, then its owner worked.
    assert [stamp.kind for stamp in stamps] == [ActorKind.OPERATOR] * 5 + [ActorKind.PERSON] * 3
    assert [stamp.person.name if stamp.person else None for stamp in stamps] == [None] * 5 + ["Olivia Owner"] * 3


def test_every_act_names_the_records_it_touched(cast: Cast) -> None:
    key = actor_with_key(cast, cast.make_key(role=Role.ADMIN)).credential
    person = cast.perform(invite_person, name="N", email="n@new.example", role="member")["id"]
    admin = cast.people[Role.ADMIN]
    cast.perform(update_person, personId=admin, phone="1")
    cast.perform(update_person, personId=admin, phone="1")
    cast.perform(remove_person, personId=admin, confirmed=True)
    webhook = cast.perform(create_webhook, url="https://1.1.1.1/")["id"]
    cast.perform(delete_webhook, webhookId=webhook, confirmed=True)
    named = records_in_trail(cast)
    assert named[0] == [cast.organisation, cast.people[Role.OWNER]]
    # What changes nothing is no act; what ends keys names them too.
    assert named[5:] == [[key], [person], [admin], [key, admin], [webhook], [webhook]]
    assert operations_on(cast, admin) == ["add_person", "update_person", "remove_person"]
    assert operations_on(cast, key) == ["create_key", "remove_person"]


def test_what_is_refused_or_previewed_is_in_nobody_s_history(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=member)
    with pytest.raises(Conflict):
        cast.perform(update_person, personId=member, email="adam@cast.example")
    assert operations_on(cast, member) == ["add_person"]


def test_a_record_s_history_is_its_organisation_s_own(cast: Cast, other_cast: Cast) -> None:
    assert operations_on(other_cast, cast.people[Role.MEMBER]) == []


@pytest.mark.only_on("sqlite")
def test_a_record_s_history_is_found_by_an_index(cast: Cast) -> None:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        plan = db.all(
            "EXPLAIN QUERY PLAN SELECT sequence FROM audit_record"
            " WHERE organisation_id = :organisation AND record_id = 'x' ORDER BY sequence DESC"
        )
    (step,) = [str(row[3]) for row in plan]
    assert step == "SEARCH audit_record USING PRIMARY KEY (organisation_id=? AND record_id=?)"


@pytest.mark.parametrize("sql", ["UPDATE audit SET given = given", "DELETE FROM audit"])
def test_the_database_itself_refuses_to_change_the_trail(cast: Cast, sql: str) -> None:
    refusals = (apsw.ConstraintError, psycopg.errors.RaiseException, DatabaseUnavailable)
    before = read_trail(cast)
    with (
        pytest.raises(refusals, match="append-only"),
        cast.performer.database.write_transaction(cast.organisation) as db,
    ):
        db.run(f"{sql} WHERE organisation_id = :organisation")
    assert read_trail(cast) == before


def test_the_trail_cannot_be_emptied_at_one_stroke(only_cast: Cast) -> None:
    strokes = {"sqlite": "DELETE FROM audit", "postgresql": "TRUNCATE audit"}
    before = read_trail(only_cast)
    with (
        pytest.raises(Exception, match="append-only"),
        only_cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db,
    ):
        db.run(strokes[only_cast.performer.database.engine])
    assert read_trail(only_cast) == before
