"""`outbox`: what failed is seen, tried again, or dropped, in whichever organisation it is."""

from datetime import UTC, datetime, timedelta

from mainstay.changes.outbox import Lane
from mainstay.composition import open_performer
from mainstay.settings import Settings
from support.cast import Cast, make_cast
from support.command_line import run_command, run_commands
from support.failed_work import PROBLEM, park_new_task, read_task_state
from support.outbox_tasks import empty_outbox, put_task
from support.servers import RunningServer


def test_what_failed_is_listed_tried_again_and_dropped(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    mine, other, theirs = park_new_task(cast), park_new_task(cast), park_new_task(other_cast)

    listed = run_command(server.settings, "outbox", "list", "--json").json
    assert list(listed) == ["waiting", "lanes", "failed"]
    found = {work["id"]: (work["organisation"], work["problem"]) for work in listed["failed"]}
    assert (
        found.items()
        >= {
            mine: (cast.organisation, PROBLEM),
            other: (cast.organisation, PROBLEM),
            theirs: (other_cast.organisation, PROBLEM),
        }.items()
    )

    assert run_command(server.settings, "outbox", "drop", mine, "--json").json == {"id": mine}
    assert read_task_state(cast, mine) is None
    again = run_command(server.settings, "outbox", "retry", theirs, "--json").json
    assert again == {"id": theirs, "status": "waiting"}
    assert read_task_state(cast, other)


def test_what_waits_is_listed_by_lane(fresh_settings: Settings) -> None:
    performer = open_performer(fresh_settings)
    empty, waiting = make_cast(performer), datetime(2026, 1, 1, tzinfo=UTC)
    empty_outbox(empty)
    put_task(empty, "mail", waiting + timedelta(hours=1), lane=Lane.EMAILS)
    put_task(empty, "mail", waiting, lane=Lane.EMAILS)
    put_task(empty, "print", waiting, lane=Lane.PDFS)
    performer.database.close()
    listed = run_command(fresh_settings, "outbox", "list", "--json").json
    assert listed["waiting"] == 3
    assert listed["lanes"] == [
        {"lane": "events", "waiting": 0, "oldestDueAt": None},
        {"lane": "emails", "waiting": 2, "oldestDueAt": "2026-01-01T00:00:00.000Z"},
        {"lane": "prints", "waiting": 1, "oldestDueAt": "2026-01-01T00:00:00.000Z"},
        {"lane": "days", "waiting": 0, "oldestDueAt": None},
    ]


def test_what_has_not_failed_is_not_known(server: RunningServer, cast: Cast) -> None:
    gone = park_new_task(cast)
    run_command(server.settings, "outbox", "drop", gone)
    dropped, retried = run_commands(server.settings, ("outbox", "drop", gone), ("outbox", "retry", "out_x"))
    assert dropped.error == retried.error == "There is no failed task with that identifier."
