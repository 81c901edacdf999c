"""The feed of events: what happened, for those who missed a delivery or prefer to ask."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.terms.actor import Door
from mainstay.terms.rights import Right
from mainstay.terms.shapes import ListInput, Page
from mainstay.values.fields import Moment, id_of
from mainstay.webhooks.model import EventOut, check_kinds
from mainstay.webhooks.store import EVENT


class ListEvents(ListInput):
    """Which events to list."""

    starting_after: Annotated[str | None, id_of("evt", "an event")] = Field(
        default=None,
        description="The id of the last event seen; the list goes on behind it. Where that is kept no longer, every"
        " event that is kept is newer.",
    )
    type: str | None = Field(None, description="Only events of this kind, such as `person.joined`.")
    since: Moment | None = Field(None, description="Only events from then on, such as 2026-11-15T10:30:50Z.")
    order: Literal["oldest", "newest"] = Field("oldest", description="`oldest` first, or `newest`.")


@operation(
    right=Right.EVENTS_READ,
    effect=Effect.READ,
    rest="GET /events",
    offered=frozenset({Door.API, Door.AGENT}),
    glances=True,
)
def list_events(ctx: Context, given: ListEvents) -> Page[EventOut]:
    """List what happened in the organisation, oldest first.

    Events are kept for 30 days, and stand here byte for byte as webhooks are sent them.
    """
    sql, (behind, direction) = EVENT, _ORDERS[given.order]
    if given.type is not None:
        check_kinds(ctx, "type", given.type)
        sql += " AND type = :type"
    if given.since:
        sql += _SINCE
    if given.starting_after:
        sql += f" AND sequence {behind} coalesce({_SEEN}, 0)"
    rows = ctx.rows.all(
        f"{sql} ORDER BY sequence{direction} LIMIT :limit",
        type=given.type,
        since=given.since,
        after=given.starting_after,
        limit=given.limit + 1,
    )
    return Page.cut(EventOut, rows, given.limit)


# What lies behind an event, and which way the list goes.
_ORDERS = {"oldest": (">", ""), "newest": ("<", " DESC")}
_SEEN = "(SELECT sequence FROM event WHERE organisation_id = :organisation AND id = :after)"
# The first event since then is found by its moment, and bounds a walk in the order of the feed.
_SINCE = (
    " AND sequence >= (SELECT sequence FROM event WHERE organisation_id = :organisation AND created_at >= :since"
    " ORDER BY created_at, sequence LIMIT 1)"
)
