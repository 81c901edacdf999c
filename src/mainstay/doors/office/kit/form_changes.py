"""Which changes a person's last form made, so that the notice after it can undo them all."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from mainstay.business.records.model import HistoryEntryOut
from mainstay.business.records.undo import MAX_CHANGES
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.actor import Door

# How long after its form the address of a notice offers to undo it.
_LIFETIME = timedelta(minutes=1)


def find_form_changes(entries: Sequence[HistoryEntryOut], operation: str, now: datetime) -> Sequence[HistoryEntryOut]:
    """Return the changes of the person's last form, if it performed this operation and all of them can be undone.

    The entries are the person's newest changes, through any door: one more than can be undone together.
    """
    in_office = [entry for entry in entries if entry.by.via.door is Door.OFFICE]
    if not in_office or now - parse_moment(in_office[0].at) > _LIFETIME:
        return ()
    request_id = in_office[0].request_id
    changes = [entry for entry in in_office if entry.request_id == request_id]
    # It may have made more changes than were read.
    is_cut_off = len(entries) > MAX_CHANGES and entries[-1].request_id == request_id
    is_told = any(entry.operation == operation for entry in changes)
    return changes if is_told and not is_cut_off and all(entry.undoable for entry in changes) else ()
