"""What a neighbour notices: how long its own requests take, one after the other."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import takewhile
from statistics import median
from threading import Thread
from time import monotonic, sleep
from urllib.parse import urlencode

from bench.neighbours.firms import NeighbourStock
from bench.neighbours.receivers import ReceiverReports

GET, READY, WRITE, WEBHOOK, RESET = "GET", "readiness", "write", "webhook", "password reset"
REQUESTS = (GET, READY, WRITE, WEBHOOK, RESET)

_API = "/api/v1"
_FORGOT_PASSWORD_PATH = "/forgot-password"
_WARM_UP_SECONDS = 20.0
# Requests that are answered at once are spread over the time that the others take.
_SPREAD_SECONDS = 0.05
_THREADS_EACH = 2


class _RequestFailed(Exception):
    """The request was not answered as it should be."""


@dataclass
class RequestTimes:
    """How long the requests of one kind took, in milliseconds, and why some failed.

    What did not come in time counts as long as it was waited for.
    """

    times: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def median(self) -> float:
        """The median; nothing where every request failed at once."""
        return median(self.times or [0.0])


@dataclass
class NeighbourProbes:
    """The neighbour's clients of one server."""

    port: int
    stock: NeighbourStock
    mails: ReceiverReports
    webhooks: ReceiverReports
    # An answer, an event or an email that takes longer has failed.
    timeout_seconds: float
    readings: dict[str, RequestTimes] = field(default_factory=lambda: {name: RequestTimes() for name in REQUESTS})
    # The number of the next request: each says something else, because the same twice would change nothing.
    _next: int = 1

    def warm_up(self) -> None:
        """Send each kind of request once; a server that cannot answer now cannot be measured."""
        timeout_seconds, self.timeout_seconds = self.timeout_seconds, _WARM_UP_SECONDS
        self.run(1, monotonic() + _WARM_UP_SECONDS)
        self.timeout_seconds = timeout_seconds
        if failures := {name: one.failures for name, one in self.readings.items() if one.failures}:
            raise RuntimeError(f"The server failed before the load began: {failures}")
        self.readings = {name: RequestTimes() for name in REQUESTS}

    def run(self, times: int, until: float) -> dict[str, RequestTimes]:
        """Send so many requests of each kind, or as many as are possible until this moment."""
        self.mails.clear()
        self.webhooks.clear()
        loops = [Thread(target=self._read_and_write, args=(self._numbers(times), until), daemon=True)]
        # What takes long is done by two at a time, each one after the other, so that there is time for all of them.
        for loop in (self._change_people, self._reset_passwords):
            shared = self._numbers(times)
            loops += [Thread(target=loop, args=(shared, until), daemon=True) for _ in range(_THREADS_EACH)]
        self._next += times
        for thread in loops:
            thread.start()
        for thread in loops:
            thread.join()
        return self.readings

    def _numbers(self, times: int) -> Iterator[int]:
        return iter(range(self._next, self._next + times))

    def _read_and_write(self, numbers: Iterator[int], until: float) -> None:
        """Read, and write what no webhook waits for."""
        firm = self.stock.neighbour
        key = _make_headers(firm.keys[0])
        for number in takewhile(lambda _: monotonic() < until, numbers):
            began = monotonic()
            self._measure(GET, self._request, "GET", f"{_API}/organisation", key)
            self._measure(READY, self._request, "GET", "/readyz", {})
            body = json.dumps({"phone": f"+44 1422 {number:06}"})
            self._measure(WRITE, self._request, "PATCH", f"{_API}/customers/{firm.customer}", key, body)
            sleep(max(began + _SPREAD_SECONDS - monotonic(), 0))

    def _change_people(self, numbers: Iterator[int], until: float) -> None:
        """Change a person, and wait for the webhook."""
        firm = self.stock.neighbour
        key = _make_headers(firm.keys[1])

        def change(phone: str) -> float:
            self._request("PATCH", f"{_API}/people/{firm.owner}", key, json.dumps({"phone": phone}))
            return self.webhooks.wait_for(phone, self.timeout_seconds)

        for number in takewhile(lambda _: monotonic() < until, numbers):
            self._measure(WEBHOOK, change, f"+44 7700 {number:06}")

    def _reset_passwords(self, numbers: Iterator[int], until: float) -> None:
        """Ask for a new password, and wait for the email."""
        headers: dict[str, str] = {}
        token = ""

        def ask(email: str, address: str) -> float:
            nonlocal token
            if not token:
                token = self._open_form(headers)
            form = urlencode({"csrf": token, "email": email})
            self._request("POST", _FORGOT_PASSWORD_PATH, headers | {"X-Forwarded-For": address}, form)
            return self.mails.wait_for(email, self.timeout_seconds)

        for number in takewhile(lambda _: monotonic() < until, numbers):
            email = self.stock.emails[number % len(self.stock.emails)]
            self._measure(RESET, ask, email, f"203.0.{number // 250}.{number % 250 + 1}")

    def _open_form(self, headers: dict[str, str]) -> str:
        """Open the form; keep its cookie in the headers, and return its token."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.timeout_seconds)
        try:
            connection.request("GET", _FORGOT_PASSWORD_PATH)
            answer = connection.getresponse()
            found = re.search(r'name="csrf" value="([^"]*)"', answer.read().decode())
        finally:
            connection.close()
        if not found:
            raise _RequestFailed(f"answered {answer.status}")
        headers["Cookie"] = str(answer.getheader("Set-Cookie")).partition(";")[0]
        headers["Origin"] = f"http://127.0.0.1:{self.port}"
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return found[1]

    def _measure(self, name: str, request: Callable[..., float], *given: object) -> None:
        """Do a request; keep the time from its beginning to the moment that it returns."""
        reading, began = self.readings[name], monotonic()
        try:
            reading.times.append((request(*given) - began) * 1000)
        except TimeoutError:
            reading.times.append((monotonic() - began) * 1000)
            reading.failures[f"nothing within {self.timeout_seconds:g} s"] += 1
        except (_RequestFailed, OSError, HTTPException) as error:
            reading.failures[str(error) or type(error).__name__] += 1
            sleep(_SPREAD_SECONDS)

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: str | None = None) -> float:
        """Send a request on a connection of its own, which may go to any server process; return when it was answered.

        Who keeps a connection would meet only one of the processes.
        """
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.timeout_seconds)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise _RequestFailed(f"answered {answer.status}")
        return monotonic()


def _make_headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
