"""What arrives, and what receivers of every character make of it."""

import asyncio
import socket
import struct
from collections.abc import Mapping
from datetime import timedelta

import orjson
import pytest
import standardwebhooks
import svix.webhooks

from cast import Cast
from dispatching import (
    SIGNER,
    Desk,
    a_dispatcher,
    attempts_made,
    attempts_of,
    delivery_state,
    pointed,
    put_deliveries,
    running,
)
from mainstay.backing.guard import Guard
from mainstay.backing.web import Web
from mainstay.business.people.operations import update_person
from mainstay.terms.rights import Role
from mainstay.values.moments import moment_text
from mainstay.webhooks.endpoints import rotate_webhook_secret
from receivers import OK, Receiver, Talk, hang, proving, saying
from receiving import Heard, Street, heard
from telling import columns_of, deliveries, fan_out_all, make_webhook, set_columns
from waiting import wait_until


def test_an_event_arrives_signed_and_byte_for_byte(desk: Desk, cast: Cast, street: Street) -> None:
    receiver = street.open(saying(OK))
    webhook = pointed(cast, make_webhook(cast, events=["person.updated"]), receiver.url)
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="+49 221 / Köln")
    fan_out_all(cast)
    dispatcher = a_dispatcher(desk)
    with running(dispatcher):
        wait_until(attempts_made(dispatcher, 1))

    (request,) = heard(receiver)
    (delivery,) = deliveries(cast, webhook)
    assert verified(request, webhook, 1) == orjson.loads(request.body)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == delivery["event"]
    assert request.headers["webhook-timestamp"] == str(int(desk.clock().timestamp()))
    event = orjson.loads(request.body)
    assert list(event) == ["object", "id", "type", "createdAt", "organisationId", "sequence", "actor", "data"]
    assert event["data"]["object"]["phone"] == "+49 221 / Köln"
    assert event["data"]["previous"] == {"phone": None}
    assert dispatcher.counts == {"delivered": 1, "failed": 0}


def verified(request: Heard, webhook: str, generation: int) -> object:
    """What two libraries of others make of a request."""
    secret = SIGNER.shown(webhook, generation)
    svix.webhooks.Webhook(secret).verify(request.body, request.headers)
    return standardwebhooks.Webhook(secret).verify(request.body, request.headers)


def test_for_a_day_after_a_rotation_both_secrets_sign(desk: Desk, cast: Cast, street: Street) -> None:
    receiver = street.open(saying(OK))
    webhook = pointed(cast, make_webhook(cast), receiver.url)
    cast.perform(rotate_webhook_secret, webhookId=webhook)
    ago = timedelta(hours=24)
    for age in (timedelta(), ago - timedelta(milliseconds=1), ago):
        set_columns(cast, "webhook", webhook, rotated_at=moment_text(desk.clock() - age))
        put_deliveries(cast, webhook, 1, desk.clock())
        dispatcher = a_dispatcher(desk)
        with running(dispatcher):
            wait_until(attempts_made(dispatcher, 1))

    first, last_minute, after = heard(receiver)
    for request in (first, last_minute):
        assert request.headers["webhook-signature"].count("v1,") == 2
        assert verified(request, webhook, 2) == verified(request, webhook, 1)
    assert after.headers["webhook-signature"].count("v1,") == 1
    assert verified(after, webhook, 2)
    for library in (standardwebhooks.Webhook, svix.webhooks.Webhook):
        with pytest.raises((standardwebhooks.WebhookVerificationError, svix.webhooks.WebhookVerificationError)):
            library(SIGNER.shown(webhook, 1)).verify(after.body, after.headers)


async def drip(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.hear(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def pour(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.hear(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
    for _ in range(1000):
        writer.write(b"x" * 100_000)
        await writer.drain()


async def reset(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.hear(reader)
    line = writer.get_extra_info("socket")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def plain(status: str, *headers: str) -> Talk:
    return saying("\r\n".join([f"HTTP/1.1 {status}", *headers, "Content-Length: 4", "", "said"]).encode())


def test_every_receiver_is_treated_as_was_decided(desk: Desk, cast: Cast, stranger: Cast, street: Street) -> None:
    redirected_to = street.open(saying(OK))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/hook"
    untrusted = street.open(saying(OK), proving())
    table: Mapping[str, tuple[Cast, str]] = {
        "healthy": (cast, street.open(plain("200 OK")).url),
        "500": (cast, street.open(plain("500 Internal Server Error")).url),
        "410": (cast, street.open(plain("410 Gone")).url),
        "429": (cast, street.open(plain("429 Too Many Requests", "Retry-After: 120")).url),
        "redirect": (cast, street.open(plain("307 Temporary Redirect", f"Location: {redirected_to.url}")).url),
        "reset": (cast, street.open(reset).url),
        "hangs": (stranger, street.open(hang).url),
        "drips": (stranger, street.open(drip).url),
        "100 MB": (stranger, street.open(pour).url),
        "bad TLS": (stranger, untrusted.url.replace("http://", "https://")),
        "nobody": (stranger, nobody),
    }
    webhooks = {name: pointed(whose, make_webhook(whose), url) for name, (whose, url) in table.items()}
    made = {}
    late = {"hangs", "drips"}
    # Those who never end are not given the time that the others may need on a busy machine.
    for names, deadline in (({*table} - late, 30.0), (late, 0.5)):
        for name in names:
            (made[name],) = put_deliveries(table[name][0], webhooks[name], 1, desk.clock())
        dispatcher = a_dispatcher(desk, Web(Guard(allow_private=True), deadline=deadline))
        with running(dispatcher):
            wait_until(attempts_made(dispatcher, len(names)))

    found = {}
    for name, (whose, _) in table.items():
        ((number, _, status, error, _, answer),) = attempts_of(whose, made[name])
        assert number == 1
        state, due, *_ = delivery_state(whose, made[name])
        found[name] = state, due, status, error, str(answer)[:10]
    soon, later = (moment_text(desk.clock() + timedelta(seconds=seconds)) for seconds in (5, 120))
    assert found == {
        "healthy": ("delivered", None, 200, None, "said"),
        "500": ("waiting", soon, 500, None, "said"),
        "410": ("failed", None, 410, None, "said"),
        "429": ("waiting", later, 429, None, "said"),
        "redirect": ("waiting", soon, 307, None, "said"),
        "reset": ("waiting", soon, None, "connection broken", ""),
        "hangs": ("waiting", soon, None, "no answer in time", ""),
        "drips": ("waiting", soon, None, "no answer in time", ""),
        "100 MB": ("delivered", None, 200, None, "xxxxxxxxxx"),
        "bad TLS": ("waiting", soon, None, "TLS failed", ""),
        "nobody": ("waiting", soon, None, "connection refused", ""),
    }
    assert redirected_to.requests == []
    for name, (whose, _) in table.items():
        good = name in {"healthy", "100 MB"}
        expected = ("disabled" if name == "410" else "active", int(good), None if good else moment_text(desk.clock()))
        assert columns_of(whose, webhooks[name], "status", "trusted", "failing_since") == expected


def test_an_address_that_is_not_public_is_not_called_upon(desk: Desk, cast: Cast, street: Street) -> None:
    receiver = street.open(saying(OK), proving())
    webhook = pointed(cast, make_webhook(cast), receiver.url.replace("http://", "https://"))
    (delivery,) = put_deliveries(cast, webhook, 1, desk.clock())
    dispatcher = a_dispatcher(desk, Web(Guard(allow_private=False)))
    with running(dispatcher):
        wait_until(attempts_made(dispatcher, 1))
    assert receiver.connections == 0
    assert attempts_of(cast, delivery)[0][3] == "address refused"


def test_a_failed_attempt_is_logged_without_the_query_of_its_address(
    desk: Desk, cast: Cast, street: Street, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver = street.open(plain("500 Internal Server Error"))
    webhook = pointed(cast, make_webhook(cast), f"{receiver.url}?key=hidden")
    (delivery,) = put_deliveries(cast, webhook, 1, desk.clock())
    dispatcher = a_dispatcher(desk)
    with running(dispatcher):
        wait_until(attempts_made(dispatcher, 1))
    (line,) = [line for line in capfd.readouterr().err.splitlines() if delivery in line]
    told = orjson.loads(line)
    assert (told["event"], told["level"], told["status"], told["attempt"]) == ("delivery failed", "warn", 500, 1)
    assert told["url"] == receiver.url
    assert told["again"] == moment_text(desk.clock() + timedelta(seconds=5))
