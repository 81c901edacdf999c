"""Reactions of saved views to events of other areas."""

from mainstay.business.people.events import PersonLeft
from mainstay.business.saved_views.store import SAVED_VIEWS, list_private_views
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Reaction, ReactionEvent


def delete_private_views(ctx: Context, event: ReactionEvent) -> None:
    """Delete the views that only a person who left could see."""
    for view in list_private_views(ctx, str(event.record["id"])):
        SAVED_VIEWS.remove(ctx, view)


REACTIONS = (Reaction(PersonLeft, delete_private_views, "Private views deleted"),)
