"""Signatures, verified by the libraries that receivers use."""

from base64 import b64decode
from datetime import UTC, datetime, timedelta

import pytest
import standardwebhooks
import svix.webhooks

from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text, system_clock
from mainstay.webhooks.signature import Signer, find_valid_generations

BODY = '{"object":"event","data":{"name":"Zoë “x” \\\\ </script>"}}'.encode()
SIGNER = Signer(b"a secret of the installation, long enough")
WEBHOOK, MESSAGE = new_id("webhook"), new_id("evt")

Library = type[standardwebhooks.Webhook] | type[svix.webhooks.Webhook]
LIBRARY = pytest.mark.parametrize("library", [standardwebhooks.Webhook, svix.webhooks.Webhook])
FAULTS = (standardwebhooks.WebhookVerificationError, svix.webhooks.WebhookVerificationError)


@LIBRARY
def test_a_receiver_verifies_it_with_the_secret_that_was_shown(library: Library) -> None:
    headers = SIGNER.build_headers(WEBHOOK, [1], MESSAGE, system_clock(), BODY)
    library(SIGNER.reveal_secret(WEBHOOK, 1)).verify(BODY, headers)


@LIBRARY
def test_during_a_rotation_both_secrets_verify_it(library: Library) -> None:
    headers = SIGNER.build_headers(WEBHOOK, [3, 2], MESSAGE, system_clock(), BODY)
    for generation in (2, 3):
        library(SIGNER.reveal_secret(WEBHOOK, generation)).verify(BODY, headers)
    for generation in (1, 4):
        with pytest.raises(FAULTS):
            library(SIGNER.reveal_secret(WEBHOOK, generation)).verify(BODY, headers)


@LIBRARY
@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_what_was_altered_on_the_way_is_not_verified(library: Library, name: str) -> None:
    good = SIGNER.build_headers(WEBHOOK, [1], MESSAGE, system_clock(), BODY)
    other = SIGNER.build_headers(WEBHOOK, [1], new_id("evt"), system_clock() - timedelta(seconds=9), BODY + b" ")
    with pytest.raises(FAULTS):
        library(SIGNER.reveal_secret(WEBHOOK, 1)).verify(BODY, good | {name: other[name]})
    with pytest.raises(FAULTS):
        library(SIGNER.reveal_secret(WEBHOOK, 1)).verify(BODY + b" ", good)


@LIBRARY
def test_another_webhook_and_another_installation_sign_differently(library: Library) -> None:
    headers = SIGNER.build_headers(WEBHOOK, [1], MESSAGE, system_clock(), BODY)
    for secret in (SIGNER.reveal_secret(new_id("webhook"), 1), Signer(b"another").reveal_secret(WEBHOOK, 1)):
        with pytest.raises(FAULTS):
            library(secret).verify(BODY, headers)


def test_the_headers_are_those_of_the_paper() -> None:
    at = datetime(2026, 11, 15, 10, 30, 50, 999_000, tzinfo=UTC)
    headers = SIGNER.build_headers(WEBHOOK, [2, 1], MESSAGE, at, BODY)
    assert list(headers) == ["webhook-id", "webhook-timestamp", "webhook-signature"]
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == (MESSAGE, "1794738650")
    newest, before = headers["webhook-signature"].split(" ")
    assert SIGNER.build_headers(WEBHOOK, [2], MESSAGE, at, BODY)["webhook-signature"] == newest
    assert SIGNER.build_headers(WEBHOOK, [1], MESSAGE, at, BODY)["webhook-signature"] == before


def test_the_secret_has_32_bytes_and_is_the_same_each_time() -> None:
    shown = SIGNER.reveal_secret(WEBHOOK, 1)
    assert shown == Signer(SIGNER.installation_secret).reveal_secret(WEBHOOK, 1)
    assert len(b64decode(shown.removeprefix("whsec_"), validate=True)) == 32


def test_the_installation_s_secret_is_not_told_by_accident() -> None:
    assert "long enough" not in repr(SIGNER)


def test_the_secret_before_a_rotation_signs_for_24_hours_more() -> None:
    now = datetime(2026, 11, 15, 10, 30, 50, tzinfo=UTC)
    assert find_valid_generations(1, None, now) == (1,)
    for passed, good in (
        (timedelta(0), (4, 3)),
        (timedelta(hours=24) - timedelta(milliseconds=1), (4, 3)),
        (timedelta(hours=24), (4,)),
        (timedelta(days=9), (4,)),
    ):
        assert find_valid_generations(4, moment_text(now - passed), now) == good
