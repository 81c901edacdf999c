"""Clients who read and write without a pause, and remember what each was answered."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle

import httpx2

from cast import Cast
from running import RunningServer, tls
from talking import NEWCOMER, ORGANISATION, PEOPLE

_CLIENTS = 4
# Together they stay below the limit of each.
_KEYS_EACH = 20
_PATIENCE_SECONDS = 60


class Throng:
    """Four clients, each on a connection of its own."""

    def __init__(self, server: RunningServer, cast: Cast) -> None:
        self.acknowledged: set[str] = set()
        # What was answered to requests since someone last asked.
        self._statuses: list[int] = []
        self._answered = threading.Condition()
        self._age = 0
        self._over = threading.Event()
        self._server = server
        keys = [[cast.key() for _ in range(_KEYS_EACH)] for _ in range(_CLIENTS)]
        self._threads = [
            threading.Thread(target=self._press, args=(number, keys[number])) for number in range(_CLIENTS)
        ]

    def begin_anew(self) -> None:
        """Forget what was answered; also what is answered yet to those who have asked already."""
        with self._answered:
            self._age += 1
            self._statuses.clear()

    def hear(self, enough: int, *, of: int | None = None) -> set[int]:
        """Wait until so many were answered, or so many with this status; every status that was answered."""

        def heard() -> bool:
            return (len(self._statuses) if of is None else self._statuses.count(of)) >= enough

        with self._answered:
            assert self._answered.wait_for(heard, _PATIENCE_SECONDS), self._statuses
            return {*self._statuses}

    def _press(self, client: int, keys: list[str]) -> None:
        with httpx2.Client(base_url=self._server.url, timeout=30, verify=tls()) as connection:
            for number, key in zip(count(), cycle(keys), strict=False):
                if self._over.is_set():
                    return
                self._ask(connection, f"throng{client}-{number}@new.example", key, writes=number % 2 == 0)

    def _ask(self, connection: httpx2.Client, email: str, key: str, *, writes: bool) -> None:
        age, headers = self._age, {"Authorization": f"Bearer {key}"}
        if writes:
            answer = connection.post(PEOPLE, json=NEWCOMER | {"email": email}, headers=headers)
        else:
            answer = connection.get(ORGANISATION, headers=headers)
        with self._answered:
            if answer.status_code == httpx2.codes.CREATED:
                self.acknowledged.add(email)
            if age == self._age:
                self._statuses.append(answer.status_code)
            self._answered.notify_all()

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """End, when each has got the answer it waits for."""
        self._over.set()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS)
            assert not thread.is_alive()


@contextmanager
def pressing(server: RunningServer, cast: Cast) -> Iterator[Throng]:
    """A throng, for as long as the block lasts."""
    throng = Throng(server, cast)
    throng.start()
    try:
        yield throng
    finally:
        throng.end()


def kept(cast: Cast) -> set[str]:
    """The e-mail addresses of everyone in the organisation."""
    with cast.stage.database.reading(cast.organisation) as rows:
        return {str(email) for (email,) in rows.all("SELECT email FROM person WHERE organisation_id = :organisation")}
