"""Clients that read and write without a pause, and remember the answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle

import httpx2

from support.cast import Cast
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE
from support.servers import RunningServer, make_tls_context

_CLIENTS = 4
# Together they stay below the limit of each.
_KEYS_EACH = 20
_TIMEOUT_SECONDS = 60


class BusyClients:
    """Four clients, each on a connection of its own."""

    def __init__(self, server: RunningServer, cast: Cast) -> None:
        self.created_emails: set[str] = set()
        # The statuses of answers since they were last forgotten.
        self._statuses: list[int] = []
        self._answered = threading.Condition()
        self._round = 0
        self._stopping = threading.Event()
        self._server = server
        keys = [[cast.make_key() for _ in range(_KEYS_EACH)] for _ in range(_CLIENTS)]
        self._threads = [
            threading.Thread(target=self._run_client, args=(number, keys[number])) for number in range(_CLIENTS)
        ]

    def forget_answers(self) -> None:
        """Forget all answers, also those still to come to requests already sent."""
        with self._answered:
            self._round += 1
            self._statuses.clear()

    def wait_for_answers(self, count: int, *, status: int | None = None) -> set[int]:
        """Wait for so many answers, or so many with this status; return every status so far."""

        def has_enough() -> bool:
            return (len(self._statuses) if status is None else self._statuses.count(status)) >= count

        with self._answered:
            assert self._answered.wait_for(has_enough, _TIMEOUT_SECONDS), self._statuses
            return {*self._statuses}

    def _run_client(self, client: int, keys: list[str]) -> None:
        with httpx2.Client(base_url=self._server.url, timeout=30, verify=make_tls_context()) as connection:
            for number, key in zip(count(), cycle(keys), strict=False):
                if self._stopping.is_set():
                    return
                self._send_request(connection, f"throng{client}-{number}@new.example", key, writes=number % 2 == 0)

    def _send_request(self, connection: httpx2.Client, email: str, key: str, *, writes: bool) -> None:
        round_, headers = self._round, {"Authorization": f"Bearer {key}"}
        if writes:
            answer = connection.post(PEOPLE, json=NEW_PERSON | {"email": email}, headers=headers)
        else:
            answer = connection.get(ORGANISATION, headers=headers)
        with self._answered:
            if answer.status_code == httpx2.codes.CREATED:
                self.created_emails.add(email)
            if round_ == self._round:
                self._statuses.append(answer.status_code)
            self._answered.notify_all()

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop, once each client has its answer."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(_TIMEOUT_SECONDS)
            assert not thread.is_alive()


@contextmanager
def run_busy_clients(server: RunningServer, cast: Cast) -> Iterator[BusyClients]:
    """Run clients until the block ends."""
    clients = BusyClients(server, cast)
    clients.start()
    try:
        yield clients
    finally:
        clients.stop()


def read_emails(cast: Cast) -> set[str]:
    """Return the email addresses of everyone in the organisation."""
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return {str(email) for (email,) in db.all("SELECT email FROM person WHERE organisation_id = :organisation")}
