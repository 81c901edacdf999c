"""The activity of the whole organisation, for owners and admins."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Annotated

import orjson
from pydantic import AfterValidator, Field

from mainstay.business.organisation.organisation_settings import settings_of
from mainstay.business.records.audit_reader import limit_records, read_newest_entries
from mainstay.business.records.model import ActivityOut
from mainstay.changes.audit import ActedBy
from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from mainstay.infrastructure.database import Row
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import record_stores_of
from mainstay.values.choices import TextEnum
from mainstay.values.descriptions import describe
from mainstay.values.fields import NOT_AN_ID, Day, make_id_validator
from mainstay.values.ids import is_id
from mainstay.values.message import Message
from mainstay.vocabulary.list_queries import COUNT_LIMIT
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import LastDay, ListInput, PageResult


def _check_client_id(text: str) -> str:
    if not any(is_id(text, prefix) for prefix in ("key", "connection")):
        raise ValueError(Message(NOT_AN_ID, record=Message("a key or a connected app")))
    return text


class DoneBy(TextEnum):
    """Whose acts a list of activity shows: those of agents are all that came through an app, a key or the assistant."""

    AGENT = "agent"
    PERSON = ActedBy.PERSON.value
    ASSISTANT = ActedBy.ASSISTANT.value
    APP = ActedBy.APP.value
    KEY = ActedBy.KEY.value
    CUSTOMER = ActedBy.CUSTOMER.value
    OPERATOR = ActedBy.OPERATOR.value
    SYSTEM = ActedBy.SYSTEM.value

    @property
    def label(self) -> str:
        """The text that people see for it."""
        return "Assistant, apps and API keys" if self is DoneBy.AGENT else ActedBy(self.value).label


class ListActivity(ListInput):
    """Which changes to list."""

    starting_after: Annotated[str | None, Field(pattern="^[0-9]{1,15}$")] = Field(
        None, description="Continue after this ID, the last one of the previous page."
    )
    person_id: Annotated[str | None, make_id_validator("person")] = Field(
        None, title="Person", description="Only by this person, directly or through apps and keys."
    )
    client_id: Annotated[str, AfterValidator(_check_client_id)] | None = Field(
        None, title="App or key", description="Only through this connection or API key."
    )
    acted_by: DoneBy | None = Field(
        None,
        title="Changed by",
        description=describe(
            "[[Only changes by `agent`s (the `assistant`, AI agents and programs, through "
            "an `app` or a `key`), through one of these, by a `person` directly, a "
            "`customer`, the `operator` or Mainstay (`house`).]]"
        ),
    )
    from_: Day | None = Field(None, alias="from", title="From", description="On or after this date.")
    until: LastDay | None = Field(None, description="On or before this date.")


@operation(permission=Permission.ALL_HISTORY_READ, effect=Effect.READ, api_path="GET /activity")
def list_activity(ctx: Context, given: ListActivity) -> PageResult[ActivityOut]:
    """List activity.

    Who changed what in the organisation, newest first, and through which app or key. [[actedBy `agent` shows what
    AI agents and programs did.]]
    """
    settings = settings_of(ctx) if given.from_ or given.until else None
    values = {
        "person_id": given.person_id,
        "client_id": given.client_id,
        "acted_by": given.acted_by if given.acted_by is not DoneBy.AGENT else None,
        "from_at": settings.start_of_day(given.from_) if settings and given.from_ else None,
        "until_at": settings.end_of_day(given.until) if settings and given.until else None,
    }
    filters = {name: value for name, value in values.items() if value is not None}
    agent_condition = [_BY_AGENTS] if given.acted_by is DoneBy.AGENT else []
    rows = read_newest_entries(ctx, given, *agent_condition, *(_CONDITIONS[name] for name in filters), **filters)
    return PageResult.from_rows(ActivityOut, _add_titles(ctx, rows), given.limit)


OPERATIONS = (list_activity,)

# At most this many records of an operation are named. Most operations touch no more.
MAX_NAMED_RECORDS = 3


def _add_titles(ctx: Context, rows: Iterable[Row]) -> list[Row]:
    """Add the titles of the first records to rows of the audit trail.

    People who may read the activity of the organisation see all records of a kind if they see any.
    """
    entries = [limit_records(row) for row in rows]
    record_ids = [orjson.loads(str(records or "[]"))[:MAX_NAMED_RECORDS] for *_, records, _ in entries]
    titles_by_id = find_titles(ctx, chain.from_iterable(record_ids))
    titles = [
        {record_id: titles_by_id[record_id] for record_id in records if record_id in titles_by_id}
        for records in record_ids
    ]
    return [(*entry, orjson.dumps(entry_titles).decode()) for entry, entry_titles in zip(entries, titles, strict=True)]


def find_titles(ctx: Context, record_ids: Iterable[str]) -> dict[str, str]:
    """Return the titles of records by id, with one query for each kind that the actor may read.

    The caller passes only ids that the actor may see.
    """
    ids_by_prefix = defaultdict[str, list[str]](list)
    for record_id in record_ids:
        ids_by_prefix[record_id.partition("_")[0]].append(record_id)
    titles: dict[str, str] = {}
    for prefix, ids in ids_by_prefix.items():
        store, permission = record_stores_of(ctx).get(prefix, (None, None))
        if store and permission and ctx.actor.can(permission):
            rows = select_batched(ctx.db, f"{store.select_all} AND {store.table}.id IN {BATCH_VALUES}", ids)
            titles |= {
                record.id: ctx.request.message_format.render(record.name_in_messages)
                for record in map(store.from_row, rows)
            }
    return titles


def count_app_changes(ctx: Context, day: str) -> int:
    """Count the changes made by connected apps since a date, up to a limit."""
    row = ctx.db.one(
        "SELECT count(*) FROM (SELECT 1 AS one FROM audit a WHERE a.organisation_id = :organisation"
        f" AND {_CONDITIONS['acted_by']} AND {_CONDITIONS['from_at']} LIMIT {COUNT_LIMIT}) AS counted",
        acted_by=ActedBy.APP,
        from_at=settings_of(ctx).start_of_day(day),
    )
    return int(row[0] or 0) if row else 0


# Only what acts in someone's name has a client id. Written exactly as in the index.
_BY_AGENTS = "a.client_id IS NOT NULL"
_CONDITIONS = {
    "person_id": "a.person_id = :person_id",
    "client_id": "a.client_id = :client_id",
    "acted_by": "a.acted_by = :acted_by",
    "from_at": "a.at >= :from_at",
    "until_at": "a.at < :until_at",
}
