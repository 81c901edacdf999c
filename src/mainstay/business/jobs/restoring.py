"""How changes of a job's status are undone."""

from collections.abc import Sequence

import orjson

from mainstay.business.jobs.model import Job, find_status_path
from mainstay.changes.undo import Inverse
from mainstay.kernel.inverse import Act
from mainstay.vocabulary.record_json import to_json


def restore_job_status(act: Act) -> Sequence[Inverse]:
    """Set each job that the act changed back to its previous status, in the steps that are possible."""
    return [inverse for before, after in act.saved_of(Job) for inverse in _restore_status(before, after)]


def _restore_status(before: Job, after: Job) -> list[Inverse]:
    if before.status == "cancelled" != after.status:
        reason = orjson.loads(to_json(before))["cancelReason"] or "Cancelled before"
        return [Inverse("cancel_job", {"jobId": after.id, "reason": reason, "confirmed": True})]
    return [
        Inverse("change_job_status", {"jobId": after.id, "status": status})
        for status in find_status_path(after.status, before.status)
    ]
