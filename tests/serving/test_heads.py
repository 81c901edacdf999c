"""Heads on the wire: names, credentials and keys that a client would not let us send."""

from support.cast import Cast
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, format_head, read_error, send_raw
from support.servers import ServerProcess

NOT_VALID = "This API key is not valid. It may have been revoked."


def test_a_probe_needs_no_name(server: ServerProcess) -> None:
    assert server.request("GET", "/healthz", headers={"Host": "10.1.2.3:8000"}).status_code == 200
    assert send_raw(server, b"GET /healthz HTTP/1.0\r\n\r\n").status == 200


def test_a_request_without_a_host_is_not_for_us(server: ServerProcess, cast: Cast) -> None:
    heard = send_raw(server, f"GET {ORGANISATION} HTTP/1.0\r\nAuthorization: Bearer {cast.make_key()}\r\n\r\n".encode())

    assert (heard.status, read_error(heard.body)) == (421, "This server does not answer under that name.")


def test_a_malformed_or_unknown_key_is_refused(server: ServerProcess, cast: Cast) -> None:
    key = cast.make_key()
    changed = key[:-1] + ("A" if key[-1] != "A" else "B")
    wrong = [
        "",
        "Bearer",
        "Bearer ",
        key,
        f"Basic {key}",
        f"Token {key}",
        f"Bearer{key}",
        f"Bearer: {key}",
        f"Bearer {changed}",
        f"Bearer {key}x",
        f"Bearer {key[:-1]}",
        f"Bearer {key} {key}",
        f"Bearer {key.upper()}",
        f"Bearer {key.removeprefix('svc_sk_')}",
        f"Bearer svc_at_{key.removeprefix('svc_sk_')}",
        "Bearer svc_sk_" + "\u00e9" * 43,
        "Bearer svc_sk_" + "'" * 43,
        "Bearer " + "x" * 5000,
    ]

    for authorization in wrong:
        heard = send_raw(server, format_head("GET", ORGANISATION, Authorization=authorization))

        assert (heard.status, read_error(heard.body)) == (401, NOT_VALID), authorization
        assert heard.headers["www-authenticate"] == "Bearer"


def test_an_idempotency_key_has_1_to_255_printable_characters(server: ServerProcess, cast: Cast) -> None:
    key = cast.make_key()
    for wrong in ("", "x" * 256, "a\tb", "a\x80b"):
        heard = send_raw(
            server,
            format_head(
                "POST", PEOPLE, key, Content_Type="application/json", Content_Length="2", Idempotency_Key=wrong
            ),
            b"{}",
        )
        assert heard.status == 422
        assert b"Idempotency-Key: is not 1 to 255 printable characters" in heard.body

    longest = {"Idempotency-Key": "x" * 255}
    assert server.request("POST", PEOPLE, key, json=NEW_PERSON, headers=longest).status_code == 201
