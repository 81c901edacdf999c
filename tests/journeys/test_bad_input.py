"""Whatever is sent, the answer is of a documented shape, and never a fault of ours."""

import http.client
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any
from urllib.parse import quote_from_bytes

import hypothesis
import orjson
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.raw_http import ORGANISATION, PEOPLE, read_error
from support.servers import RunningServer

# What one engine takes, the other may choke on.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# How many cases for each operation, access and way of making them; and how many mangled requests.
FEW, MANY = 2, 350
FEW_MANGLED, MANY_MANGLED = 300, 12_000
# Most of them are refused before they reach a database: of these, another engine is sent fewer.
FEWER_MANGLED = 100
# Where a message ends is for the client to say: what is wrong there never becomes a request.
FRAMING = ("content-length", "transfer-encoding")
# A key may make 600 requests a minute: a fresh one in time, and no limit is in the way.
REQUESTS_OF_A_KEY = 500


@dataclass
class Keys:
    """Keys of an access, each used for a while."""

    cast: Cast
    access: Access
    used: int = 0
    current: str = ""

    def take(self) -> str:
        if self.used % REQUESTS_OF_A_KEY == 0:
            self.current = self.cast.make_key(self.access)
        self.used += 1
        return self.current


Operation = schemathesis.schemas.APIOperation[Any, Any, Any, Any]
Mode = schemathesis.GenerationMode


def _is_anything(_operation: Operation, _mode: Mode) -> bool:
    return True


def _reaches_database(operation: Operation, mode: Mode) -> bool:
    """Tell whether the case reaches the database: an invalid change is refused before, whatever the engine."""
    return mode is Mode.POSITIVE or operation.method == "get"


def _is_change(operation: Operation, mode: Mode) -> bool:
    """Those that only a right is wanting for: what else is wrong with a change is not looked at without it."""
    return mode is Mode.POSITIVE and operation.method != "get"


def test_every_described_operation_answers_as_described(server: RunningServer, cast: Cast, engine: str) -> None:
    tried = _is_anything if engine == "sqlite" else _reaches_database

    assert {200, 422} <= _try_described(server, Keys(cast, Access.WRITE), FEW, tried)


# The tests above try every change as people who may make it. This one tries them as people who may only read.
@pytest.mark.engines("sqlite")
def test_every_described_change_answers_those_who_only_read_as_described(server: RunningServer, cast: Cast) -> None:
    assert 403 in _try_described(server, Keys(cast, Access.READ), FEW, _is_change)


@pytest.mark.long
@pytest.mark.parametrize("access", Access)
def test_every_described_operation_answers_as_described_very_often(
    server: RunningServer, cast: Cast, access: Access
) -> None:
    seen = _try_described(server, Keys(cast, access), MANY, _is_anything)

    assert {200, 422 if access is Access.WRITE else 403} <= seen


def _try_described(server: RunningServer, keys: Keys, cases: int, tried: Callable[[Operation, Mode], bool]) -> set[int]:
    """Send valid and invalid cases made from the served description; return the statuses of the answers."""
    described = server.request("GET", "/api/v1/openapi.json", keys.take()).text
    base_url = f"{server.url}/api/v1"
    # Under another name the server answers nothing at all.
    host = server.url.removeprefix("http://")
    session = requests.Session()
    seen: set[int] = set()

    for operation, mode in product(_operations(described), Mode):
        if not tried(operation, mode):
            continue

        @_settings_for(cases)
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def attempt(case: schemathesis.Case[Any]) -> None:
            for name in FRAMING:
                case.headers.pop(name, None)
            answer = case.call(base_url, session, {"Authorization": f"Bearer {keys.take()}", "Host": host})
            seen.add(answer.status_code)
            case.validate_response(answer, checks=CHECKS)

        try:
            attempt()
        except hypothesis.errors.Unsatisfiable:
            # There is nothing wrong that could be sent where nothing is asked for.
            assert mode is Mode.NEGATIVE
    session.close()
    return seen


@cache
def _operations(described: str) -> list[Operation]:
    """Read once: each keeps what makes its cases, which takes longer than they do."""
    operations = []
    for found in schemathesis.openapi.from_dict(json.loads(described)).get_all_operations():
        assert isinstance(found, Ok)
        operations.append(found.ok())
    return operations


def _settings_for(cases: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def test_a_mangled_request_is_refused_in_the_one_shape(server: RunningServer, cast: Cast, engine: str) -> None:
    _send_mangled(server, cast, FEW_MANGLED if engine == "sqlite" else FEWER_MANGLED)


@pytest.mark.long
def test_very_many_mangled_requests_are_refused_in_the_one_shape(server: RunningServer, cast: Cast) -> None:
    _send_mangled(server, cast, MANY_MANGLED)


VALID = orjson.dumps(
    {
        "name": "Zoë",
        "email": "zoe@new.example",
        "role": "member",
        "skills": ["gas", "\U0001f600"],
        "colour": "#aabbcc",
        "costRate": 12.5,
        "billRate": "80.00",
    }
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        *("name", "email", "role", "phone", "skills", "colour", "companyName", "costRate", "billRate", "confirmed"),
        *("country", "currency", "timeZone", "address", "taxNumber", "legalName", "id", "status", "version"),
    ]
)


@st.composite
def damaged_bodies(draw: st.DrawFn) -> bytes:
    """A valid body with some bytes changed, taken out or put in."""
    body = bytearray(VALID)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(body)))
        body[at : at + draw(st.integers(0, 3))] = draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b"\\u", b"\\", b"[", b"1e9"])
        )
    return bytes(body)


BODIES = (
    # Python's own writer also writes what is no JSON: NaN, lone surrogates, numbers beyond every bound.
    st.dictionaries(FIELDS, VALUES, max_size=4).map(lambda value: json.dumps(value).encode())
    | damaged_bodies()
    | st.binary(max_size=60)
)
HEADERS = st.dictionaries(
    st.sampled_from(["If-Match", "Idempotency-Key", "Content-Type", "X-Organisation-Id", "Accept", "Expect-Nothing"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=20),
    max_size=2,
)
# What may stand in an address at all: HTTP itself refuses the rest.
ODD_TEXTS = st.text("abXY019-._~:/?@!$&'()*+,;=%[]", max_size=20) | st.binary(max_size=8).map(quote_from_bytes)


@dataclass(frozen=True)
class Mangled:
    """A request as it might come from a broken client, or from one that looks for weak places."""

    method: str
    path: str
    tail: str
    query: str
    headers: dict[str, str]
    body: bytes


def _send_mangled(server: RunningServer, cast: Cast, cases: int) -> None:
    keys = Keys(cast, Access.WRITE)
    member = f"{PEOPLE}/{cast.people[Role.MEMBER]}"
    mangled_requests = st.builds(
        Mangled,
        method=st.sampled_from(["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"]),
        path=st.sampled_from([ORGANISATION, PEOPLE, member, f"{member}/remove", f"{PEOPLE}/", "/api/v1/"]),
        tail=st.just("") | ODD_TEXTS,
        query=st.just("") | ODD_TEXTS.map("?{}".format),
        headers=HEADERS,
        body=BODIES,
    )

    @_settings_for(cases)
    @hypothesis.given(mangled_requests)
    def attempt(mangled: Mangled) -> None:
        headers = {"Content-Type": "application/json", **mangled.headers, "Authorization": f"Bearer {keys.take()}"}
        sent = {name: value.encode("latin-1") for name, value in headers.items()}
        path = mangled.path + mangled.tail + mangled.query
        # A connection each: a server may close one whose body it did not need.
        with closing(http.client.HTTPConnection(server.settings.host, server.settings.port, timeout=30)) as connection:
            connection.request(mangled.method, path, mangled.body, sent)
            response = connection.getresponse()
            answer = response.read()
        assert response.status < 500, answer
        if response.status >= 400 and mangled.method != "HEAD":
            assert read_error(answer)

    attempt()
