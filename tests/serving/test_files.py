"""Files over the wire: framing, clients that break off or send too much, and answers that the server reads itself."""

import socket

import pytest

from cast import Cast
from inside import open_inside
from pictures import drawn
from running import ServerProcess
from talking import Heard, chunked, head, hear
from uploading import MULTIPART, SET_LOGO, left_behind, multipart, part, set_logo, shown_logo, token_parts
from visiting import Visit, visit
from waiting import wait_until


@pytest.fixture
def olivia(server: ServerProcess, cast: Cast) -> Visit:
    return visit(server, cast)


def started(olivia: Visit, **headers: str) -> bytes:
    cookie = "; ".join(f"{name}={value}" for name, value in olivia.cookies.items())
    host = olivia.server.url.removeprefix("http://")
    return head("POST", SET_LOGO, Host=host, Cookie=cookie, Content_Type=MULTIPART, **headers)


def sent(olivia: Visit, *pieces: bytes, then_ends: bool = False) -> Heard:
    settings = olivia.server.settings
    with socket.create_connection((settings.host, settings.port), timeout=30) as line:
        for piece in pieces:
            line.sendall(piece)
        if then_ends:
            line.shutdown(socket.SHUT_WR)
        return hear(line)


def test_a_form_with_a_file_comes_in_chunks_of_any_size(olivia: Visit) -> None:
    body = multipart(*token_parts(olivia), part("logo", drawn(), "logo.png"))
    heard = sent(olivia, started(olivia, Transfer_Encoding="chunked"), chunked(body, 37))
    assert (heard.status, heard.headers["location"]) == (303, "/settings?done=set_logo")
    assert shown_logo(olivia)


def test_a_form_that_ends_too_soon_is_told_so_and_leaves_nothing(olivia: Visit) -> None:
    body = multipart(*token_parts(olivia), part("logo", drawn(), "logo.png"))
    heard = sent(olivia, started(olivia, Content_Length=str(len(body))), body[:-50], then_ends=True)
    assert heard.status == 400
    unended = chunked(body[:-50], 400).removesuffix(b"0\r\n\r\n")
    assert sent(olivia, started(olivia, Transfer_Encoding="chunked"), unended, then_ends=True).status == 400
    assert not shown_logo(olivia)
    # Removed behind the answer, and what answered an earlier test a little later.
    wait_until(lambda: not left_behind(olivia.server))


def test_a_client_that_hangs_up_in_the_middle_of_a_file_leaves_nothing(olivia: Visit) -> None:
    body = multipart(*token_parts(olivia), part("logo", bytes(1_000_000), "logo.png"))
    settings = olivia.server.settings
    for _ in range(3):
        with socket.create_connection((settings.host, settings.port), timeout=30) as line:
            line.sendall(started(olivia, Content_Length=str(len(body))) + body[:500_000])
            # Once a part of it has been written.
            wait_until(lambda: left_behind(olivia.server))
        wait_until(lambda: not left_behind(olivia.server))
    assert not shown_logo(olivia)
    assert '"fault"' not in olivia.server.settings.data.joinpath(f"server-{settings.port}.log").read_text()


@pytest.mark.parametrize("size", [3_000_000, 60_000_000])
def test_whoever_sends_too_much_hears_so_when_everything_is_sent(olivia: Visit, size: int) -> None:
    body = multipart(*token_parts(olivia), part("logo", bytes(size), "photo.jpg"))
    # Everything is sent before anything is heard, as browsers do.
    heard = sent(olivia, started(olivia, Content_Length=str(len(body)), Accept="text/html"), body)
    assert (heard.status, b"The file is larger than 2 MB." in heard.body) == (413, True)
    heard = sent(olivia, started(olivia, Transfer_Encoding="chunked", Accept="text/html"), chunked(body, 60_000))
    assert heard.status == 413


def test_whoever_is_not_signed_in_any_more_is_led_to_sign_in_though_nobody_wanted_the_file(olivia: Visit) -> None:
    body = multipart(*token_parts(olivia), part("logo", bytes(900_000), "logo.png"))
    olivia.cookies.clear()
    heard = sent(olivia, started(olivia, Content_Length=str(len(body))), body)
    assert (heard.status, heard.headers["location"].partition("?")[0]) == (303, "/sign-in")


def test_the_server_answers_from_files_as_the_doors_within_the_process_do(server: ServerProcess, olivia: Visit) -> None:
    assert set_logo(olivia, drawn("PNG", (400, 400))).status_code == 303
    with open_inside(server.settings) as inside:
        here = Visit(inside)
        here.cookies = dict(olivia.cookies)
        for path in ("/people/export.csv", shown_logo(olivia)):
            for method in ("GET", "HEAD"):
                answers = [one._request(method, path, {}, None) for one in (here, olivia)]
                first, second = ({**answer.headers, "x-request-id": "", "date": "", "server": ""} for answer in answers)
                assert first == second
                assert answers[0].content == answers[1].content
                assert bool(answers[0].content) == (method == "GET")
                assert answers[0].status_code == answers[1].status_code == 200
