"""Closed books: nothing up to a date changes any more."""

from mainstay.terms.refusal import Reason

# Until when they are closed, as a column beside what is to be judged by it.
CLOSED_UNTIL = "(SELECT organisation.books_closed_until FROM organisation WHERE organisation.id = :organisation)"


def if_closed(on: str, closed_until: str | None) -> list[Reason]:
    """The reason that the books are closed for a date."""
    if closed_until is None or on > closed_until:
        return []
    text = f"The books are closed until {closed_until}, so nothing of {on} changes any more."
    text += " An owner or admin can open them again."
    # Whoever is not offered the one is offered the other: agents change settings with the organisation.
    return [Reason(text, unblock="update_settings", otherwise="update_organisation")]
