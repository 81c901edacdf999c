"""An installation that may send to this machine, and a receiver on it."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from cast import Cast
from inside import open_inside
from listening import QuietHandler, listening
from mainstay.kernel.perform import Stage
from mainstay.settings import Settings
from mainstay.staging import open_stage
from running import RunningServer
from telling import make_webhook
from visiting import Visit, words
from waiting import wait_until

WEBHOOKS, DELIVERIES = "/settings/developer/webhooks", "/settings/developer/deliveries"
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}'`"


@dataclass(frozen=True)
class House:
    """A running server with its stage."""

    server: RunningServer
    stage: Stage


@contextmanager
def open_house(
    settings: Settings, serve: Callable[[Settings], AbstractContextManager[RunningServer]] = open_inside
) -> Iterator[House]:
    """The doors of an installation of its own, whose webhooks may lead to private addresses."""
    settings = replace(settings, webhook_private_addresses="allow")
    stage = open_stage(settings)
    with serve(settings) as server:
        yield House(server, stage)
    stage.database.close()


@dataclass(frozen=True)
class Delivered:
    """What arrived at the receiver."""

    body: bytes
    headers: dict[str, str]


class Receiver:
    """Takes what is sent to it, and answers as it is told to."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.answer = b"Thanks."
        self.arrived: list[Delivered] = []


@contextmanager
def open_receiver() -> Iterator[Receiver]:
    """A receiver that listens until the block ends."""
    receiver = Receiver()

    class Taking(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.arrived.append(Delivered(body, {name.lower(): value for name, value in self.headers.items()}))
            self.reply(receiver.status, receiver.answer)

    with listening(Taking) as address:
        receiver.url = f"{address}/webhooks"
        yield receiver


def address(webhook: str) -> str:
    return f"{WEBHOOKS}/{webhook}"


def quiet_webhook(cast: Cast, **given: object) -> str:
    """A webhook to which nothing is sent: nobody leaves here."""
    return make_webhook(cast, **{"events": ["person.left"]} | given)


def see_list(visiting: Visit, webhook: str, *expected: str) -> str:
    """The list of deliveries, once it says all of this."""

    def look() -> str | None:
        page = words(visiting.get(f"{address(webhook)}/deliveries").text)
        return page if all(text in page for text in expected) else None

    return wait_until(look)


def delivery_of(visiting: Visit, webhook: str) -> str:
    """The page of the newest delivery."""
    link = re.search(rf'href="({DELIVERIES}/delivery_\w+)"', visiting.get(f"{address(webhook)}/deliveries").text)
    assert link
    return link[1]
