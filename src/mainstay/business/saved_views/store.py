"""Storage of saved views."""

from dataclasses import dataclass

from mainstay.business.saved_views.model import SHARING, SavedView
from mainstay.kernel.context import Context
from mainstay.kernel.record_store import RecordStore, select_related
from mainstay.vocabulary.list_queries import Visibility

_OWN = Visibility("saved_view.person_id", unrestricted_with=SHARING)
_OWN_AND_SHARED = Visibility(
    row_condition="(saved_view.person_id = :me OR saved_view.shared = 1)", unrestricted_with=SHARING
)


@dataclass(frozen=True)
class SavedViewStore(RecordStore[SavedView]):
    """The store of saved views. Nobody sees the private ones of others, whatever their role."""

    def _visibility_of(self, ctx: Context) -> Visibility:
        return _OWN_AND_SHARED if ctx.actor.can(SHARING) else _OWN


SAVED_VIEWS = SavedViewStore(
    SavedView,
    source="saved_view",
    prefix="view",
    columns={"person_name": select_related("person.name", "saved_view.person_id")},
    visibility=_OWN,
    # A deleted one stays, so that its deletion can be undone.
    list_condition="saved_view.status = 'active'",
    equal_filters=("list_name",),
)


def count_own_views(ctx: Context) -> int:
    """Return how many views the actor has saved."""
    row = ctx.db.one(
        "SELECT count(*) FROM saved_view WHERE organisation_id = :organisation AND person_id = :me"
        " AND status = 'active'"
    )
    return int(row[0] or 0) if row else 0


def list_private_views(ctx: Context, person_id: str) -> list[SavedView]:
    """Return the views of a person that nobody else sees."""
    rows = ctx.db.all(
        f"{SAVED_VIEWS.select_all} AND saved_view.person_id = :person AND saved_view.shared = 0", person=person_id
    )
    return [SAVED_VIEWS.from_row(row) for row in rows]
