"""The limits of a key or a connected app: its areas, the amount that its person confirms, and its last day."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar, cast

import orjson
from pydantic import Field

from mainstay.infrastructure.database import Value
from mainstay.kernel.context import Context
from mainstay.kernel.record_store import RecordStore
from mainstay.values.fields import Day, InputKind, Price, omittable_field
from mainstay.values.message import Message
from mainstay.values.moments import moment_text, start_of_day
from mainstay.vocabulary.permissions import Permission, RequiresPermission
from mainstay.vocabulary.refusal import Fault, Forbidden, Invalid
from mainstay.vocabulary.schemas import Input, StoredRecord
from mainstay.vocabulary.toolsets import Toolset

K = TypeVar("K", bound=StoredRecord)
# Only those who manage all apps limit one; the person of an app does not.
_MANAGED = RequiresPermission(Permission.CONNECTIONS_MANAGE)
ConfirmsInOffice = Annotated[
    bool,
    Field(
        title="Confirm on the website",
        description="The person has to confirm on the website what can't be undone or lets someone in.",
    ),
]
Toolsets = Annotated[
    Annotated[list[Toolset], Field(min_length=1), InputKind("checks")] | None,
    Field(title="Areas", description="The areas it can use. Default: all that the person can use."),
]
AmountLimit = Annotated[
    Price | None,
    Field(
        title="Confirm amounts above",
        description="Anything that commits you to more than this, or lets someone in, waits until the person confirms"
        " it on the website.",
    ),
]
ExpiresOn = Annotated[Day | None, Field(title="Works until", description="The last day on which it works.")]


class Limits(NamedTuple):
    """What a key or an app is limited to, as it is stored; None where it is not."""

    toolsets: str | None
    amount_limit: int | None
    expires_on: str | None

    def is_looser_than(self, other: "Limits") -> bool:
        """Return whether this allows something that the other limits do not."""
        has_more_areas = other.toolsets is not None and (
            self.toolsets is None or not {*orjson.loads(self.toolsets)} <= {*orjson.loads(other.toolsets)}
        )
        return (
            has_more_areas
            or _is_later(self.amount_limit, other.amount_limit)
            or _is_later(self.expires_on, other.expires_on)
        )


NO_LIMITS = Limits(None, None, None)


class LimitedRecord(Protocol):
    """A key or a connected app, with its limits."""

    toolsets: str | None
    amount_limit: int | None
    expires_on: str | None
    limited_by_owner: int


class LimitsInput(Input):
    """What to change of the limits; null removes one."""

    confirms_in_office: ConfirmsInOffice = omittable_field()
    toolsets: Annotated[Toolsets, _MANAGED] = None
    amount_limit: Annotated[AmountLimit, _MANAGED] = None
    expires_on: Annotated[ExpiresOn, _MANAGED] = None


def limits_of(record: LimitedRecord) -> Limits:
    """Return the limits of a key or an app."""
    return Limits(record.toolsets, record.amount_limit, record.expires_on)


def encode_toolsets(toolsets: Iterable[Toolset] | None) -> str | None:
    """Return toolsets as they are stored: in their order, and each once."""
    return None if toolsets is None else orjson.dumps([one.value for one in Toolset if one in {*toolsets}]).decode()


def save_limits(ctx: Context, store: RecordStore[K], record: K, given: LimitsInput) -> K:
    """Save the limits of a key or a connected app that were sent, and return the record as it is then.

    Limits that an owner set are loosened only by an owner.
    """
    limited, changes = cast("LimitedRecord", record), given.sent_fields()
    before = limits_of(limited)
    sent = {name: changes[name] for name in Limits._fields if name in changes}
    if "toolsets" in sent:
        sent["toolsets"] = encode_toolsets(sent["toolsets"])
    after = before._replace(**sent)
    is_owner = ctx.actor.can(Permission.OWNERS_NAME)
    if limited.limited_by_owner and not is_owner and after.is_looser_than(before):
        raise Forbidden(Message("An owner has set these limits, so only an owner can loosen them."))
    columns: dict[str, Value] = {}
    if after != before:
        columns = after._asdict() | {
            "expires_at": _find_end(ctx, after.expires_on),
            "limited_by_owner": int(after != NO_LIMITS and (is_owner or bool(limited.limited_by_owner))),
        }
    if "confirms_in_office" in changes:
        columns["confirms_in_office"] = int(changes["confirms_in_office"])
    return _write_columns(ctx, store, record, columns)


def _is_later(new: Any, old: Any) -> bool:
    return old is not None and (new is None or new > old)


def _find_end(ctx: Context, expires_on: str | None) -> str | None:
    """Return the moment at which a day ends for the organisation; refuse a day that is over."""
    if expires_on is None:
        return None
    row = ctx.db.one("SELECT time_zone FROM organisation WHERE id = :organisation")
    zone = str(row[0]) if row else "UTC"
    end = moment_text(start_of_day(date.fromisoformat(expires_on) + timedelta(days=1), zone))
    if end <= ctx.now_text:
        raise Invalid([Fault("expiresOn", Message("is in the past"))])
    return end


def _write_columns(ctx: Context, store: RecordStore[K], record: K, columns: Mapping[str, Value]) -> K:
    """Write what differs, and return the record as it is then."""
    if not columns:
        return record
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    differences = " OR ".join(f"{name} IS DISTINCT FROM :{name}" for name in columns)
    row = ctx.db.one(
        f"UPDATE {store.table} SET {assignments} WHERE organisation_id = :organisation AND id = :id"
        f" AND ({differences}) RETURNING {store.selected_columns}",
        id=record.id,
        **columns,
    )
    if row is None:
        return record
    ctx.writer.touch(record.id)
    ctx.writer.mark_written(store.table, record.id)
    return store.from_row(row)
