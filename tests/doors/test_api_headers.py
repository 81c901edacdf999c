"""The headers of every answer."""

import re

from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.raw_http import JSON, NEW_PERSON, ORGANISATION, PEOPLE
from support.servers import RunningServer


def test_every_answer_has_an_id_of_its_own_and_is_kept_by_nobody(server: RunningServer, cast: Cast) -> None:
    key, reading = cast.make_key(), cast.make_key(Access.READ)
    answers = [
        server.request("GET", ORGANISATION, key),
        server.request("POST", PEOPLE, key, json=NEW_PERSON),
        server.request("GET", ORGANISATION),
        server.request("GET", "/api/v1/nowhere", key),
        server.request("PUT", PEOPLE, key),
        server.request("PATCH", ORGANISATION, reading, json={}),
        server.request("PATCH", ORGANISATION, key, content=b"{}"),
        server.request("PATCH", ORGANISATION, key, headers=JSON, content=b"{"),
        server.request("PATCH", ORGANISATION, key, headers=JSON, content=b" " * 20_000),
        server.request("GET", f"{PEOPLE}?x=1", key),
        server.request("GET", ORGANISATION, key, headers={"Host": "elsewhere.example"}),
        server.request("GET", "/nowhere"),
        server.request("GET", "/healthz"),
        server.request("GET", "/readyz"),
    ]

    assert [answer.status_code for answer in answers] == [
        *(200, 201, 401, 404, 405, 403, 415, 400, 413, 422, 421, 404, 200, 200)
    ]
    for answer in answers:
        assert re.fullmatch(r"req_[0-9a-f]{20}", answer.headers["X-Request-Id"])
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == len(answers)


def test_a_request_cannot_choose_its_id(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", ORGANISATION, cast.make_key(), headers={"X-Request-Id": "req_" + "0" * 20})

    assert answer.headers["X-Request-Id"] != "req_" + "0" * 20


def test_every_answer_to_a_key_tells_its_limit_and_what_is_left(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    requests = [
        ("GET", ORGANISATION, None),
        ("GET", "/api/v1/nowhere", None),
        ("PUT", ORGANISATION, None),
        ("PATCH", ORGANISATION, b"{"),
        ("PATCH", ORGANISATION, b" " * 20_000),
        ("PATCH", ORGANISATION, b'{"name":5}'),
        ("HEAD", ORGANISATION, None),
        ("GET", f"{PEOPLE}/nobody", None),
        ("GET", "/api/v1/openapi.json", None),
    ]

    for used, (method, path, body) in enumerate(requests, start=1):
        answer = server.request(method, path, key, headers=JSON if body else None, content=body)
        assert answer.headers["RateLimit-Limit"] == "600"
        assert answer.headers["RateLimit-Remaining"] == str(600 - used)


def test_without_a_valid_key_there_is_no_limit_to_tell(server: RunningServer) -> None:
    answer = server.request("GET", ORGANISATION)

    assert "RateLimit-Limit" not in answer.headers
    assert "RateLimit-Remaining" not in answer.headers


def test_head_has_the_headers_of_get_and_no_body(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key(Access.READ)

    for path in (ORGANISATION, PEOPLE, f"{PEOPLE}/{cast.people[Role.OWNER]}", "/api/v1/openapi.json", "/healthz"):
        shown = server.request("GET", path, key)
        heads = server.request("HEAD", path, key)
        assert heads.status_code == 200
        assert heads.content == b""
        for name in ("Content-Length", "Content-Type", "ETag", "Cache-Control"):
            assert heads.headers.get(name) == shown.headers.get(name)
    assert server.request("HEAD", f"{PEOPLE}/nobody", key).status_code == 404
    assert server.request("HEAD", f"{PEOPLE}/nobody", key).content == b""


def test_there_is_no_cross_origin_door_to_the_api(server: RunningServer, cast: Cast) -> None:
    answer = server.request("GET", ORGANISATION, cast.make_key(), headers={"Origin": "http://localhost:3000"})

    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
