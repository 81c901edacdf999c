"""How many deliveries may be on their way at once: to one receiver, for one organisation, and in all.

A receiver that did not take its last delivery is doubted: it gets one at a time, and all doubted ones together only
half of the places. So those that hang cannot crowd out those that answer.
"""

from collections import Counter
from typing import NamedTuple

IN_ALL = 64
OF_ORGANISATION = 16
OF_WEBHOOK = 4
OF_DOUBTED_WEBHOOK = 1


class Turn(NamedTuple):
    """A webhook that wants a place, or holds one."""

    organisation: str
    webhook: str
    trusted: bool


class Places:
    """The places that are held, and the room that is left."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()
        self._doubted: Counter[str] = Counter()

    def hold(self, turn: Turn, count: int = 1) -> None:
        """Take so many places."""
        for whose in (_ALL, turn.organisation, turn.webhook):
            self._held[whose] += count
            if not turn.trusted:
                self._doubted[whose] += count

    def room(self, turn: Turn) -> int:
        """How many more may be sent to a webhook."""
        held, doubted = self._held, self._doubted
        rooms = [IN_ALL - held[_ALL], OF_ORGANISATION - held[turn.organisation]]
        if turn.trusted:
            rooms.append(OF_WEBHOOK - held[turn.webhook])
        else:
            rooms.append(OF_DOUBTED_WEBHOOK - held[turn.webhook])
            rooms += [IN_ALL // 2 - doubted[_ALL], OF_ORGANISATION // 2 - doubted[turn.organisation]]
        return max(0, min(rooms))


_ALL = "*"
