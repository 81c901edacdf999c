"""Settings → Developer → Webhooks: where events are sent to."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from mainstay.catalogue import CATALOGUE
from mainstay.doors.http import Request, Response
from mainstay.doors.office.deliveries import listed
from mainstay.doors.office.desk import Desk, Guest, filled, notice, once_more, seen_version
from mainstay.doors.office.developer import Snippet
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.render import see_other
from mainstay.kernel.operation import Operation
from mainstay.kernel.refusal import Fault, Invalid, Refusal
from mainstay.values.moments import moment_text
from mainstay.webhooks.deliveries import redeliver_failed, send_test_event
from mainstay.webhooks.endpoints import (
    MOST,
    create_webhook,
    delete_webhook,
    get_webhook,
    list_webhooks,
    rotate_webhook_secret,
    update_webhook,
)
from mainstay.webhooks.signature import Signer, old_secret_until

_PATH = "/settings/developer/webhooks"
_KINDS = [(event.name, event.__doc__ or "") for event in CATALOGUE.events]
# What the name of a checkbox begins with; the kind of event follows.
_CHECKBOX = "kind "
_WALL_TIME = "%Y-%m-%dT%H:%M"
# What is done with one button, by what is said afterwards.
_BUTTONS: dict[str, tuple[Operation, dict[str, object]]] = {
    "paused": (update_webhook, {"status": "paused"}),
    "resumed": (update_webhook, {"status": "active"}),
    "revived": (update_webhook, {"status": "active"}),
    "tested": (send_test_event, {}),
}
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
    """The pages."""

    desk: Desk
    signer: Signer

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        one = f"{_PATH}/{{id}}"
        return [
            Route("GET", _PATH, enter(self.show_all)),
            Route("POST", _PATH, enter(self.create)),
            Route("GET", one, enter(self.show)),
            Route("POST", one, enter(self.change)),
            Route("POST", f"{one}/pause", enter(partial(self._do, done="paused"))),
            Route("POST", f"{one}/resume", enter(partial(self._do, done="resumed"))),
            Route("POST", f"{one}/revive", enter(partial(self._do, done="revived"))),
            Route("POST", f"{one}/test", enter(partial(self._do, done="tested"))),
            Route("POST", f"{one}/redeliver", enter(self.redeliver)),
            Route("POST", f"{one}/rotate", enter(self.rotate)),
            Route("GET", f"{one}/delete", enter(self.show_delete)),
            Route("POST", f"{one}/delete", enter(self.delete)),
        ]

    async def show_all(self, request: Request, guest: Guest, _: str) -> Response:
        """The list, and the form for a new one."""
        return await self._list_page(request, guest, {"which": "all"}, notice=notice(request))

    async def create(self, request: Request, guest: Guest, _: str) -> Response:
        """Make a webhook. The page that answers is the only one that ever shows its secret."""
        fields = await self.desk.form(request, guest)
        try:
            made = await self.desk.perform(request, guest, create_webhook, _given(fields))
        except Refusal as refusal:
            return await self._list_page(request, guest, fields, refusal)
        return self._secret_page(guest, made)

    async def show(self, request: Request, guest: Guest, webhook: str) -> Response:
        """One webhook, with what was sent to it."""
        return await self._page(request, guest, webhook, {}, notice=notice(request))

    async def change(self, request: Request, guest: Guest, webhook: str) -> Response:
        """Change where events are sent, and which."""
        fields = await self.desk.form(request, guest)
        given = _given(fields) | {"webhookId": webhook}
        try:
            await self.desk.perform(request, guest, update_webhook, given, seen_version(fields))
        except Refusal as refusal:
            return await self._page(request, guest, webhook, fields, refusal)
        return see_other(f"{_PATH}/{quote(webhook)}?done=saved")

    async def redeliver(self, request: Request, guest: Guest, webhook: str) -> Response:
        """Send everything again that did not arrive since a time."""
        fields = await self.desk.form(request, guest)
        try:
            since = _moment(fields.get("since", ""), guest.time_zone)
            given = {"webhookId": webhook, "since": since}
            sent = await self.desk.perform(request, guest, redeliver_failed, given)
        except Refusal as refusal:
            return await self._page(request, guest, webhook, fields, refusal)
        done = "part-sent-again" if sent["hasMore"] else "all-sent-again" if sent["count"] else "none-missed"
        return see_other(f"{_PATH}/{quote(webhook)}?done={done}")

    async def rotate(self, request: Request, guest: Guest, webhook: str) -> Response:
        """Make a new secret. The page that answers is the only one that ever shows it."""
        fields = await self.desk.form(request, guest)
        given = {"webhookId": webhook}
        try:
            rotated = await self.desk.perform(request, guest, rotate_webhook_secret, given, seen_version(fields))
        except Refusal as refusal:
            return await self._page(request, guest, webhook, {}, refusal)
        return self._secret_page(guest, rotated)

    async def show_delete(self, request: Request, guest: Guest, webhook: str) -> Response:
        """What would happen if it were deleted."""
        found = await self.desk.perform(request, guest, get_webhook, {"webhookId": webhook})
        preview = await self.desk.perform(request, guest, delete_webhook, {"webhookId": webhook})
        return self.desk.page(
            "confirm.html",
            guest,
            area="Settings",
            deed="Delete the webhook",
            name=found["description"] or "Webhook",
            path=f"{_PATH}/{quote(webhook)}",
            version=found["version"],
            operation=delete_webhook,
            preview=preview,
        )

    async def delete(self, request: Request, guest: Guest, webhook: str) -> Response:
        """Delete it."""
        fields = await self.desk.form(request, guest)
        given = {"webhookId": webhook, "confirmed": True}
        await self.desk.perform(request, guest, delete_webhook, given, seen_version(fields))
        return see_other(f"{_PATH}?done=webhook-deleted")

    async def _do(self, request: Request, guest: Guest, webhook: str, *, done: str) -> Response:
        """Do what is done with one button, and say so on the webhook's page, or say there why not."""
        await self.desk.form(request, guest)
        operation, given = _BUTTONS[done]
        try:
            await self.desk.perform(request, guest, operation, {"webhookId": webhook, **given})
        except Refusal as refusal:
            return await self._page(request, guest, webhook, {}, refusal)
        return see_other(f"{_PATH}/{quote(webhook)}?done={done}")

    async def _list_page(
        self, request: Request, guest: Guest, fields: dict[str, str], refusal: Refusal | None = None, **more: Any
    ) -> Response:
        webhooks = await self.desk.perform(request, guest, list_webhooks)
        return self.desk.form_page(
            "webhooks.html",
            guest,
            fields,
            refusal,
            area="Settings",
            webhooks=webhooks["data"],
            kinds=_KINDS,
            most=MOST,
            create=create_webhook,
            **more,
        )

    async def _page(
        self,
        request: Request,
        guest: Guest,
        webhook: str,
        fields: dict[str, str],
        refusal: Refusal | None = None,
        **more: Any,
    ) -> Response:
        found = await self.desk.perform(request, guest, get_webhook, {"webhookId": webhook})
        fields = once_more(fields, refusal, found["version"])
        now = self.desk.visitors.stage.clock()
        until = old_secret_until(found["rotatedAt"], now)
        since = (now - timedelta(days=1)).astimezone(ZoneInfo(guest.time_zone)).strftime(_WALL_TIME)
        return self.desk.form_page(
            "webhook.html",
            guest,
            # A box that was unticked is not among the fields of a form.
            {"since": since, **({} if "which" in fields else _fields(found)), **fields},
            refusal,
            area="Settings",
            webhook=found,
            kinds=_KINDS,
            old_secret_until=until and moment_text(until),
            update=update_webhook,
            test=send_test_event,
            rotate=rotate_webhook_secret,
            redeliver=redeliver_failed,
            delete=delete_webhook,
            **await listed(self.desk, request, guest, webhook),
            **more,
        )

    def _secret_page(self, guest: Guest, webhook: dict[str, Any]) -> Response:
        secret = self.signer.shown(webhook["id"], webhook["generation"])
        return self.desk.page(
            "webhook_secret.html", guest, area="Settings", webhook=webhook, secret=secret, snippets=_SNIPPETS
        )


def _given(fields: dict[str, str]) -> dict[str, object]:
    """A form's fields as the operations take them."""
    kinds = [name.removeprefix(_CHECKBOX) for name in fields if name.startswith(_CHECKBOX)]
    events = None if fields.get("which") == "all" else kinds
    return {"url": fields.get("url", ""), "events": events, **filled(fields, "description")}


def _fields(webhook: dict[str, Any]) -> dict[str, str]:
    """A webhook as the form shows it."""
    chosen = dict.fromkeys((f"{_CHECKBOX}{kind}" for kind in webhook["events"] or ()), "on")
    return chosen | {
        "url": webhook["url"],
        "description": webhook["description"] or "",
        "which": "all" if webhook["events"] is None else "chosen",
        "version": str(webhook["version"]),
    }


def _moment(text: str, zone: str) -> str:
    """The moment at which the clocks of a place show this; of two, the first."""
    try:
        return moment_text(datetime.strptime(text, _WALL_TIME).replace(tzinfo=ZoneInfo(zone)))
    except ValueError:
        raise Invalid([Fault("since", "is not a date with a time of day")]) from None
