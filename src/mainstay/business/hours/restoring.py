"""How changes of hours are undone."""

from collections.abc import Sequence

import orjson

from mainstay.business.hours.model import TimeEntry
from mainstay.business.jobs.restoring import restore_job_status
from mainstay.business.schedule.model import Visit
from mainstay.changes.undo import Inverse
from mainstay.kernel.inverse import Act, find_previous_input, name_record
from mainstay.values.message import Message
from mainstay.vocabulary.record_json import to_json

_WERE_REJECTED = Message("The hours had been rejected, and are a draft now. Edit them again.")
_TIMER_STOPPED = Message("Another timer was stopped for it. Delete this timer, and start the other one again.")
_TIMER_CHANGED = Message("It stopped a timer. Set the visit's status back, and edit the hours.")
_REJECTED = Message("The person was told that their hours were rejected. They can submit them again.")
_BILLING_REOPENED = Message("The hours can be invoiced now. Unapprove them instead.")
_TIMES = frozenset({"on", "minutes", "startedAt", "endedAt", "breakMinutes"})
_TARGET = frozenset({"jobId", "visitId"})


def delete_new_hours(act: Act) -> Sequence[Inverse] | Message:
    """Delete the new hours, and set the job that they started back to its status."""
    if act.saved_of(TimeEntry):
        return _TIMER_STOPPED
    deletion = Inverse("delete_hours", {"timeEntryId": act.after.id, "confirmed": True})
    return [deletion, *restore_job_status(act)]


def restore_visit_status(act: Act) -> Sequence[Inverse] | Message:
    """Set the visit back to its previous status, and the job that it started too. Delete the hours that it added."""
    if act.saved_of(TimeEntry):
        return _TIMER_CHANGED
    added = [after.id for before, after in act.saved if before is None and isinstance(after, TimeEntry)]
    deletions = [Inverse("delete_hours", {"timeEntryId": entry, "confirmed": True}) for entry in added]
    return [*deletions, *_restore_status(act.before, act.after), *restore_job_status(act)]


def _restore_status(before: Visit, after: Visit) -> list[Inverse]:
    """Set a visit back to its previous status, with the times at which its work began and ended."""
    if before.status == after.status:
        return []
    was = orjson.loads(to_json(before))
    times = {"startedAt": was["startedAt"], "endedAt": was["finishedAt"]}
    known_times = {name: moment for name, moment in times.items() if moment}
    return [Inverse("set_visit_status", {"visitId": after.id, "status": before.status} | known_times)]


def restore_hours(act: Act) -> Sequence[Inverse] | Message:
    """Give the hours their previous values. Their times are restored together, and so are the job and the visit."""
    if act.before.status != act.after.status:
        return _WERE_REJECTED
    changed = find_previous_input(act).keys()
    was = orjson.loads(to_json(act.before))
    names = changed - _TIMES - _TARGET
    if changed & _TARGET:
        names |= _TARGET
    values = {name: was[name] for name in names}
    if changed & _TIMES:
        values |= {name: was[name] for name in ("startedAt", "endedAt", "breakMinutes")}
        values |= {} if was["startedAt"] else {name: was[name] for name in ("on", "minutes")}
    return [Inverse(act.operation, name_record(act) | values), *restore_job_status(act)] if values else []


def restore_review(act: Act) -> Sequence[Inverse] | Message:
    """Take back an approval, or give it again."""
    if act.given.decision == "reject":
        return _REJECTED
    if len(act.saved_of(TimeEntry)) < len(act.saved):
        return _BILLING_REOPENED
    decision = "unapprove" if act.given.decision == "approve" else "approve"
    entries = [after.id for _, after in act.saved_of(TimeEntry)]
    return [Inverse(act.operation, {"timeEntryIds": entries, "decision": decision})] if entries else []
