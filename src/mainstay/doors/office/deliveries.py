"""Settings → Developer → Webhooks: what was sent, and what became of it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from mainstay.doors.http import Request, Response
from mainstay.doors.office.desk import Desk, Guest, notice, status_of, wrong
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.kernel.refusal import Refusal
from mainstay.webhooks.deliveries import get_delivery, list_deliveries, redeliver_event
from mainstay.webhooks.endpoints import get_webhook

_FILTERS = {"": "All", "failed": "Failed", "waiting": "Waiting", "sending": "Sending", "delivered": "Delivered"}


@dataclass(frozen=True, slots=True)
class Deliveries:
    """The pages, and the parts of pages that keep themselves current."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", "/settings/developer/webhooks/{id}/deliveries", enter(self.show_list)),
            Route("GET", "/settings/developer/deliveries/{id}", enter(self.show)),
            Route("GET", "/settings/developer/deliveries/{id}/attempts", enter(self.show_attempts)),
            Route("POST", "/settings/developer/deliveries/{id}/redeliver", enter(self.redeliver)),
        ]

    async def show_list(self, request: Request, guest: Guest, webhook: str) -> Response:
        """The list as it is now, without the page around it."""
        found = await self.desk.perform(request, guest, get_webhook, {"webhookId": webhook})
        shown = await listed(self.desk, request, guest, webhook)
        return self.desk.page("deliveries.html", guest, webhook=found, **shown)

    async def show(self, request: Request, guest: Guest, delivery: str) -> Response:
        """One delivery."""
        return await self._page(request, guest, delivery, notice=notice(request))

    async def show_attempts(self, request: Request, guest: Guest, delivery: str) -> Response:
        """How it stands with it now, without the page around it."""
        shown = await self._shown(request, guest, delivery)
        return self.desk.page("attempts.html", guest, **shown)

    async def redeliver(self, request: Request, guest: Guest, delivery: str) -> Response:
        """Send it again."""
        await self.desk.form(request, guest)
        try:
            await self.desk.perform(request, guest, redeliver_event, {"deliveryId": delivery})
        except Refusal as refusal:
            return await self._page(request, guest, delivery, refusal)
        return see_other(f"/settings/developer/deliveries/{quote(delivery)}?done=sent-again")

    async def _page(
        self, request: Request, guest: Guest, delivery: str, refusal: Refusal | None = None, **more: Any
    ) -> Response:
        shown = await self._shown(request, guest, delivery)
        body = shown["delivery"]["body"]
        return self.desk.page(
            "delivery.html",
            guest,
            status_of(refusal),
            area="Settings",
            body=orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode() if body else None,
            redeliver=redeliver_event,
            **shown,
            **wrong(refusal),
            **more,
        )

    async def _shown(self, request: Request, guest: Guest, delivery: str) -> dict[str, Any]:
        found = await self.desk.perform(request, guest, get_delivery, {"deliveryId": delivery})
        webhook = await self.desk.perform(request, guest, get_webhook, {"webhookId": found["webhookId"]})
        return {"delivery": found, "webhook": webhook}


async def listed(desk: Desk, request: Request, guest: Guest, webhook: str) -> dict[str, Any]:
    """What the list of a webhook's deliveries shows; which ones is in the address."""
    words = query_words(request)
    asked = {name: words[name] for name in ("status", "startingAfter") if words.get(name)}
    deliveries = await desk.perform(request, guest, list_deliveries, asked | {"webhookId": webhook})
    return {
        "deliveries": deliveries,
        "filters": _FILTERS,
        "chosen": asked.get("status", ""),
        # The same again, and what lies behind it.
        "query": urlencode(asked),
        "query_behind": urlencode(asked | {"startingAfter": deliveries["data"][-1]["id"]})
        if deliveries["hasMore"]
        else None,
    }
