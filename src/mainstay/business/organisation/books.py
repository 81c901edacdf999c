"""Closed books: nothing up to a date changes any more."""

from mainstay.terms.refusal import Reason


def if_closed(on: str, closed_until: str | None, what: str) -> list[Reason]:
    """The reason that the books are closed for a date; `what` of that date stays as it is."""
    if closed_until and on <= closed_until:
        text = f"The books are closed until {closed_until}, so {what} of {on} stay as they are."
        return [Reason(f"{text} An owner or admin can open them again.", unblock="update_settings")]
    return []
