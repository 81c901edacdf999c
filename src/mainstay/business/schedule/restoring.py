"""How changes of visits are undone: the visits get their previous times, people and notes again."""

from collections.abc import Sequence
from typing import Any

import orjson

from mainstay.business.schedule.model import Visit
from mainstay.changes.undo import Inverse
from mainstay.kernel.inverse import Act
from mainstay.values.message import Message
from mainstay.vocabulary.record_json import to_json

# The most changes that one plan takes.
MAX_CHANGES = 50
_HAD_STARTED = Message("A visit that had started was cancelled. Plan it again by moving it.")


def restore_visits(act: Act) -> Sequence[Inverse] | Message:
    """Cancel the visits that were planned, and give the others their previous values; all together if several."""
    changed = act.saved_of(Visit)
    if any(before.status == "started" and after.status == "cancelled" for before, after in changed):
        return _HAD_STARTED
    planned = [after.id for before, after in act.saved if before is None and isinstance(after, Visit)]
    changes = [{"change": "cancel", "visitId": visit_id} for visit_id in planned]
    changes += [_describe_previous(before, after) for before, after in changed]
    if len(changes) == 1:
        name = f"{changes[0].pop('change')}_visit"
        return [Inverse(name, changes[0])]
    return [
        Inverse("plan_schedule", {"changes": changes[first : first + MAX_CHANGES], "confirmed": True})
        for first in range(0, len(changes), MAX_CHANGES)
    ]


def _describe_previous(before: Visit, after: Visit) -> dict[str, Any]:
    """Return the change of a plan that gives a visit its previous values."""
    if before.status == "cancelled":
        return {"change": "cancel", "visitId": after.id}
    was, is_now = orjson.loads(to_json(before)), orjson.loads(to_json(after))
    names = ["personId", "kind", "notes", *(() if before.about_job else ("title",))]
    change = {"change": "move", "visitId": after.id} | {name: was[name] for name in names if was[name] != is_now[name]}
    if any(was[name] != is_now[name] for name in ("startsAt", "endsAt", "on", "timeZone")):
        times = ("on",) if before.on else ("startsAt", "endsAt")
        change |= {name: was[name] for name in (*times, "timeZone")}
    if before.allow_overlap or after.allow_overlap:
        change |= {"allowOverlap": before.allow_overlap, "overlapReason": was["overlapReason"]}
    return change
