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

from mainstay.business.people.operations import update_person
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.webhook_client import WebhookClient
from mainstay.values.moments import moment_text
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.endpoints import rotate_webhook_secret
from support.cast import Cast
from support.dispatchers import (
    SIGNER,
    QueueHarness,
    has_made_attempts,
    insert_deliveries,
    list_attempts,
    make_dispatcher,
    read_delivery_state,
    run_dispatcher,
    set_webhook_url,
)
from support.receiver_threads import ReceivedRequest, ReceiverThread, received_requests
from support.receivers import OK, ConnectionHandler, Receiver, answer_with, make_server_tls, never_answer
from support.waiting import wait_until
from support.webhooks import fan_out_all, list_stored_deliveries, make_webhook, read_columns, set_columns


def test_an_event_arrives_signed_and_byte_for_byte(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread
) -> None:
    receiver = receiver_thread.open_receiver(answer_with(OK))
    webhook = set_webhook_url(cast, make_webhook(cast, events=["person.updated"]), receiver.url)
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="+49 221 / Köln")
    fan_out_all(cast)
    dispatcher = make_dispatcher(queue_harness)
    with run_dispatcher(dispatcher):
        wait_until(has_made_attempts(dispatcher, 1))

    (request,) = received_requests(receiver)
    (delivery,) = list_stored_deliveries(cast, webhook)
    assert verify_request(request, webhook, 1) == orjson.loads(request.body)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == delivery["event"]
    assert request.headers["webhook-timestamp"] == str(int(queue_harness.clock().timestamp()))
    event = orjson.loads(request.body)
    assert list(event) == ["object", "id", "type", "createdAt", "organisationId", "sequence", "actor", "data"]
    assert event["data"]["object"]["phone"] == "+49 221 / Köln"
    assert event["data"]["previous"] == {"phone": None}
    assert dispatcher.counts == {"delivered": 1, "failed": 0}


def verify_request(request: ReceivedRequest, webhook: str, generation: int) -> object:
    """What two libraries of others make of a request."""
    secret = SIGNER.reveal_secret(webhook, generation)
    svix.webhooks.Webhook(secret).verify(request.body, request.headers)
    return standardwebhooks.Webhook(secret).verify(request.body, request.headers)


def test_for_a_day_after_a_rotation_both_secrets_sign(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread
) -> None:
    receiver = receiver_thread.open_receiver(answer_with(OK))
    webhook = set_webhook_url(cast, make_webhook(cast), receiver.url)
    cast.perform(rotate_webhook_secret, webhookId=webhook)
    ago = timedelta(hours=24)
    for age in (timedelta(), ago - timedelta(milliseconds=1), ago):
        set_columns(cast, "webhook", webhook, rotated_at=moment_text(queue_harness.clock() - age))
        insert_deliveries(cast, webhook, 1, queue_harness.clock())
        dispatcher = make_dispatcher(queue_harness)
        with run_dispatcher(dispatcher):
            wait_until(has_made_attempts(dispatcher, 1))

    first, last_minute, after = received_requests(receiver)
    for request in (first, last_minute):
        assert request.headers["webhook-signature"].count("v1,") == 2
        assert verify_request(request, webhook, 2) == verify_request(request, webhook, 1)
    assert after.headers["webhook-signature"].count("v1,") == 1
    assert verify_request(after, webhook, 2)
    for library in (standardwebhooks.Webhook, svix.webhooks.Webhook):
        with pytest.raises((standardwebhooks.WebhookVerificationError, svix.webhooks.WebhookVerificationError)):
            library(SIGNER.reveal_secret(webhook, 1)).verify(after.body, after.headers)


async def drip(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def pour(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
    for _ in range(1000):
        writer.write(b"x" * 100_000)
        await writer.drain()


async def reset_connection(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await receiver.read_request(reader)
    line = writer.get_extra_info("socket")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def plain_answer(status: str, *headers: str) -> ConnectionHandler:
    return answer_with("\r\n".join([f"HTTP/1.1 {status}", *headers, "Content-Length: 4", "", "said"]).encode())


def test_every_receiver_is_treated_as_was_decided(
    queue_harness: QueueHarness, cast: Cast, other_cast: Cast, receiver_thread: ReceiverThread
) -> None:
    redirected_to = receiver_thread.open_receiver(answer_with(OK))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/hook"
    untrusted = receiver_thread.open_receiver(answer_with(OK), make_server_tls())
    table: Mapping[str, tuple[Cast, str]] = {
        "healthy": (cast, receiver_thread.open_receiver(plain_answer("200 OK")).url),
        "500": (cast, receiver_thread.open_receiver(plain_answer("500 Internal Server Error")).url),
        "410": (cast, receiver_thread.open_receiver(plain_answer("410 Gone")).url),
        "429": (cast, receiver_thread.open_receiver(plain_answer("429 Too Many Requests", "Retry-After: 120")).url),
        "redirect": (
            cast,
            receiver_thread.open_receiver(plain_answer("307 Temporary Redirect", f"Location: {redirected_to.url}")).url,
        ),
        "reset": (cast, receiver_thread.open_receiver(reset_connection).url),
        "hangs": (other_cast, receiver_thread.open_receiver(never_answer).url),
        "drips": (other_cast, receiver_thread.open_receiver(drip).url),
        "100 MB": (other_cast, receiver_thread.open_receiver(pour).url),
        "bad TLS": (other_cast, untrusted.url.replace("http://", "https://")),
        "nobody": (other_cast, nobody),
    }
    webhooks = {
        name: set_webhook_url(expected_webhook, make_webhook(expected_webhook), url)
        for name, (expected_webhook, url) in table.items()
    }
    made = {}
    late = {"hangs", "drips"}
    # Those who never end are not given the time that the others may need on a busy machine.
    for names, deadline in (({*table} - late, 30.0), (late, 0.5)):
        for name in names:
            (made[name],) = insert_deliveries(table[name][0], webhooks[name], 1, queue_harness.clock())
        dispatcher = make_dispatcher(queue_harness, WebhookClient(AddressGuard(allow_private=True), deadline=deadline))
        with run_dispatcher(dispatcher):
            wait_until(has_made_attempts(dispatcher, len(names)))

    found = {}
    for name, (expected_webhook, _) in table.items():
        ((number, _, status, error, _, answer),) = list_attempts(expected_webhook, made[name])
        assert number == 1
        state, due, *_ = read_delivery_state(expected_webhook, made[name])
        found[name] = state, due, status, error, str(answer)[:10]
    soon, later = (moment_text(queue_harness.clock() + timedelta(seconds=seconds)) for seconds in (5, 120))
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
    for name, (expected_webhook, _) in table.items():
        good = name in {"healthy", "100 MB"}
        expected = (
            "disabled" if name == "410" else "active",
            int(good),
            None if good else moment_text(queue_harness.clock()),
        )
        assert read_columns(expected_webhook, webhooks[name], "status", "trusted", "failing_since") == expected


def test_an_address_that_is_not_public_is_not_called_upon(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread
) -> None:
    receiver = receiver_thread.open_receiver(answer_with(OK), make_server_tls())
    webhook = set_webhook_url(cast, make_webhook(cast), receiver.url.replace("http://", "https://"))
    (delivery,) = insert_deliveries(cast, webhook, 1, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness, WebhookClient(AddressGuard(allow_private=False)))
    with run_dispatcher(dispatcher):
        wait_until(has_made_attempts(dispatcher, 1))
    assert receiver.connections == 0
    assert list_attempts(cast, delivery)[0][3] == "address refused"


def test_a_failed_attempt_is_logged_without_the_query_of_its_address(
    queue_harness: QueueHarness, cast: Cast, receiver_thread: ReceiverThread, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver = receiver_thread.open_receiver(plain_answer("500 Internal Server Error"))
    webhook = set_webhook_url(cast, make_webhook(cast), f"{receiver.url}?key=hidden")
    (delivery,) = insert_deliveries(cast, webhook, 1, queue_harness.clock())
    dispatcher = make_dispatcher(queue_harness)
    with run_dispatcher(dispatcher):
        wait_until(has_made_attempts(dispatcher, 1))
    (line,) = [line for line in capfd.readouterr().err.splitlines() if delivery in line]
    entry = orjson.loads(line)
    assert (entry["event"], entry["level"], entry["status"], entry["attempt"]) == ("delivery failed", "warn", 500, 1)
    assert entry["url"] == receiver.url
    assert entry["again"] == moment_text(queue_harness.clock() + timedelta(seconds=5))
