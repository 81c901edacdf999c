"""Files over the wire: framing, clients that break off or send too much, and answers that the server reads itself."""

import socket

import pytest

from support.browser_session import BrowserSession, sign_in_new_person
from support.cast import Cast
from support.images import draw_image
from support.in_process import run_in_process
from support.raw_http import RawResponse, format_head, receive_response, to_chunks
from support.servers import ServerProcess
from support.uploads import (
    MULTIPART,
    SET_LOGO,
    list_temporary_files,
    make_multipart,
    make_part,
    make_token_parts,
    read_logo_address,
    upload_logo,
)
from support.waiting import wait_until


@pytest.fixture
def olivia(server: ServerProcess, cast: Cast) -> BrowserSession:
    return sign_in_new_person(server, cast)


def make_head(olivia: BrowserSession, **headers: str) -> bytes:
    cookie = "; ".join(f"{name}={value}" for name, value in olivia.cookies.items())
    host = olivia.server.url.removeprefix("http://")
    return format_head("POST", SET_LOGO, Host=host, Cookie=cookie, Content_Type=MULTIPART, **headers)


def send_pieces(olivia: BrowserSession, *pieces: bytes, then_ends: bool = False) -> RawResponse:
    settings = olivia.server.settings
    with socket.create_connection((settings.host, settings.port), timeout=30) as line:
        for piece in pieces:
            line.sendall(piece)
        if then_ends:
            line.shutdown(socket.SHUT_WR)
        return receive_response(line)


def test_a_form_with_a_file_comes_in_chunks_of_any_size(olivia: BrowserSession) -> None:
    body = make_multipart(*make_token_parts(olivia), make_part("logo", draw_image(), "logo.png"))
    heard = send_pieces(olivia, make_head(olivia, Transfer_Encoding="chunked"), to_chunks(body, 37))
    assert (heard.status, heard.headers["location"]) == (303, "/settings?done=set_logo")
    assert read_logo_address(olivia)


def test_a_form_that_ends_too_soon_is_told_so_and_leaves_nothing(olivia: BrowserSession) -> None:
    body = make_multipart(*make_token_parts(olivia), make_part("logo", draw_image(), "logo.png"))
    heard = send_pieces(olivia, make_head(olivia, Content_Length=str(len(body))), body[:-50], then_ends=True)
    assert heard.status == 400
    unended = to_chunks(body[:-50], 400).removesuffix(b"0\r\n\r\n")
    assert send_pieces(olivia, make_head(olivia, Transfer_Encoding="chunked"), unended, then_ends=True).status == 400
    assert not read_logo_address(olivia)
    # Removed behind the answer, and what answered an earlier test a little later.
    wait_until(lambda: not list_temporary_files(olivia.server))


def test_a_client_that_hangs_up_in_the_middle_of_a_file_leaves_nothing(olivia: BrowserSession) -> None:
    body = make_multipart(*make_token_parts(olivia), make_part("logo", bytes(1_000_000), "logo.png"))
    settings = olivia.server.settings
    for _ in range(3):
        with socket.create_connection((settings.host, settings.port), timeout=30) as line:
            line.sendall(make_head(olivia, Content_Length=str(len(body))) + body[:500_000])
            # Once a part of it has been written.
            wait_until(lambda: list_temporary_files(olivia.server))
        wait_until(lambda: not list_temporary_files(olivia.server))
    assert not read_logo_address(olivia)
    assert '"fault"' not in olivia.server.settings.data.joinpath(f"server-{settings.port}.log").read_text()


@pytest.mark.parametrize("size", [3_000_000, 60_000_000])
def test_whoever_sends_too_much_hears_so_when_everything_is_sent(olivia: BrowserSession, size: int) -> None:
    body = make_multipart(*make_token_parts(olivia), make_part("logo", bytes(size), "photo.jpg"))
    # Everything is sent before anything is heard, as browsers do.
    heard = send_pieces(olivia, make_head(olivia, Content_Length=str(len(body)), Accept="text/html"), body)
    assert (heard.status, b"The file is larger than 2 MB." in heard.body) == (413, True)
    heard = send_pieces(
        olivia, make_head(olivia, Transfer_Encoding="chunked", Accept="text/html"), to_chunks(body, 60_000)
    )
    assert heard.status == 413


def test_whoever_is_not_signed_in_any_more_is_led_to_sign_in_though_nobody_wanted_the_file(
    olivia: BrowserSession,
) -> None:
    body = make_multipart(*make_token_parts(olivia), make_part("logo", bytes(900_000), "logo.png"))
    olivia.cookies.clear()
    heard = send_pieces(olivia, make_head(olivia, Content_Length=str(len(body))), body)
    assert (heard.status, heard.headers["location"].partition("?")[0]) == (303, "/sign-in")


def test_the_server_answers_from_files_as_the_doors_within_the_process_do(
    server: ServerProcess, olivia: BrowserSession
) -> None:
    assert upload_logo(olivia, draw_image("PNG", (400, 400))).status_code == 303
    with run_in_process(server.settings) as inside:
        here = BrowserSession(inside)
        here.cookies = dict(olivia.cookies)
        for path in ("/people/export.csv", read_logo_address(olivia)):
            for method in ("GET", "HEAD"):
                answers = [one._request(method, path, {}, None) for one in (here, olivia)]
                first, second = ({**answer.headers, "x-request-id": "", "date": "", "server": ""} for answer in answers)
                assert first == second
                assert answers[0].content == answers[1].content
                assert bool(answers[0].content) == (method == "GET")
                assert answers[0].status_code == answers[1].status_code == 200
