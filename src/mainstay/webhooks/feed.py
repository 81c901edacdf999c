"""The feed of events, for receivers that missed a delivery or prefer to poll."""

from typing import Annotated, Literal

from pydantic import Field

from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import Moment, make_id_validator
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import ListInput, PageResult
from mainstay.webhooks.model import EventOut, check_kinds
from mainstay.webhooks.store import SELECT_EVENT


class ListEvents(ListInput):
    """Which events to list."""

    starting_after: Annotated[str | None, make_id_validator("evt", "an event")] = Field(
        default=None,
        description="The ID of the last event you have; the list continues after it. If that event was deleted, it"
        " starts with the oldest one kept.",
    )
    type: str | None = Field(None, description=describe("[[Only events of this type, such as `person.joined`.]]"))
    since: Moment | None = Field(None, description="Only events since this time, such as 2026-11-15T10:30:50Z.")
    order: Literal["oldest", "newest"] = Field("oldest", description=describe("[[`oldest` first, or `newest`.]]"))


@operation(
    permission=Permission.EVENTS_READ,
    effect=Effect.READ,
    api_path="GET /events",
    doors=frozenset({Door.API, Door.AGENT}),
    single_statement=True,
)
def list_events(ctx: Context, given: ListEvents) -> PageResult[EventOut]:
    """List events.

    What happened in the organisation, oldest first, exactly as sent to webhooks. Events are kept for 30 days.
    """
    sql, (comparison, direction) = SELECT_EVENT, _ORDERS[given.order]
    if given.type is not None:
        check_kinds(ctx, "type", given.type)
        sql += " AND type = :type"
    if given.since:
        sql += _SINCE
    if given.starting_after:
        sql += f" AND sequence {comparison} coalesce({_LAST_SEEN}, 0)"
    rows = ctx.db.all(
        f"{sql} ORDER BY sequence{direction} LIMIT :limit",
        type=given.type,
        since=given.since,
        after=given.starting_after,
        limit=given.limit + 1,
    )
    return PageResult.from_rows(EventOut, rows, given.limit)


# How the rows after an event compare with it, and the direction of the list.
_ORDERS = {"oldest": (">", ""), "newest": ("<", " DESC")}
_LAST_SEEN = "(SELECT sequence FROM event WHERE organisation_id = :organisation AND id = :after)"
# The first event since that time is found by its timestamp, and limits the scan in the order of the feed.
_SINCE = (
    " AND sequence >= (SELECT sequence FROM event WHERE organisation_id = :organisation AND created_at >= :since"
    " ORDER BY created_at, sequence LIMIT 1)"
)
