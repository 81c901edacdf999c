"""The step by which acts are found by whose hand they were done, and through which key or app."""

from typing import Any

import orjson
import pytest

from earlier import open_before
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.settings import Settings

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("who_acted")]
HERE, ELSEWHERE = "org_01M7000000000000000000000A", "org_01M7000000000000000000000B"
ANN: dict[str, Any] = {"id": "person_1", "name": 'Ann "client":{'}
KEY, APP = {"id": "key_1", "name": "Till"}, {"id": "connection_1", "name": "Claude"}


def stamp(kind: str | None, person: object, client: object = None) -> str:
    told = {"person": person, "via": {"door": "api", "client": client}}
    return orjson.dumps({"kind": kind, **told} if kind else told).decode()


# Each stamp, what was noted beside it of the person, and what is known of it then.
KNOWN: list[tuple[str, str | None, tuple[str | None, str | None, str]]] = [
    (stamp("person", ANN), "person_1", ("person_1", None, "person")),
    (stamp("person", ANN, KEY), "person_1", ("person_1", "key_1", "key")),
    (stamp("person", ANN, APP), "person_1", ("person_1", "connection_1", "app")),
    (stamp("customer", None), None, (None, None, "customer")),
    (stamp("house", None), None, (None, None, "house")),
    (stamp("operator", None), None, (None, None, "operator")),
    # Before people were noted, and before stamps said what acted.
    (stamp("person", ANN), None, ("person_1", None, "person")),
    (stamp(None, ANN), None, ("person_1", None, "person")),
    (stamp(None, ANN, KEY), None, ("person_1", "key_1", "key")),
    (stamp(None, None), None, (None, None, "operator")),
]


def test_acts_of_every_organisation_are_found_by_who_did_them_and_are_not_changed_otherwise(
    fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = "sequence, at, actor, request_id, operation, given, events, records, changed, hash"
    with open_before(STEP.number, fresh_settings, monkeypatch, HERE, ELSEWHERE) as database:
        for organisation in (HERE, ELSEWHERE):
            with database.changing(organisation) as rows:
                for number, (actor, person, _) in enumerate(KNOWN, 1):
                    rows.run(
                        "INSERT INTO audit (organisation_id, sequence, at, actor, request_id, operation, given, events,"
                        " records, hash, person_id)"
                        " VALUES (:organisation, :number, '', :actor, '', '', '{}', '[]', '[]', :hash, :person)",
                        number=number,
                        actor=actor,
                        hash=f"hash {number}",
                        person=person,
                    )
        with database.reading(HERE) as rows:
            before = rows.all(f"SELECT {rest} FROM audit WHERE organisation_id = :organisation ORDER BY sequence")
        assert STEP.name in migrate(database)
        for organisation in (HERE, ELSEWHERE):
            with database.reading(organisation) as rows:
                found = rows.all(
                    "SELECT person_id, client_id, acted_by FROM audit WHERE organisation_id = :organisation"
                    " AND operation <> 'hash_rows' ORDER BY sequence"
                )
                assert [*found] == [known for *_, known in KNOWN]
        with database.reading(HERE) as rows:
            after = rows.all(
                f"SELECT {rest} FROM audit WHERE organisation_id = :organisation AND operation <> 'hash_rows'"
                " ORDER BY sequence"
            )
        assert after == before
        # And it is as much a trail as before.
        with pytest.raises(Exception, match="append-only"), database.changing(HERE) as rows:
            rows.run("UPDATE audit SET acted_by = 'house' WHERE organisation_id = :organisation")
