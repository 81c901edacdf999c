"""What happens in a turn while it happens, for those in this process who watch it. Nothing here is stored."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Watch:
    """One who watches a turn: is woken when something happens, and gets the text that the model writes."""

    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _texts: list[str] = field(default_factory=list)

    async def wait(self, seconds: float) -> str:
        """Wait until something happens, for some seconds at most; return the text that was written meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return ""
        self._changed.clear()
        text = "".join(self._texts)
        self._texts.clear()
        return text

    def wake(self, text: str = "") -> None:
        """Tell that something has happened."""
        if text:
            self._texts.append(text)
        self._changed.set()


@dataclass(frozen=True, slots=True)
class LiveText:
    """Passes on what happens in the turns of this process."""

    _watches: defaultdict[str, set[Watch]] = field(default_factory=lambda: defaultdict(set))
    # How many watches each session has.
    _counts: Counter[str] = field(default_factory=Counter)

    def count(self, session: str) -> int:
        """Return how many turns a session watches now."""
        return self._counts[session]

    @contextmanager
    def watch(self, turn_id: str, session: str) -> Iterator[Watch]:
        """Watch a turn until the block ends."""
        watch = Watch()
        self._watches[turn_id].add(watch)
        self._counts[session] += 1
        try:
            yield watch
        finally:
            self._counts[session] -= 1
            if not self._counts[session]:
                del self._counts[session]
            self._watches[turn_id].discard(watch)
            if not self._watches[turn_id]:
                del self._watches[turn_id]

    def publish(self, turn_id: str, text: str = "") -> None:
        """Tell those who watch a turn that a step was stored, or which text the model has just written."""
        for watch in self._watches.get(turn_id, ()):
            watch.wake(text)

    def wake_all(self) -> None:
        """Wake everyone, because the server ends."""
        for watches in self._watches.values():
            for watch in watches:
                watch.wake()
