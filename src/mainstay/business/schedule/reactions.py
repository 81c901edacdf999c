"""What follows on the schedule when something happens elsewhere."""

from mainstay.business.people.events import PersonLeft
from mainstay.business.schedule.placing import Placement, place
from mainstay.business.schedule.store import VISITS
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import Happening, Reaction

_BATCH = 400


def unassign_visits(ctx: Context, happening: Happening) -> None:
    """Whoever has left does none of the visits that are still planned: somebody else has to be found."""
    while True:
        left = VISITS.some(
            ctx, "visit.person_id = :person AND visit.status = 'planned'", _BATCH, person=happening.record["id"]
        )
        place(ctx, [Placement(visit, {"person_id": None}) for visit in left])
        if len(left) < _BATCH:
            return


REACTIONS = (Reaction(PersonLeft, unassign_visits),)
