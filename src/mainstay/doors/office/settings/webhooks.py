"""Settings → Developer → Webhooks: the endpoints, their deliveries, and the attempts of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mainstay.catalogue import CATALOGUE
from mainstay.doors.http import Response
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, format_count
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.record_panels import PANELS_WITHOUT_FILES
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.office.settings.developer import Snippet
from mainstay.doors.pages.display import state_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.formatting import format_moment
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.moments import moment_text
from mainstay.webhooks.deliveries import get_delivery, list_deliveries
from mainstay.webhooks.endpoints import create_webhook, get_webhook, rotate_webhook_secret
from mainstay.webhooks.model import TEST_EVENT, DeliveryOut, WebhookOut
from mainstay.webhooks.signature import Signer, find_overlap_end
from mainstay.webhooks.store import DELIVERIES, WEBHOOKS

WEBHOOKS_LAYOUT = RecordLayout(
    kind=WEBHOOKS,
    lead="Webhooks send events to your own server as they happen.",
    base_template="developer.html",
    create_operation=create_webhook,
    title_of=lambda webhook: str(webhook.description or webhook.url),
    subtitle_of=lambda webhook: str(webhook.url if webhook.description else ""),
    columns=("status", "failingSince"),
    facts=("url", "events", "failingSince", "disabledReason", "rotatedAt"),
    choices={"events": [(event.name, event.__doc__ or "") for event in CATALOGUE.events]},
    page_body="webhook.html",
    panels=PANELS_WITHOUT_FILES,
    empty_text="No webhooks yet. Create one to get events on your own server.",
)
DELIVERIES_LAYOUT = RecordLayout(
    kind=DELIVERIES,
    has_list=False,
    lead="",
    base_template="developer.html",
    title_of=lambda delivery: _event_title(delivery.event_type),
    subtitle_of=lambda delivery: str(delivery.event_type),
    columns=(),
    facts=("createdAt", "eventId"),
    parent_path=WEBHOOKS_LAYOUT.path,
    panels=PANELS_WITHOUT_FILES,
    page_body="delivery.html",
)


def _event_title(event_name: str) -> str:
    """Return the title of an event for people."""
    if event_name == TEST_EVENT:
        return translate_text("Test event")
    return _EVENT_TITLES.get(event_name, event_name).rstrip(".")


_EVENT_TITLES = {event.name: event.__doc__ or event.name for event in CATALOGUE.events}

_PYTHON = """\
# pip install standardwebhooks
import os
from standardwebhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])

# Pass the unchanged bytes of the body, and the headers.
# Raises an error if the signature is wrong.
event = webhook.verify(body, headers)"""
_NODE = """\
// npm install standardwebhooks
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

// Pass the unchanged bytes of the body, and the headers.
// Throws an error if the signature is wrong.
const event = webhook.verify(body, headers);"""


def _list_snippets() -> list[Snippet]:
    how = translate_text("Keep the secret in the environment, not in the code:")
    return [Snippet("Python", how, _PYTHON), Snippet("Node", how, _NODE)]


@dataclass(frozen=True, slots=True)
class WebhookPages:
    """The pages, and the parts of pages that update themselves."""

    office: OfficePages
    signer: Signer

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            *RecordPages(
                self.office, WEBHOOKS_LAYOUT, add_variables=self._webhook_variables, reveal_secret=self._reveal_secret
            ).routes(),
            *RecordPages(self.office, DELIVERIES_LAYOUT, add_variables=self._delivery_variables).routes(),
            Route("GET", f"{WEBHOOKS.path}/{{id}}/deliveries", signed_in(self.show_deliveries)),
            Route("GET", f"{DELIVERIES.path}/{{id}}/attempts", signed_in(self.show_attempts)),
        ]

    async def show_deliveries(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the current list of deliveries, without the page around it."""
        webhook = await self.office.perform(request, get_webhook, {"webhookId": path_values["id"]})
        values = await self._delivery_list_variables(request, path_values["id"])
        return self.office.render_page("deliveries.html", request, record=webhook, **values)

    async def show_attempts(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the attempts of a delivery until now, without the page around them."""
        delivery = await self.office.perform(request, get_delivery, {"deliveryId": path_values["id"]})
        return self.office.render_page(
            "attempts.html", request, record=delivery, became=state_of(DeliveryOut, delivery.status)
        )

    async def _webhook_variables(self, request: OfficeRequest, record: AnyRecord | None) -> dict[str, Any]:
        if record is None:
            return {}
        until = find_overlap_end(record.rotated_at, self.office.visitors.performer.clock())
        old_secret_text = format_moment(moment_text(until), request.time_zone) if until else None
        return {
            "old_secret_until": old_secret_text,
            "snippets": _list_snippets(),
            **await self._delivery_list_variables(request, record.id),
        }

    async def _delivery_variables(self, request: OfficeRequest, record: AnyRecord | None) -> dict[str, Any]:
        if record is None:
            return {}
        webhook = await self.office.perform(request, get_webhook, {"webhookId": record.webhook_id})
        body = record.body
        formatted_body = orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode() if body else None
        return {
            "within": {
                "path": WEBHOOKS.path_of(webhook.id),
                "name": WEBHOOKS_LAYOUT.localised_title_of(webhook, request.display),
            },
            # Its status is shown below, in the part that updates itself.
            "state": None,
            "became": state_of(DeliveryOut, record.status),
            "body": formatted_body,
        }

    async def _delivery_list_variables(self, request: OfficeRequest, webhook_id: str) -> dict[str, Any]:
        """Return the deliveries to a webhook, with the filters and page of the address."""
        address = ListAddress.parse(
            f"{WEBHOOKS.path}/{webhook_id}", query_parameters(request.http_request), frozenset({"status"})
        )
        page = await self.office.list_records(request, list_deliveries, address.list_input | {"webhookId": webhook_id})
        return {
            "deliveries": [
                {**vars(one), "state": state_of(DeliveryOut, one.status), "event_title": _event_title(one.event_type)}
                for one in page.data
            ],
            "count": format_count(page.count),
            "filters": {"": "All", **{name: state.label for name, state in DeliveryOut.states.items()}},
            "at": address,
            "next": address.next(page.data[-1].id) if page.has_more else None,
        }

    def _reveal_secret(self, _request: OfficeRequest, operation: Operation, webhook: WebhookOut) -> AnyRecord | None:
        if operation not in {create_webhook, rotate_webhook_secret}:
            return None
        secret = self.signer.reveal_secret(webhook.id, webhook.generation)
        return {"title": translate_text("Signing secret"), "secret": secret}
