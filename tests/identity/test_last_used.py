from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from cast import Cast
from evidence import holder
from mainstay.backing.database import Unreachable
from mainstay.identity.keys import list_keys
from mainstay.identity.last_used import LastUsed
from recording import RecordingDatabase, RecordingHandle

EARLY, LATE = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)


class Away(RecordingDatabase):
    """A database that cannot be reached at first."""

    away = True

    @contextmanager
    def changing(self, organisation: str, *, keep: bool = True) -> Iterator[RecordingHandle]:
        if self.away:
            raise Unreachable
        with super().changing(organisation, keep=keep) as rows:
            yield rows


def shown(cast: Cast) -> dict[str, str | None]:
    return {key["id"]: key["lastUsedAt"] for key in cast.perform(list_keys)["data"]}


def test_uses_are_written_together(cast: Cast, stranger: Cast) -> None:
    used, unused, foreign = cast.key(), cast.key(), stranger.key()
    last_used = LastUsed(cast.stage.database)
    for organisation, key in ((cast, used), (stranger, foreign)):
        last_used.note(organisation.organisation, holder(organisation, key).credential, EARLY)
    assert {*shown(cast).values()} == {None}

    last_used.write()
    assert shown(cast) == {
        holder(cast, used).credential: "2030-01-01T00:00:00.000Z",
        holder(cast, unused).credential: None,
    }
    assert [*shown(stranger).values()] == ["2030-01-01T00:00:00.000Z"]


def test_a_later_use_that_another_process_saw_is_kept(cast: Cast) -> None:
    identity = holder(cast, cast.key()).credential
    here, there = LastUsed(cast.stage.database), LastUsed(cast.stage.database)
    here.note(cast.organisation, identity, EARLY)
    there.note(cast.organisation, identity, LATE)
    there.write()
    here.write()
    assert shown(cast) == {identity: "2030-01-02T00:00:00.000Z"}


def test_nothing_is_written_twice(cast: Cast) -> None:
    identity = holder(cast, cast.key()).credential
    last_used = LastUsed(cast.stage.database)
    last_used.note(cast.organisation, identity, EARLY)
    last_used.write()
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE api_key SET last_used_at = NULL WHERE organisation_id = :organisation")
    last_used.write()
    assert shown(cast) == {identity: None}


def test_what_could_not_be_written_is_written_the_next_time(cast: Cast) -> None:
    first, second = (holder(cast, cast.key()).credential for _ in range(2))
    database = Away(cast.stage.database)
    last_used = LastUsed(database)
    last_used.note(cast.organisation, first, EARLY)
    last_used.note(cast.organisation, second, EARLY)
    with pytest.raises(Unreachable):
        last_used.write()
    last_used.note(cast.organisation, second, LATE)
    database.away = False
    last_used.write()
    assert shown(cast) == {second: "2030-01-02T00:00:00.000Z", first: "2030-01-01T00:00:00.000Z"}
