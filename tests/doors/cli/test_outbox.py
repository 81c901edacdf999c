"""`outbox`: what failed is seen, tried again, or dropped, in whichever organisation it is."""

from datetime import UTC, datetime, timedelta

from cast import Cast, assemble
from commanding import command, commands
from mainstay.ledger.outbox import Lane
from mainstay.settings import Settings
from mainstay.staging import open_stage
from parking import PROBLEM, kept, park
from queueing import empty_outbox, put
from running import RunningServer


def test_what_failed_is_listed_tried_again_and_dropped(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    mine, other, theirs = park(cast), park(cast), park(stranger)

    listed = command(server.settings, "outbox", "list", "--json").outcome
    assert list(listed) == ["waiting", "lanes", "failed"]
    found = {work["id"]: (work["organisation"], work["problem"]) for work in listed["failed"]}
    assert (
        found.items()
        >= {
            mine: (cast.organisation, PROBLEM),
            other: (cast.organisation, PROBLEM),
            theirs: (stranger.organisation, PROBLEM),
        }.items()
    )

    assert command(server.settings, "outbox", "drop", mine, "--json").outcome == {"id": mine}
    assert kept(cast, mine) is None
    again = command(server.settings, "outbox", "retry", theirs, "--json").outcome
    assert again == {"id": theirs, "status": "waiting"}
    assert kept(cast, other)


def test_what_waits_is_listed_by_lane(fresh_settings: Settings) -> None:
    stage = open_stage(fresh_settings)
    empty, waiting = assemble(stage), datetime(2026, 1, 1, tzinfo=UTC)
    empty_outbox(empty)
    put(empty, "mail", waiting + timedelta(hours=1), lane=Lane.EMAILS)
    put(empty, "mail", waiting, lane=Lane.EMAILS)
    put(empty, "print", waiting, lane=Lane.PRINTS)
    stage.database.close()
    listed = command(fresh_settings, "outbox", "list", "--json").outcome
    assert listed["waiting"] == 3
    assert listed["lanes"] == [
        {"lane": "events", "waiting": 0, "oldestDueAt": None},
        {"lane": "emails", "waiting": 2, "oldestDueAt": "2026-01-01T00:00:00.000Z"},
        {"lane": "prints", "waiting": 1, "oldestDueAt": "2026-01-01T00:00:00.000Z"},
        {"lane": "days", "waiting": 0, "oldestDueAt": None},
    ]


def test_what_has_not_failed_is_not_known(server: RunningServer, cast: Cast) -> None:
    gone = park(cast)
    command(server.settings, "outbox", "drop", gone)
    dropped, retried = commands(server.settings, ("outbox", "drop", gone), ("outbox", "retry", "out_x"))
    assert dropped.refusal == retried.refusal == "There is no failed work with that identifier."
