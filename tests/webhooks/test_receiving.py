"""The receiver of the document for those who receive webhooks: it is run, and sent what we send."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mainstay.values.ids import new_id
from mainstay.values.moments import system_clock
from mainstay.webhooks.signature import Signer
from support.http_server import run_http_server

DOCUMENT = Path(__file__).parents[2] / "docs" / "receiving-webhooks.md"
SIGNER = Signer(b"a secret of the installation, long enough")
WEBHOOK = new_id("webhook")


@dataclass(frozen=True)
class RunningReceiver:
    """The receiver, running."""

    names: dict[str, Any]
    url: str

    def send(self, body: bytes, headers: dict[str, str]) -> int:
        return httpx2.post(self.url, content=body, headers=headers, timeout=60).status_code


@pytest.fixture
def running_receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningReceiver]:
    (source,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    monkeypatch.setenv("WEBHOOK_SECRET", SIGNER.reveal_secret(WEBHOOK, 2))
    names: dict[str, Any] = {"__name__": "receiver"}
    exec(compile(source, "receiver", "exec"), names)  # the document is ours
    monkeypatch.setattr(names["Receiver"], "log_message", lambda *_: None)
    with run_http_server(names["Receiver"]) as address:
        yield RunningReceiver(names, address)


def make_event() -> tuple[str, bytes]:
    record_id = new_id("evt")
    return record_id, b'{"id":"%s","type":"person.joined","data":{"object":{"id":"person_1"}}}' % record_id.encode()


def test_what_is_signed_is_taken_and_a_repeat_is_taken_once(
    running_receiver: RunningReceiver, capsys: pytest.CaptureFixture[str]
) -> None:
    record_id, body = make_event()
    for generations in ([2], [3, 2], [2]):
        headers = SIGNER.build_headers(WEBHOOK, generations, record_id, system_clock(), body)
        assert running_receiver.send(body, headers) == 204
    assert running_receiver.names["seen"] == {record_id}
    assert capsys.readouterr().out == "person.joined person_1\n"


def test_what_was_altered_forged_overheard_or_not_signed_is_refused(running_receiver: RunningReceiver) -> None:
    record_id, body = make_event()
    now = system_clock()
    good = SIGNER.build_headers(WEBHOOK, [2], record_id, now, body)
    assert running_receiver.send(body.replace(b"person_1", b"person_2"), good) == 401
    assert running_receiver.send(body, good | {"webhook-id": new_id("evt")}) == 401
    assert running_receiver.send(body, SIGNER.build_headers(WEBHOOK, [1], record_id, now, body)) == 401
    for late in (timedelta(minutes=-6), timedelta(minutes=6)):
        assert running_receiver.send(body, SIGNER.build_headers(WEBHOOK, [2], record_id, now + late, body)) == 401
    for name in good:
        assert running_receiver.send(body, {key: value for key, value in good.items() if key != name}) == 401
        assert running_receiver.send(body, good | {name: "x"}) == 401
    assert running_receiver.names["seen"] == set()
    assert running_receiver.send(body, good) == 204
