"""Bodies on the wire: their length told, not told, or told wrongly."""

import re
import socket
from concurrent.futures import Future, ThreadPoolExecutor

import orjson

from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.raw_http import (
    JSON,
    NEW_PERSON,
    ORGANISATION,
    PEOPLE,
    check_refusal,
    format_head,
    read_error,
    receive_response,
    send_raw,
    to_chunks,
)
from support.servers import ServerProcess

LIMIT = 16_384


def test_a_body_that_never_ends_is_refused_once_it_is_too_large(server: ServerProcess, cast: Cast) -> None:
    start = format_head("POST", PEOPLE, cast.make_key(), Content_Type="application/json", Transfer_Encoding="chunked")

    # The last chunk is not sent: an answer shows that nobody waited for the end.
    heard = send_raw(server, start, to_chunks(b" " * (LIMIT + 1), 4000).removesuffix(b"0\r\n\r\n"))

    assert (heard.status, read_error(heard.body)) == (413, "The body is larger than 16384 bytes.")


def test_a_content_length_that_lies_changes_nothing(server: ServerProcess, cast: Cast) -> None:
    key = cast.make_key()
    body = orjson.dumps(NEW_PERSON)

    # More is announced than comes: refused as soon as too much is there, not waited for.
    start = format_head("POST", PEOPLE, key, Content_Type="application/json", Content_Length="1000000")
    heard = send_raw(server, start, body.ljust(LIMIT + 1))
    assert (heard.status, read_error(heard.body)) == (413, "The body is larger than 16384 bytes.")

    # Less is announced than comes: what is announced is the body, and it is not whole.
    start = format_head("POST", PEOPLE, key, Content_Type="application/json", Content_Length="10")
    heard = send_raw(server, start, body)
    assert heard.status == 400
    assert read_error(heard.body).startswith("The body is not valid JSON")

    # Both ways to tell a length at once, which smugglers like, are not taken.
    start = format_head(
        "POST", PEOPLE, key, Content_Type="application/json", Content_Length="10", Transfer_Encoding="chunked"
    )
    assert 400 <= send_raw(server, start, to_chunks(body.ljust(LIMIT + 1), 4000)).status < 500
    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 5


def test_a_large_body_is_answered_rather_than_cut_off(server: ServerProcess, cast: Cast) -> None:
    check_refusal(server.request("POST", PEOPLE, cast.make_key(), headers=JSON, content=b" " * 300_000), 413)


def test_a_body_that_ends_too_soon_is_told_so_and_changes_nothing(server: ServerProcess, cast: Cast) -> None:
    key = cast.make_key()
    start = format_head("POST", PEOPLE, key, Content_Type="application/json", Content_Length="500")

    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(start + orjson.dumps(NEW_PERSON))
        line.shutdown(socket.SHUT_WR)
        heard = receive_response(line)

    assert (heard.status, read_error(heard.body)) == (400, "The body ended before it was complete.")
    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 5


def test_a_client_that_hangs_up_in_the_middle_of_a_body_harms_nobody(server: ServerProcess, cast: Cast) -> None:
    key = cast.make_key()
    start = format_head("POST", PEOPLE, key, Content_Type="application/json", Content_Length="500")

    for _ in range(10):
        with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
            line.sendall(start + orjson.dumps(NEW_PERSON))

    assert len(server.request("GET", PEOPLE, key).json()["data"]) == 5
    assert '"fault"' not in server.log.read_text()


def test_what_needs_no_body_is_decided_before_the_body_is_read(
    server: ServerProcess, cast: Cast, other_cast: Cast
) -> None:
    key, reading, lapsed = cast.make_key(), cast.make_key(Access.READ), other_cast.make_key()
    other_cast.lapse()

    def status(method: str, path: str, key: str | None, content_type: str = "application/json") -> int:
        # A body is announced and never sent: an answer shows that nobody waited for it.
        heard = send_raw(server, format_head(method, path, key, Content_Type=content_type, Content_Length="500"))
        assert read_error(heard.body)
        return heard.status

    def of(method: str, path: str) -> list[Future[int]]:
        return [
            clients.submit(status, method, path, None),
            clients.submit(status, method, f"{path}/nowhere/at/all", key),
            clients.submit(status, "PUT", path, key),
            clients.submit(status, method, path, reading),
            clients.submit(status, method, path, key, "text/plain"),
            clients.submit(status, method, path, lapsed),
        ]

    # All at once: each waits a second for what is not sent.
    with ThreadPoolExecutor(12) as clients:
        requests = [of("PATCH", f"{PEOPLE}/{cast.people[Role.MEMBER]}"), of("POST", PEOPLE)]
        assert [[answer.result() for answer in answers] for answers in requests] == [[401, 404, 405, 403, 415, 402]] * 2


def test_a_connection_serves_one_request_after_another(server: ServerProcess, cast: Cast) -> None:
    key = cast.make_key()
    requests = (
        format_head("GET", ORGANISATION, key)
        + format_head("HEAD", ORGANISATION, key)
        + format_head("GET", "/api/v1/nowhere", key)
    )

    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(requests)
        received = b""
        while received.count(b"HTTP/1.1 ") < 3 or not received.endswith(b"}"):
            received += line.recv(65536)
        assert re.findall(rb"HTTP/1\.1 (\d+)", received) == [b"200", b"200", b"404"]
        line.sendall(format_head("GET", "/api/v1/me", key))
        assert receive_response(line).json()["person"]["name"] == "Olivia Owner"
