from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from mainstay.identity.keys import list_keys
from mainstay.identity.last_used import LastUsed
from mainstay.infrastructure.database import DatabaseUnavailable
from support.cast import Cast
from support.recorded_statements import RecordingDatabase, RecordingHandle
from support.stored_state import actor_with_key

EARLY, LATE = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)


class UnreachableDatabase(RecordingDatabase):
    """A database that cannot be written to until `unreachable` is set to false."""

    unreachable = True

    @contextmanager
    def write_transaction(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        if self.unreachable:
            raise DatabaseUnavailable
        with super().write_transaction(organisation, keep=keep) as db:
            yield db


def last_used_by_key(cast: Cast) -> dict[str, str | None]:
    return {key["id"]: key["lastUsedAt"] for key in cast.perform(list_keys)["data"]}


def test_uses_are_written_together(cast: Cast, other_cast: Cast) -> None:
    used, unused, others = cast.make_key(), cast.make_key(), other_cast.make_key()
    last_used = LastUsed(cast.performer.database)
    for owner, key in ((cast, used), (other_cast, others)):
        last_used.note_use(owner.organisation, actor_with_key(owner, key).credential, EARLY)
    assert {*last_used_by_key(cast).values()} == {None}

    last_used.write_uses()
    assert last_used_by_key(cast) == {
        actor_with_key(cast, used).credential: "2030-01-01T00:00:00.000Z",
        actor_with_key(cast, unused).credential: None,
    }
    assert [*last_used_by_key(other_cast).values()] == ["2030-01-01T00:00:00.000Z"]


def test_an_earlier_use_does_not_replace_a_later_one_from_another_process(cast: Cast) -> None:
    key_id = actor_with_key(cast, cast.make_key()).credential
    this_process, other_process = LastUsed(cast.performer.database), LastUsed(cast.performer.database)
    this_process.note_use(cast.organisation, key_id, EARLY)
    other_process.note_use(cast.organisation, key_id, LATE)
    other_process.write_uses()
    this_process.write_uses()
    assert last_used_by_key(cast) == {key_id: "2030-01-02T00:00:00.000Z"}


def test_a_use_is_written_only_once(cast: Cast) -> None:
    key_id = actor_with_key(cast, cast.make_key()).credential
    last_used = LastUsed(cast.performer.database)
    last_used.note_use(cast.organisation, key_id, EARLY)
    last_used.write_uses()
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE api_key SET last_used_at = NULL WHERE organisation_id = :organisation")
    last_used.write_uses()
    assert last_used_by_key(cast) == {key_id: None}


def test_uses_that_could_not_be_written_are_written_the_next_time(cast: Cast) -> None:
    first, second = (actor_with_key(cast, cast.make_key()).credential for _ in range(2))
    database = UnreachableDatabase(cast.performer.database)
    last_used = LastUsed(database)
    last_used.note_use(cast.organisation, first, EARLY)
    last_used.note_use(cast.organisation, second, EARLY)
    with pytest.raises(DatabaseUnavailable):
        last_used.write_uses()
    last_used.note_use(cast.organisation, second, LATE)
    database.unreachable = False
    last_used.write_uses()
    assert last_used_by_key(cast) == {second: "2030-01-02T00:00:00.000Z", first: "2030-01-01T00:00:00.000Z"}
