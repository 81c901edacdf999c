"""What someone typed before their sign-in ended, where it cannot be done any more."""

from mainstay.doors.office.desk import Guest
from mainstay.kernel.catalogue import admit
from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Lapsed


def held_up(guest: Guest, operation: Operation) -> Lapsed | None:
    """Let nobody to a form in vain, except back to what they typed: why it is not done now, to be told on the form."""
    try:
        admit(operation, guest.actor)
    except Lapsed as lapsed:
        if not guest.typed:
            raise
        return lapsed
    return None
