"""The feed of events: what happened, for those who missed a delivery or prefer to ask."""

from typing import Annotated

from pydantic import Field

from mainstay.kernel.actor import Door
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.rights import Right
from mainstay.kernel.shapes import ListInput, Page
from mainstay.values.fields import id_of
from mainstay.webhooks.model import EventOut, check_kinds
from mainstay.webhooks.store import EVENT


class ListEvents(ListInput):
    """Which events to list."""

    starting_after: Annotated[str | None, id_of("evt", "an event")] = Field(
        default=None,
        description="The id of the last event seen; the list goes on behind it, or with the oldest if that is gone.",
    )
    type: str | None = Field(None, description="Only events of this kind, such as `person.joined`.")


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
    sql = EVENT
    if given.type:
        check_kinds(ctx, "type", given.type)
        sql += " AND type = :type"
    if given.starting_after:
        sql += (
            " AND sequence > coalesce("
            "(SELECT sequence FROM event WHERE organisation_id = :organisation AND id = :after), 0)"
        )
    rows = ctx.rows.all(
        f"{sql} ORDER BY sequence LIMIT :limit", type=given.type, after=given.starting_after, limit=given.limit + 1
    )
    return Page.cut(EventOut, rows, given.limit)
