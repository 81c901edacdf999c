"""Closed books: records dated on or before a date can no longer change."""

from mainstay.values.message import CalendarDate, Message
from mainstay.vocabulary.refusal import Reason

# The date until which the books are closed, as an SQL expression that is selected together with the records it applies
# to.
CLOSED_UNTIL_SQL = "(SELECT organisation.books_closed_until FROM organisation WHERE organisation.id = :organisation)"


def reasons_if_closed(day: str, closed_until: str | None) -> list[Reason]:
    """Return the reason that the books are closed for a date, or nothing if they are open."""
    if closed_until is None or day > closed_until:
        return []
    text = Message(
        "The books are closed up to {closed_until}, so nothing dated {date} can be changed."
        " An owner or admin can reopen them.",
        closed_until=CalendarDate(closed_until),
        date=CalendarDate(day),
    )
    # update_settings is not offered to agents. They change settings with update_organisation.
    return [Reason(text, ("update_settings", "update_organisation"))]
