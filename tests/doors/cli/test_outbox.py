"""`outbox`: what failed is seen, tried again, or dropped, in whichever organisation it is."""

from cast import Cast
from commanding import command, commands
from parking import PROBLEM, kept, park
from running import RunningServer


def test_what_failed_is_listed_tried_again_and_dropped(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    mine, other, theirs = park(cast), park(cast), park(stranger)

    listed = command(server.settings, "outbox", "list", "--json").outcome
    assert list(listed) == ["waiting", "failed"]
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


def test_what_has_not_failed_is_not_known(server: RunningServer, cast: Cast) -> None:
    gone = park(cast)
    command(server.settings, "outbox", "drop", gone)
    dropped, retried = commands(server.settings, ("outbox", "drop", gone), ("outbox", "retry", "out_x"))
    assert dropped.refusal == retried.refusal == "There is no failed work with that identifier."
