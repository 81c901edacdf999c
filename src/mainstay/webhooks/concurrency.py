"""Limit how many deliveries are sent at once: to one receiver, for one organisation, and in total.

A receiver that did not accept its last delivery is untrusted. It gets one delivery at a time, and all untrusted
receivers together get at most half of the slots. So receivers that hang cannot crowd out those that answer.
"""

from collections import Counter
from typing import NamedTuple

MAX_IN_ALL = 64
MAX_PER_ORGANISATION = 16
MAX_PER_WEBHOOK = 4
MAX_PER_UNTRUSTED_WEBHOOK = 1


class WebhookSlot(NamedTuple):
    """A webhook that wants a slot, or uses one."""

    organisation: str
    webhook: str
    trusted: bool


class SlotUsage:
    """The slots in use, and how many are still free."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()
        self._untrusted: Counter[str] = Counter()

    def take(self, slot: WebhookSlot, count: int = 1) -> None:
        """Take slots for a webhook."""
        for owner in (_ALL, slot.organisation, slot.webhook):
            self._used[owner] += count
            if not slot.trusted:
                self._untrusted[owner] += count

    def count_free(self, slot: WebhookSlot) -> int:
        """Return how many more deliveries may be sent to a webhook now."""
        used, untrusted = self._used, self._untrusted
        free = [MAX_IN_ALL - used[_ALL], MAX_PER_ORGANISATION - used[slot.organisation]]
        if slot.trusted:
            free.append(MAX_PER_WEBHOOK - used[slot.webhook])
        else:
            free.append(MAX_PER_UNTRUSTED_WEBHOOK - used[slot.webhook])
            free += [MAX_IN_ALL // 2 - untrusted[_ALL], MAX_PER_ORGANISATION // 2 - untrusted[slot.organisation]]
        return max(0, min(free))


_ALL = "*"
