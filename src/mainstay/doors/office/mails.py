"""What a record's page tells of the mails about it."""

from typing import Any

from mainstay.business.organisation.messages import has_failed, list_messages
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.pages.showing import cells

# So many of them, and this of each.
_MOST = 10
_COLUMNS = ("recipient", "subject", "createdAt", "status")


async def mails_about(desk: Desk, guest: Guest, record: str, unsent: str) -> dict[str, Any]:
    """The last mails about a record, for those who may know of them; and words of it if the very last did not leave."""
    if not guest.may(list_messages):
        return {"mails": [], "unsent": None}
    found = (await desk.perform(guest, list_messages, {"about": record, "limit": _MOST}))["data"]
    failed = bool(found) and has_failed(found[0]["status"])
    return {
        "mails": [cells(list_messages.output, _COLUMNS, mail, guest.here) for mail in found],
        "unsent": unsent.format(problem=found[0]["problem"]) if failed else None,
    }
