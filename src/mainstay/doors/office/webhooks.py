"""Settings → Developer → Webhooks: where events are sent to, what was sent, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.catalogue import CATALOGUE
from mainstay.doors.http import Response
from mainstay.doors.office.address import ListAddress
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.beside import WITHOUT_FILES
from mainstay.doors.office.desk import Desk, Guest, told
from mainstay.doors.office.developer import Snippet
from mainstay.doors.office.references import AsTold
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.showing import state_of
from mainstay.doors.pages.words import moment
from mainstay.kernel.operation import Operation
from mainstay.values.moments import moment_text
from mainstay.webhooks.deliveries import get_delivery, list_deliveries
from mainstay.webhooks.endpoints import MOST, create_webhook, get_webhook, list_webhooks, rotate_webhook_secret
from mainstay.webhooks.model import TEST, DeliveryOut
from mainstay.webhooks.signature import Signer, old_secret_until

WEBHOOKS = Arrangement(
    title="Webhooks",
    lead=f"A webhook is an address of yours that is told what happens here, as it happens. There are at most {MOST}.",
    path="/settings/developer/webhooks",
    area="Settings",
    frame="developer.html",
    gets=get_webhook,
    lists=list_webhooks,
    creates=create_webhook,
    called=lambda webhook: str(webhook["description"] or webhook["url"]),
    below=lambda webhook: str(webhook["url"] if webhook["description"] else ""),
    columns=("status", "failingSince"),
    facts=("url", "events", "failingSince", "disabledReason", "rotatedAt"),
    choices={"events": [(event.name, event.__doc__ or "") for event in CATALOGUE.events]},
    more="webhook.html",
    sides=WITHOUT_FILES,
    empty="No webhooks yet. Make one, and your own server hears of everything that happens.",
)
DELIVERIES = Arrangement(
    title="Deliveries",
    lead="",
    path="/settings/developer/deliveries",
    area="Settings",
    frame="developer.html",
    gets=get_delivery,
    called=lambda delivery: _happened(delivery["eventType"]),
    below=lambda delivery: str(delivery["eventType"]),
    columns=(),
    facts=("createdAt", "eventId"),
    under=WEBHOOKS.path,
    sides=WITHOUT_FILES,
    more="delivery.html",
)


def _happened(kind: str) -> str:
    """An event as people are told of it."""
    return _EVENTS.get(kind, kind).rstrip(".")


_EVENTS = {event.name: event.__doc__ or event.name for event in CATALOGUE.events} | {TEST: "A test event"}

_PYTHON = """\
# pip install standardwebhooks
import os
from standardwebhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])

# The body byte for byte as it arrived, and the headers.
# Raises an error if they are not ours.
event = webhook.verify(body, headers)"""
_NODE = """\
// npm install standardwebhooks
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

// The body byte for byte as it arrived, and the headers.
// Throws an error if they are not ours.
const event = webhook.verify(body, headers);"""
_SNIPPETS = [
    Snippet("Python", "With the secret in the environment, not in the code:", _PYTHON),
    Snippet("Node", "With the secret in the environment, not in the code:", _NODE),
]


@dataclass(frozen=True, slots=True)
class Webhooks:
    """The pages, and the parts of pages that keep themselves current."""

    desk: Desk
    signer: Signer

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            *Room(self.desk, WEBHOOKS, shows=self._show_webhook, reveals=self._reveal).routes(),
            *Room(self.desk, DELIVERIES, shows=self._show_delivery).routes(),
            Route("GET", f"{WEBHOOKS.path}/{{id}}/deliveries", enter(self.show_deliveries)),
            Route("GET", f"{DELIVERIES.path}/{{id}}/attempts", enter(self.show_attempts)),
        ]

    async def show_deliveries(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The list as it is now, without the page around it."""
        found = await self.desk.perform(guest, get_webhook, {"webhookId": at["id"]})
        listed = await self._listed(guest, at["id"])
        return self.desk.page("deliveries.html", guest, record=found, **listed)

    async def show_attempts(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What became of a delivery until now, without the page around it."""
        found = await self.desk.perform(guest, get_delivery, {"deliveryId": at["id"]})
        return self.desk.page("attempts.html", guest, record=found, became=state_of(DeliveryOut, found["status"]))

    async def _show_webhook(self, guest: Guest, record: AsTold | None) -> dict[str, Any]:
        if record is None:
            return {}
        until = old_secret_until(record["rotatedAt"], self.desk.visitors.stage.clock())
        signs = moment(moment_text(until), guest.time_zone) if until else None
        return {"old_secret_until": signs, "snippets": _SNIPPETS, **await self._listed(guest, record["id"])}

    async def _show_delivery(self, guest: Guest, record: AsTold | None) -> dict[str, Any]:
        if record is None:
            return {}
        webhook = await self.desk.perform(guest, get_webhook, {"webhookId": record["webhookId"]})
        body = record["body"]
        laid_out = orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode() if body else None
        return {
            "within": {"path": f"{WEBHOOKS.path}/{webhook['id']}", "name": WEBHOOKS.called(webhook)},
            # What becomes of it is told below, where it keeps itself current.
            "state": None,
            "became": state_of(DeliveryOut, record["status"]),
            "body": laid_out,
        }

    async def _listed(self, guest: Guest, webhook: str) -> dict[str, Any]:
        """The deliveries to a webhook; which ones is in the address."""
        at = ListAddress.read(f"{WEBHOOKS.path}/{webhook}", query_words(guest.request), frozenset({"status"}))
        page = await self.desk.list(guest, list_deliveries, at.asked | {"webhookId": webhook})
        return {
            "deliveries": [
                one | {"state": state_of(DeliveryOut, one["status"]), "called": _happened(one["eventType"])}
                for one in page["data"]
            ],
            "count": told(page["count"]),
            "filters": {"": "All", **{name: state.word for name, state in DeliveryOut.states.items()}},
            "at": at,
            "next": at.next(page["data"][-1]["id"]) if page["hasMore"] else None,
        }

    def _reveal(self, _guest: Guest, operation: Operation, webhook: AsTold) -> AsTold | None:
        if operation not in {create_webhook, rotate_webhook_secret}:
            return None
        return {"title": "Its secret", "secret": self.signer.shown(webhook["id"], webhook["generation"])}
