"""What is next with the draft of a document: its lines while it has none, then to send it."""

from collections.abc import Sequence

from mainstay.doors.office.arrangement import Action, Arrangement, has_priced_lines
from mainstay.doors.office.references import AsTold
from mainstay.kernel.operation import Operation


def led(of: Arrangement, record: AsTold, actions: Sequence[Action], sends: Operation) -> list[Action]:
    """What can be done with a document, what is next first; one that was sent is as it is."""
    if sends.name not in record["availableActions"]:
        return list(actions)
    send = of.path_to(sends, record)
    if not has_priced_lines(record):
        return [of.lines(record), *actions]
    # Nothing is sent by it yet: it leads to what would be.
    first = [one._replace(grave=False) for one in actions if one.path == send]
    return [*first, *(one for one in actions if one.path != send)]
