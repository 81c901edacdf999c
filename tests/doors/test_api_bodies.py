"""What the body of a write may be."""

from collections.abc import Iterator

import httpx2
import orjson
import pytest

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.raw_http import JSON, NEW_PERSON, ORGANISATION, PEOPLE, check_refusal, remove_known_names
from support.servers import RunningServer

LIMIT = 16_384


def post_body(server: RunningServer, key: str, body: bytes, **headers: str) -> httpx2.Response:
    return server.request("POST", PEOPLE, key, headers=JSON | headers, content=body)


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/json, text/plain",
        "application/json; charset=iso-8859-1",
        "application/json; profile=x; charset=iso-8859-1",
        "text/json",
        "application/problem+json",
        "*/*",
    ],
)
def test_a_write_that_is_not_json_by_its_header_is_refused(
    server: RunningServer, cast: Cast, content_type: str | None
) -> None:
    key = cast.make_key()
    headers = {} if content_type is None else {"Content-Type": content_type}

    check_refusal(server.request("POST", PEOPLE, key, headers=headers, content=orjson.dumps(NEW_PERSON)), 415)
    # With or without a body.
    check_refusal(server.request("PATCH", ORGANISATION, key, headers=headers), 415)
    check_refusal(
        server.request("POST", f"{PEOPLE}/{cast.people[Role.MEMBER]}/remove", key, headers=headers, content=b""), 415
    )


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
        "application/json; profile=x",
    ],
)
def test_json_may_be_spelled_in_every_usual_way(server: RunningServer, cast: Cast, content_type: str) -> None:
    answer = server.request(
        "POST", PEOPLE, cast.make_key(), headers={"Content-Type": content_type}, content=orjson.dumps(NEW_PERSON)
    )

    assert answer.status_code == 201


def test_16_384_bytes_pass_and_one_more_does_not(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    body = orjson.dumps(NEW_PERSON)

    assert check_refusal(post_body(server, key, body.ljust(LIMIT + 1)), 413) == "The body is larger than 16384 bytes."
    assert post_body(server, key, body.ljust(LIMIT)).status_code == 201


def test_the_bytes_are_counted_when_nobody_says_how_many_there_are(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    body = orjson.dumps(NEW_PERSON)

    def in_pieces(size: int) -> Iterator[bytes]:
        whole = body.ljust(size)
        for start in range(0, size, 1000):
            yield whole[start : start + 1000]

    for size, status in ((LIMIT + 1, 413), (LIMIT, 201)):
        answer = server.request("POST", PEOPLE, key, headers=JSON, content=in_pieces(size))
        assert "content-length" not in answer.request.headers
        assert answer.status_code == status


def test_an_empty_body_is_not_json(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    assert check_refusal(post_body(server, key, b""), 400) == "The body is empty. Send a JSON object, at least {}."
    check_refusal(server.request("PATCH", ORGANISATION, key, headers=JSON), 400)
    check_refusal(post_body(server, key, b"   "), 400)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"name":"x"',
        b"nonsense",
        b"{'name':'x'}",
        b'{"name":"x",}',
        b'{"name":"x"}{}',
        b'{"name":"x"} // more',
        b'{"name":"\x01"}',
        # not UTF-8
        b'{"name":"\xff"}',
        b'{"name":"\xed\xa0\x80"}',
        '{"name":"x"}'.encode("utf-16"),
        '{"name":"x"}'.encode("utf-16-le"),
        b"\xef\xbb\xbf" + b'{"name":"x"}',
        # too deep
        b"[" * 33 + b"]" * 33,
        b"[" * 8000,
        b'{"a":' * 3000,
        # no numbers
        b'{"costRate":NaN}',
        b'{"costRate":Infinity}',
        b'{"costRate":-Infinity}',
        b'{"costRate":1e999}',
        b'{"costRate":-1e999}',
        b'{"costRate":01}',
        # too large for a double to keep
        b'{"costRate":9007199254740992}',
        b'{"costRate":-9007199254740992}',
        b'{"costRate":' + b"9" * 5000 + b"}",
        # twice
        b'{"name":"x","name":"x"}',
        b'{"skills":[{"a":1,"a":2}]}',
        # half a character, and none
        rb'{"name":"\ud800"}',
        rb'{"name":"\udc00\ud800"}',
        rb'{"\ud800":1}',
        rb'{"name":"\u0000"}',
        b'{"name":"\x00"}',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_malformed_json_is_refused_on_both_engines_alike(server: RunningServer, cast: Cast, body: bytes) -> None:
    assert check_refusal(post_body(server, cast.make_key(), body), 400).startswith("The body is not valid JSON: ")


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"5", b"null", b"true", b"[" * 32 + b"]" * 32])
def test_json_that_is_not_an_object_is_invalid(server: RunningServer, cast: Cast, body: bytes) -> None:
    assert check_refusal(post_body(server, cast.make_key(), body), 422) == "body: is not an object"


def test_all_wrong_fields_are_named_at_once_with_semicolons_between(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    message = remove_known_names(
        check_refusal(post_body(server, key, b'{"name":5,"role":"king","colour":"red","nonsense":1}'), 422)
    )

    faults = dict(fault.split(": ", 1) for fault in message.split("; "))
    assert faults == {
        "name": "is not text",
        "email": "is required",
        "role": "is not one of 'admin', 'office', 'member' or 'subcontractor'",
        "colour": "is not a colour such as #3366cc",
        "nonsense": "is not known here",
    }
    assert (
        check_refusal(post_body(server, key, b"{}"), 422) == "name: is required; email: is required; role: is required"
    )


def test_what_is_wrong_in_address_headers_and_body_is_told_together(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    member = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    listed = server.request("GET", f"{PEOPLE}?limit=1&limit=2&role=king&x=1", key)
    assert {fault.split(":")[0] for fault in check_refusal(listed, 422).split("; ")} == {"limit", "role", "x"}
    changed = server.request(
        "PATCH", f"{member}?x=1", key, headers={"Idempotency-Key": ""}, json={"name": 5, "y": 1, "personId": "z"}
    )
    places = {fault.split(":")[0] for fault in check_refusal(changed, 422).split("; ")}
    assert places == {"x", "Idempotency-Key", "name", "y", "personId"}


@pytest.mark.parametrize(
    "number", ["1e2", "1.5e1", "2E0", "1e22", "1e-7", "85.500000000000001", "0.10000000000000001", "12.34567"]
)
def test_a_price_is_a_plain_decimal(server: RunningServer, cast: Cast, number: str) -> None:
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"
    # With a blank behind the colon and without: two parsers look at them.
    for body in (f'{{"costRate":{number}}}', f'{{"costRate": {number}}}'):
        answer = server.request("PATCH", path, cast.make_key(), headers=JSON, content=body.encode())
        assert check_refusal(answer, 422).startswith("costRate: is not a number such as 85.50")
    for field, problem in (("name", "is not text"), ("skills", "is not a list")):
        body = f'{{"{field}":{number}}}'
        answer = server.request("PATCH", path, cast.make_key(), headers=JSON, content=body.encode())
        assert check_refusal(answer, 422) == f"{field}: {problem}"


def test_what_is_decided_elsewhere_cannot_be_written(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    key = cast.make_key()
    for field in ("id", "organisationId", "organisation_id", "status", "version", "createdAt", "createdBy", "object"):
        answer = post_body(server, key, orjson.dumps({**NEW_PERSON, field: other_cast.organisation}))
        assert remove_known_names(check_refusal(answer, 422)) == f"{field}: is not known here"

    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"
    for field in ("personId", "person_id", "role"):
        message = check_refusal(server.request("PATCH", path, key, json={field: "x"}), 422)
        assert remove_known_names(message) == f"{field}: is not known here"


@pytest.mark.parametrize("confirmed", ["true", "yes", 1, 1.0, [True], None, "True"])
def test_a_boolean_is_a_json_boolean_and_nothing_else(server: RunningServer, cast: Cast, confirmed: object) -> None:
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"

    message = check_refusal(
        server.request("POST", f"{path}/remove", cast.make_key(), json={"confirmed": confirmed}), 422
    )

    assert message == "confirmed: is not true or false (send the JSON boolean true, not text)"
    assert server.request("GET", path, cast.make_key()).json()["status"] == "active"


def test_a_foreign_id_and_an_unknown_id_are_told_apart_by_nothing(
    server: RunningServer, cast: Cast, other_cast: Cast
) -> None:
    key = cast.make_key()
    foreign = other_cast.people[Role.MEMBER]
    unknown = foreign[:-1] + ("0" if foreign[-1] != "0" else "1")

    for method, tail, body in (
        ("GET", "", None),
        ("PATCH", "", {"phone": "1"}),
        ("POST", "/remove", {}),
        ("POST", "/remove", {"confirmed": True}),
    ):
        first, second, third = (
            server.request(method, f"{PEOPLE}/{record_id}{tail}", key, json=body)
            for record_id in (foreign, unknown, "nonsense")
        )
        assert check_refusal(first, 404) == "There is no person with that identifier."
        assert first.content == second.content == third.content
        for answer in (first, second):
            for name in ("X-Request-Id", "RateLimit-Remaining", "Date"):
                answer.headers.pop(name, None)
        assert sorted(first.headers.items()) == sorted(second.headers.items())
    assert server.request("GET", f"{PEOPLE}/{foreign}", other_cast.make_key()).json()["status"] == "active"
