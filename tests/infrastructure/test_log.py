import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainstay.infrastructure.log import log, log_error

HIDDEN = "[hidden]"


def log_and_read(fields: Mapping[str, object]) -> dict[str, object]:
    stream = io.StringIO()
    write(stream, "x", fields)
    return read_line(stream.getvalue())


# Fields under names that are found at run time could be a level or a stream for all the types know.
write = cast(
    "Callable[[io.StringIO, str, Mapping[str, object]], None]", lambda out, event, f: log(event, stream=out, **f)
)


def read_line(line: str) -> dict[str, object]:
    assert line.count("\n") == 1
    assert line.endswith("\n")
    record = json.loads(line)
    assert isinstance(record, dict)
    return record


def test_a_line_tells_when_how_grave_and_what(capsys: pytest.CaptureFixture[str]) -> None:
    log("request", route="get_person", status=200, ms=1.5)

    record = read_line(capsys.readouterr().err)
    at = record.pop("at")
    assert isinstance(at, str)
    assert at.endswith("Z")
    assert len(at) == len("2026-01-01T00:00:00.000Z")
    assert datetime.fromisoformat(at).utcoffset() == timedelta(0)
    assert record == {"level": "info", "event": "request", "route": "get_person", "status": 200, "ms": 1.5}


def test_a_line_can_be_a_warning_or_an_error() -> None:
    stream = io.StringIO()

    log("x", level="warn", stream=stream)
    log("x", level="error", stream=stream)

    assert [read_line(line)["level"] for line in stream.getvalue().splitlines(keepends=True)] == ["warn", "error"]


def test_a_field_cannot_pass_for_the_head_of_the_line() -> None:
    stream = io.StringIO()

    log("real", stream=stream, at="never", event="forged")

    record = read_line(stream.getvalue())
    assert record["event"] == "real"
    assert record["at"] != "never"


def test_mail_addresses_stay() -> None:
    assert log_and_read({"to": "anna@example.com"})["to"] == "anna@example.com"


TOKEN = "Zm9vYmFyLV9iYXo0Mg"  # the part of each planted secret that must never be seen

SECRETS = [
    f"svc_sk_{TOKEN}",
    f"svc_at_{TOKEN}",
    f"svc_rt_{TOKEN}",
    f"svc_ac_{TOKEN}",
    f"svc_cs_{TOKEN}",
    f"whsec_{TOKEN}+/a==",
    f"Bearer {TOKEN}",
    f"bearer\t{TOKEN}",
    f"BEARER\n{TOKEN}",
    f"Basic {TOKEN}==",
    f"Basic%20{TOKEN}",
    f"\nBearer {TOKEN}",
    f"postgresql://user:{TOKEN}@db.example.org/main",
    f"redis://:{TOKEN}@cache.example.org",
    f"password={TOKEN}",
    f"client_secret={TOKEN}&grant_type=x",
    f"PASSWORD: {TOKEN}",
    f'{{"password": "a\\"{TOKEN}"}}',
    f"{{'token': '{TOKEN}'}}",
    f'{{\\"secret\\":\\"{TOKEN}\\"}}',
    f"Authorization: {TOKEN}",
    f"password=b'{TOKEN}'",
    f"Cookie: theme=dark; session={TOKEN}",
    f"Set-Cookie: session={TOKEN}; HttpOnly",
    f"login(password='{TOKEN}')",
    f"/q/quote_01M7JX5N0000000000000000.{TOKEN}/accept",
    f"/i/invoice_01M7JX5N0000000000000000%2E{TOKEN}",
]


@dataclass(frozen=True, slots=True)
class Holder:
    note: str


class Printed:
    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_in_every_position(secret: str) -> None:
    stream = io.StringIO()
    around = f"before {secret} after"

    log(around, stream=stream)
    log("x", stream=stream, field=around)
    log("x", stream=stream, nested={"deep": [{"er": (around,)}]})
    write(stream, "x", {around: 1})
    log("x", stream=stream, nested={"deep": {around: 1}})
    log("x", stream=stream, pair=[f"{around} token", 1])
    log("x", stream=stream, field=around.encode())
    log("x", stream=stream, field=Holder(around))
    log("x", stream=stream, field=Printed(around))
    log("x", stream=stream, field=around, surrogate="\ud800", large=2**80)
    log("x", stream=stream, field={"deep": [around, 2**80]})

    lines = stream.getvalue().splitlines(keepends=True)
    assert len(lines) == 11
    for line in lines:
        read_line(line)
        assert HIDDEN in line
        assert TOKEN not in line


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_a_fault_is_hidden_in_message_cause_and_traceback(secret: str) -> None:
    stream = io.StringIO()
    with pytest.raises(ValueError) as caught:
        raise_with_secret(secret)

    log_error("fault", caught.value, stream=stream, request="r1")

    record = read_line(stream.getvalue())
    assert (record["level"], record["type"], record["request"]) == ("error", "ValueError", "r1")
    assert HIDDEN in str(record["message"])
    assert "test_log.py" in str(record["traceback"])
    assert "KeyError" in str(record["traceback"])
    assert TOKEN not in stream.getvalue()


def raise_with_secret(secret: str) -> None:
    nothing: dict[str, str] = {}
    try:
        nothing[secret]
    except KeyError as error:
        raise ValueError(secret) from error


def test_prefixes_stay_so_that_a_leak_can_be_traced() -> None:
    text = "svc_sk_abc svc_at_abc svc_rt_abc svc_ac_abc whsec_abc="

    assert log_and_read({"text": text})["text"] == text.replace("abc=", "abc").replace("abc", HIDDEN)


KEYS = ["authorization", "Authorization", "COOKIE", "Set-Cookie", "password", "newPassword", "secret", "client_secret"]


@pytest.mark.parametrize("key", [*KEYS, "token", "refresh_token", "accessToken", "tokens"])
@pytest.mark.parametrize("value", [TOKEN, 4711, [TOKEN], {"a": {"b": TOKEN}}, TOKEN.encode(), f'a"{TOKEN}\\'])
def test_the_value_of_a_key_with_a_secret_name_is_hidden_whatever_it_is(key: str, value: object) -> None:
    assert log_and_read({key: value})[key] == HIDDEN
    assert log_and_read({"a": [{"b": {key: value}}]})["a"] == [{"b": {key: HIDDEN}}]
    assert log_and_read({"headers": [(key, value)]})["headers"] == [[key, HIDDEN]]
    assert log_and_read({"headers": [(key.encode(), value)]})["headers"] == [[key, HIDDEN]]


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError


def make_circle() -> list[object]:
    ring: list[object] = []
    ring.append(ring)
    return ring


ODDITIES = [
    object(),
    Unprintable(),
    {1, 2},
    make_circle(),
    2**70,
    "\ud800",
    {"\ud800": 1},
    {(1, 2): 3},
    {b"a": 1},
    float("nan"),
]


@pytest.mark.parametrize("odd", ODDITIES, ids=lambda odd: type(odd).__name__)
def test_nothing_makes_it_raise_or_spoils_the_rest_of_the_line(odd: object) -> None:
    record = log_and_read({"odd": odd, "count": 3, "deep": [odd]})

    assert (record["event"], record["count"]) == ("x", 3)
    assert "odd" in record


def test_a_fault_that_cannot_be_printed_is_logged() -> None:
    class FaultError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    stream = io.StringIO()
    log_error("fault", FaultError(), stream=stream)

    assert read_line(stream.getvalue())["type"] == "FaultError"


# Nobody measures time here: if one of these took quadratic time, it would not come to an end.
@pytest.mark.parametrize(
    "path",
    ["lnk_" * 250_000, "quote_" * 170_000 + "./", "invoice_" * 125_000 + "%2", "a" * 1_000_000, "svc_" * 250_000],
)
def test_a_long_path_is_logged_at_once(path: str) -> None:
    assert log_and_read({"path": path})["path"] == path


def test_a_stream_that_is_closed_is_no_fault() -> None:
    stream = io.StringIO()
    stream.close()

    log("x", stream=stream)


texts = st.text(st.characters(exclude_categories=()))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary() | st.sampled_from(SECRETS),
    lambda inner: st.lists(inner) | st.dictionaries(texts | st.integers() | st.sampled_from(SECRETS), inner),
    max_leaves=8,
)


@given(event=texts, fields=st.dictionaries(texts.filter(lambda key: key not in {"level", "stream"}), anything))
def test_whatever_is_logged_gives_one_line_of_json_without_the_secret(event: str, fields: dict[str, object]) -> None:
    stream = io.StringIO()

    write(stream, event, fields)

    read_line(stream.getvalue())
    assert TOKEN not in stream.getvalue()
