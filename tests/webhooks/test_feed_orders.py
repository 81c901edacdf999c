"""The feed from either end, and since a moment."""

from dataclasses import replace
from itertools import product
from typing import Any

import orjson
import pytest

from mainstay.business.people.operations import update_person
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from mainstay.webhooks.feed import list_events
from support.cast import Cast
from support.query_plans import explain
from support.recorded_statements import RecordingDatabase


def sequences(cast: Cast, **given: Any) -> list[int]:
    return [event["sequence"] for event in cast.perform(list_events, **given)["data"]]


def set_moment(cast: Cast, sequence: int, at: str) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE event SET created_at = :at WHERE organisation_id = :organisation AND sequence = :sequence",
            at=at,
            sequence=sequence,
        )


@pytest.fixture
def six_days(cast: Cast) -> Cast:
    """Six events, one a day."""
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    for sequence in range(1, 7):
        set_moment(cast, sequence, f"2026-11-0{sequence}T12:00:00.000Z")
    return cast


def test_the_newest_come_first_where_that_is_asked_for(cast: Cast) -> None:
    assert sequences(cast) == sequences(cast, order="oldest") == [1, 2, 3, 4, 5]
    assert sequences(cast, order="newest") == [5, 4, 3, 2, 1]
    assert sequences(cast, order="newest", limit=1) == [5]


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_the_pages_together_are_the_whole_feed_from_either_end(cast: Cast, order: str) -> None:
    whole = cast.perform(list_events, order=order)["data"]
    found: list[dict[str, Any]] = []
    behind: dict[str, str] = {}
    more = True
    while more:
        page = cast.perform(list_events, order=order, limit=2, **behind)
        found += page["data"]
        more, behind = page["hasMore"], {"startingAfter": found[-1]["id"]}
    assert found == whole
    assert len(whole) == 5


def test_whoever_last_saw_what_is_kept_no_longer_finds_nothing_older(cast: Cast) -> None:
    gone = new_id("evt")
    assert sequences(cast, startingAfter=gone) == [1, 2, 3, 4, 5]
    assert sequences(cast, startingAfter=gone, order="newest") == []


def test_since_a_moment_only_what_happened_from_then_on_is_listed(six_days: Cast) -> None:
    assert sequences(six_days, since="2026-11-03T12:00:00Z") == [3, 4, 5, 6]
    assert sequences(six_days, since="2026-11-03T12:00:00.001Z") == [4, 5, 6]
    assert sequences(six_days, since="2026-11-03T13:30:00+01:00", order="newest") == [6, 5, 4]
    assert sequences(six_days, since="2026-11-07T00:00:00Z") == []
    assert sequences(six_days, since="2000-01-01T00:00:00Z") == [1, 2, 3, 4, 5, 6]


def test_kind_moment_and_place_narrow_together(six_days: Cast) -> None:
    joined = six_days.perform(list_events, type="person.joined")["data"]
    given = {"type": "person.joined", "since": "2026-11-02T00:00:00Z"}
    assert sequences(six_days, **given) == [2, 3, 4, 5]
    assert sequences(six_days, **given, startingAfter=joined[2]["id"]) == [4, 5]
    assert sequences(six_days, **given, startingAfter=joined[3]["id"], order="newest") == [3, 2]
    assert sequences(six_days, type="person.updated", since="2026-11-06T12:00:00Z") == [6]


def test_another_organisation_s_events_bound_nothing(six_days: Cast, other_cast: Cast) -> None:
    set_moment(other_cast, 5, "2026-11-03T00:00:00.000Z")
    assert sequences(six_days, since="2026-11-03T00:00:00Z") == [3, 4, 5, 6]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"order": "random"}, "order: is not one of 'oldest' or 'newest'"),
        ({"since": "yesterday"}, "since: is not a moment such as 2026-11-15T10:30:50Z"),
        ({"since": "2026-11-15"}, "since: is not a moment such as 2026-11-15T10:30:50Z"),
    ],
)
def test_a_wrong_parameter_is_refused(cast: Cast, given: dict[str, str], told: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(list_events, **given)
    assert refusal.value.text == told


def test_every_way_to_ask_walks_an_index(cast: Cast) -> None:
    database = RecordingDatabase(cast.performer.database)
    performer = replace(cast.performer, database=database)
    ways: dict[str, list[str | None]] = {
        "type": [None, "person.joined"],
        "since": [None, "2026-11-03T12:00:00Z"],
        "startingAfter": [None, new_id("evt")],
        "order": ["oldest", "newest"],
    }
    for chosen in product(*ways.values()):
        given = {name: value for name, value in zip(ways, chosen, strict=True) if value}
        performer.perform(list_events, cast.actor(Role.OWNER), orjson.dumps(given), RequestDetails("req_1"))
    statements = {statement.sql: statement for statement in database.statements}
    assert len(statements) == 16
    for sql, statement in statements.items():
        steps = explain(cast.performer.database, statement)
        assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN") or "Sort" in step], sql
        assert not [step for step in steps if "Seq Scan" in step], sql
        if "created_at >=" in sql:
            assert [step for step in steps if "event_by_moment" in step], sql
