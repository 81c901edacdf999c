"""Files of agents over the wire: in pieces, broken off, too slow, too large, and after a question."""

import socket

import pytest

from mainstay.business.records.attachments import list_documents
from support.agent_files import request_upload
from support.attachments import PDF, make_attachment_jobs
from support.cast import Cast
from support.raw_http import RawResponse, format_head, read_error, receive_response, to_chunks
from support.servers import ServerProcess
from support.uploads import list_temporary_files
from support.waiting import wait_until

IS_USED = "This address is used now: ask for a new one with request_upload."


@pytest.fixture
def job(cast: Cast) -> str:
    return make_attachment_jobs(cast).job


@pytest.fixture
def path(server: ServerProcess, cast: Cast, job: str) -> str:
    """The path of an upload address."""
    return request_upload(server, cast.make_key(), job)


def send_pieces(server: ServerProcess, *pieces: bytes, then_ends: bool = False) -> RawResponse:
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        for piece in pieces:
            line.sendall(piece)
        if then_ends:
            line.shutdown(socket.SHUT_WR)
        return receive_response(line)


def make_head(server: ServerProcess, path: str, **headers: str) -> bytes:
    return format_head("PUT", path, Host=server.url.removeprefix("http://"), **headers)


def count_files(cast: Cast, job: str) -> int:
    return len(cast.perform(list_documents, recordId=job)["data"])


def test_a_file_comes_in_chunks_of_any_size(server: ServerProcess, cast: Cast, job: str, path: str) -> None:
    heard = send_pieces(server, make_head(server, path, Transfer_Encoding="chunked"), to_chunks(PDF, 7))
    assert heard.status == 201
    assert count_files(cast, job) == 1


def test_a_client_may_ask_before_it_sends(server: ServerProcess, cast: Cast, job: str, path: str) -> None:
    head = make_head(server, path, Content_Length=str(len(PDF)), Expect="100-continue")
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(head)
        assert line.recv(1000).startswith(b"HTTP/1.1 100 ")
        line.sendall(PDF)
        assert receive_response(line).status == 201
    assert count_files(cast, job) == 1


def test_a_client_that_hangs_up_leaves_nothing_and_has_used_the_address(
    server: ServerProcess, cast: Cast, job: str, path: str
) -> None:
    body = bytes(1_000_000)
    with socket.create_connection((server.settings.host, server.settings.port), timeout=30) as line:
        line.sendall(make_head(server, path, Content_Length=str(len(body))) + body[:500_000])
        wait_until(lambda: list_temporary_files(server))
    wait_until(lambda: not list_temporary_files(server))
    assert send_pieces(server, make_head(server, path, Content_Length=str(len(PDF))), PDF).status == 404
    assert count_files(cast, job) == 0


def test_a_file_that_ends_too_soon_is_told_so(server: ServerProcess, cast: Cast, job: str, path: str) -> None:
    head = make_head(server, path, Content_Length=str(len(PDF)))
    heard = send_pieces(server, head, PDF[:-10], then_ends=True)
    assert (heard.status, read_error(heard.body)) == (400, f"The body ended before it was complete. {IS_USED}")
    assert count_files(cast, job) == 0


@pytest.mark.parametrize("size", [16_000_000, 60_000_000])
def test_whoever_sends_too_much_hears_so_when_everything_is_sent(
    server: ServerProcess, cast: Cast, job: str, path: str, size: int
) -> None:
    heard = send_pieces(server, make_head(server, path, Content_Length=str(size)), bytes(size))
    assert (heard.status, read_error(heard.body)) == (413, "The file is larger than 15 MB.")
    chunks = to_chunks(bytes(size), 60_000)
    heard = send_pieces(server, make_head(server, path, Transfer_Encoding="chunked"), chunks)
    assert (heard.status, read_error(heard.body)) == (413, f"The file is larger than 15 MB. {IS_USED}")
    assert count_files(cast, job) == 0
    assert list_temporary_files(server) == []


def test_whoever_may_not_add_files_hears_so_though_the_whole_file_was_sent(
    server: ServerProcess, cast: Cast, path: str
) -> None:
    cast.lapse()
    body = bytes(10_000_000)
    assert send_pieces(server, make_head(server, path, Content_Length=str(len(body))), body).status == 402


def test_the_log_has_no_secret(server: ServerProcess, cast: Cast, path: str) -> None:
    assert cast.organisation
    secret = path.removeprefix("/uploads/svc_ul_")
    for _ in range(2):
        send_pieces(server, make_head(server, path, Content_Length=str(len(PDF))), PDF)
    send_pieces(server, make_head(server, f"/uploads/x%2F{secret}?token={secret}", Content_Length="1"), b"x")
    log = server.log.read_text()
    wait_until(lambda: "/uploads/svc_ul_[hidden]" in server.log.read_text())
    assert f"svc_ul_{secret}" not in log


@pytest.mark.long
def test_a_body_that_comes_too_slowly_is_ended(server: ServerProcess, cast: Cast, job: str, path: str) -> None:
    head = make_head(server, path, Content_Length=str(len(PDF)))
    with socket.create_connection((server.settings.host, server.settings.port), timeout=120) as line:
        line.sendall(head + PDF[:10])
        heard = receive_response(line)
    assert (heard.status, read_error(heard.body)) == (408, f"The body did not arrive in time. Send it again. {IS_USED}")
    assert count_files(cast, job) == 0
    assert list_temporary_files(server) == []
