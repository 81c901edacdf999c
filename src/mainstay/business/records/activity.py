"""All that happened in the organisation, for those who rule over it."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Annotated

import orjson
from pydantic import AfterValidator, Field

from mainstay.backing.among import THESE, among
from mainstay.backing.database import Row
from mainstay.business.organisation.house import house_of
from mainstay.business.records.model import ActivityOut
from mainstay.business.records.trail import newest_acts, some_records
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.ledger.audit import ActedBy
from mainstay.terms.listed import COUNTED
from mainstay.terms.rights import Right
from mainstay.terms.shapes import LastDay, ListInput, Page
from mainstay.values.fields import NO_ID, Day, id_of
from mainstay.values.ids import is_id
from mainstay.values.words import Word


def _of_a_client(text: str) -> str:
    if not any(is_id(text, prefix) for prefix in ("key", "connection")):
        raise ValueError(f"{NO_ID} a key or a connected app")
    return text


class DoneBy(Word):
    """Whose acts a list of activity shows: those of agents are all that came through an app or a key."""

    AGENT = "agent"
    PERSON = ActedBy.PERSON.value
    APP = ActedBy.APP.value
    KEY = ActedBy.KEY.value
    CUSTOMER = ActedBy.CUSTOMER.value
    OPERATOR = ActedBy.OPERATOR.value
    HOUSE = ActedBy.HOUSE.value

    @property
    def words(self) -> str:
        """What people call all of these."""
        return "Agents and programs (apps and keys)" if self is DoneBy.AGENT else ActedBy(self.value).words


class ListActivity(ListInput):
    """Which acts to list."""

    starting_after: Annotated[str | None, Field(pattern="^[0-9]{1,15}$")] = Field(
        None, description="Goes on behind this id, the last of the page before."
    )
    person_id: Annotated[str | None, id_of("person")] = Field(
        None, title="Person", description="Only by this person, themselves or through apps and keys."
    )
    client_id: Annotated[str, AfterValidator(_of_a_client)] | None = Field(
        None, title="App or key", description="Only through this connection or API key."
    )
    acted_by: DoneBy | None = Field(
        None,
        title="Done by",
        description="Only what `agent`s did: AI agents and programs, through an `app` or a `key`; or only what came"
        " through one of the two; what a `person` did themselves; or what a `customer`, the `operator` or Mainstay"
        " (`house`) did.",
    )
    from_: Day | None = Field(None, alias="from", title="From", description="Only on this date or later.")
    until: LastDay | None = Field(None, description="Only on this date or earlier.")


@operation(right=Right.ALL_HISTORY_READ, effect=Effect.READ, rest="GET /activity")
def list_activity(ctx: Context, given: ListActivity) -> Page[ActivityOut]:
    """List who did what in the organisation, the newest first.

    Everything that was ever changed, by whom and through which app or key; actedBy `agent` shows what AI agents and
    programs did.
    """
    house = house_of(ctx) if given.from_ or given.until else None
    bound = {
        "person_id": given.person_id,
        "client_id": given.client_id,
        "acted_by": given.acted_by if given.acted_by is not DoneBy.AGENT else None,
        "from_at": house.begins_at(given.from_) if house and given.from_ else None,
        "until_at": house.ends_at(given.until) if house and given.until else None,
    }
    asked = {name: value for name, value in bound.items() if value is not None}
    of_agents = [_BY_AGENTS] if given.acted_by is DoneBy.AGENT else []
    rows = newest_acts(ctx, given, *of_agents, *(_NARROWED[name] for name in asked), **asked)
    return Page.cut(ActivityOut, _with_names(ctx, rows), given.limit)


OPERATIONS = (list_activity,)

# So many records of an act are named, which are most often all of them.
NAMED = 3


def _with_names(ctx: Context, rows: Iterable[Row]) -> list[Row]:
    """Acts with what their first records are called."""
    acts = [some_records(row) for row in rows]
    first = [orjson.loads(str(records or "[]"))[:NAMED] for *_, records, _ in acts]
    called = _called(ctx, chain.from_iterable(first))
    named = [{one: called[one] for one in records if one in called} for records in first]
    return [(*act, orjson.dumps(names).decode()) for act, names in zip(acts, named, strict=True)]


def _called(ctx: Context, identities: Iterable[str]) -> dict[str, str]:
    """What people call these records, by kind at once; whoever may read of all acts sees all records of a kind."""
    of_kind = defaultdict[str, list[str]](list)
    for identity in identities:
        of_kind[identity.partition("_")[0]].append(identity)
    found: dict[str, str] = {}
    for prefix, some in of_kind.items():
        listing, right = ctx.listings.get(prefix, (None, None))
        if listing and right and ctx.actor.may(right):
            rows = among(ctx.rows, f"{listing.everything} AND {listing.table}.id IN {THESE}", some)
            found |= {kept.id: kept.called for kept in map(listing.keep, rows)}
    return found


def count_acts_of_apps(ctx: Context, day: str) -> int:
    """How often connected apps have changed something since this date, as far as it is counted."""
    row = ctx.rows.one(
        "SELECT count(*) FROM (SELECT 1 AS one FROM audit a WHERE a.organisation_id = :organisation"
        f" AND {_NARROWED['acted_by']} AND {_NARROWED['from_at']} LIMIT {COUNTED}) AS counted",
        acted_by=ActedBy.APP,
        from_at=house_of(ctx).begins_at(day),
    )
    return int(row[0] or 0) if row else 0


# Nothing else names a client. As an index has it.
_BY_AGENTS = "a.client_id IS NOT NULL"
_NARROWED = {
    "person_id": "a.person_id = :person_id",
    "client_id": "a.client_id = :client_id",
    "acted_by": "a.acted_by = :acted_by",
    "from_at": "a.at >= :from_at",
    "until_at": "a.at < :until_at",
}
