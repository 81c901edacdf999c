"""An installation that may send to this machine, and a receiver on it."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from mainstay.composition import open_performer
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from support.browser_session import BrowserSession, visible_text
from support.cast import Cast
from support.http_server import QuietHandler, run_http_server
from support.in_process import run_in_process
from support.servers import RunningServer
from support.waiting import wait_until
from support.webhooks import make_webhook

WEBHOOKS, DELIVERIES = "/settings/developer/webhooks", "/settings/developer/deliveries"
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}'`"


@dataclass(frozen=True)
class WebhookInstallation:
    """A running server, and a performer on the same database."""

    server: RunningServer
    performer: Performer


@contextmanager
def open_webhook_installation(
    settings: Settings, serve: Callable[[Settings], AbstractContextManager[RunningServer]] = run_in_process
) -> Iterator[WebhookInstallation]:
    """Serve an installation whose webhooks may use private addresses."""
    settings = replace(settings, webhook_private_addresses="allow")
    performer = open_performer(settings)
    with serve(settings) as server:
        yield WebhookInstallation(server, performer)
    performer.database.close()


@dataclass(frozen=True)
class ReceivedWebhook:
    """What arrived at the receiver."""

    body: bytes
    headers: dict[str, str]


class WebhookReceiver:
    """Keeps what it receives, and answers with the status and body that a test sets."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.answer = b"Thanks."
        self.received: list[ReceivedWebhook] = []


@contextmanager
def run_webhook_receiver() -> Iterator[WebhookReceiver]:
    """A receiver that listens until the block ends."""
    receiver = WebhookReceiver()

    class Taking(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append(
                ReceivedWebhook(body, {name.lower(): value for name, value in self.headers.items()})
            )
            self.reply(receiver.status, receiver.answer)

    with run_http_server(Taking) as address:
        receiver.url = f"{address}/webhooks"
        yield receiver


def webhook_path(webhook: str) -> str:
    return f"{WEBHOOKS}/{webhook}"


def make_quiet_webhook(cast: Cast, **given: object) -> str:
    """Make a webhook that receives nothing, because nobody leaves in these tests."""
    return make_webhook(cast, **{"events": ["person.left"]} | given)


def wait_for_deliveries(session: BrowserSession, webhook: str, *expected: str) -> str:
    """Wait until the list of deliveries shows all of these texts; return its text."""

    def read_list() -> str | None:
        page = visible_text(session.get(f"{webhook_path(webhook)}/deliveries").text)
        return page if all(text in page for text in expected) else None

    return wait_until(read_list)


def newest_delivery_path(session: BrowserSession, webhook: str) -> str:
    """Return the path of the newest delivery."""
    link = re.search(rf'href="({DELIVERIES}/delivery_\w+)"', session.get(f"{webhook_path(webhook)}/deliveries").text)
    assert link
    return link[1]
