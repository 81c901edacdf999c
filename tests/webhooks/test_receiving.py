"""The receiver of the document for those who receive webhooks: it is run, and sent what we send."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from listening import listening
from mainstay.values.ids import new_id
from mainstay.values.moments import system_clock
from mainstay.webhooks.signature import Signer

DOCUMENT = Path(__file__).parents[2] / "docs" / "receiving-webhooks.md"
SIGNER = Signer(b"a secret of the installation, long enough")
WEBHOOK = new_id("webhook")


@dataclass(frozen=True)
class Receiving:
    """The receiver, running."""

    names: dict[str, Any]
    url: str

    def send(self, body: bytes, headers: dict[str, str]) -> int:
        return httpx2.post(self.url, content=body, headers=headers, timeout=60).status_code


@pytest.fixture
def receiving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiving]:
    (source,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    monkeypatch.setenv("WEBHOOK_SECRET", SIGNER.shown(WEBHOOK, 2))
    names: dict[str, Any] = {"__name__": "receiver"}
    exec(compile(source, "receiver", "exec"), names)  # the document is ours
    monkeypatch.setattr(names["Receiver"], "log_message", lambda *_: None)
    with listening(names["Receiver"]) as address:
        yield Receiving(names, address)


def event() -> tuple[str, bytes]:
    identity = new_id("evt")
    return identity, b'{"id":"%s","type":"person.joined","data":{"object":{"id":"person_1"}}}' % identity.encode()


def test_what_is_signed_is_taken_and_a_repeat_is_taken_once(
    receiving: Receiving, capsys: pytest.CaptureFixture[str]
) -> None:
    identity, body = event()
    for generations in ([2], [3, 2], [2]):
        headers = SIGNER.headers(WEBHOOK, generations, identity, system_clock(), body)
        assert receiving.send(body, headers) == 204
    assert receiving.names["seen"] == {identity}
    assert capsys.readouterr().out == "person.joined person_1\n"


def test_what_was_altered_forged_overheard_or_not_signed_is_refused(receiving: Receiving) -> None:
    identity, body = event()
    now = system_clock()
    good = SIGNER.headers(WEBHOOK, [2], identity, now, body)
    assert receiving.send(body.replace(b"person_1", b"person_2"), good) == 401
    assert receiving.send(body, good | {"webhook-id": new_id("evt")}) == 401
    assert receiving.send(body, SIGNER.headers(WEBHOOK, [1], identity, now, body)) == 401
    for late in (timedelta(minutes=-6), timedelta(minutes=6)):
        assert receiving.send(body, SIGNER.headers(WEBHOOK, [2], identity, now + late, body)) == 401
    for name in good:
        assert receiving.send(body, {key: value for key, value in good.items() if key != name}) == 401
        assert receiving.send(body, good | {name: "x"}) == 401
    assert receiving.names["seen"] == set()
    assert receiving.send(body, good) == 204
