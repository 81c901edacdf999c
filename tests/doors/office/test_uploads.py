"""Forms with files: received whole or refused in words, and nothing is left of them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from mainstay.business.organisation.logo import MAX_LOGO_BYTES
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.images import draw_image
from support.servers import RunningServer
from support.uploads import (
    BOUNDARY,
    MULTIPART,
    SET_LOGO,
    list_temporary_files,
    make_multipart,
    make_part,
    make_token_parts,
    read_form_tokens,
    read_logo_address,
    split_body,
)

PICTURE = make_part("logo", draw_image(), "logo.png")


@dataclass(frozen=True)
class Sender:
    """Someone who may set a logo, with the tokens of a form."""

    visiting: BrowserSession
    server: RunningServer
    parts: list[bytes]

    def send(self, *parts: bytes, content_type: str = MULTIPART) -> tuple[int, str]:
        """Send these parts behind the tokens; the status and the words of the answer."""
        return self.send_body(make_multipart(*self.parts, *parts), content_type)

    def send_body(self, body: bytes, content_type: str = MULTIPART, size: int = 0) -> tuple[int, str]:
        """Send a body, whole or in pieces of a size."""
        before = set(list_temporary_files(self.server))
        sent = split_body(body, size) if size else body
        answer = self.visiting.send_body(SET_LOGO, sent, Content_Type=content_type)
        # What others are writing for a moment may be there; of this request nothing is.
        assert set(list_temporary_files(self.server)) <= before
        return answer.status_code, visible_text(answer.text)


@pytest.fixture
def sender(server: RunningServer, cast: Cast) -> Sender:
    olivia = sign_in_new_person(server, cast)
    return Sender(olivia, server, make_token_parts(olivia))


def test_a_form_with_a_file_is_received(sender: Sender) -> None:
    assert sender.send(PICTURE)[0] == 303
    assert read_logo_address(sender.visiting)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_it_may_come_in_pieces_of_any_size(sender: Sender, size: int) -> None:
    assert sender.send_body(make_multipart(*sender.parts, PICTURE), size=size)[0] == 303
    assert read_logo_address(sender.visiting)


def test_a_boundary_may_be_quoted_and_an_end_without_a_line_is_one(sender: Sender) -> None:
    body = make_multipart(*sender.parts, PICTURE, end=b"--")
    assert sender.send_body(body, f'multipart/form-data; boundary="{BOUNDARY.decode()}"')[0] == 303


def test_what_a_file_is_called_is_of_no_interest(sender: Sender) -> None:
    for called in ("../../secret", "/etc/passwd", "a\\b.exe", "%00.png", "x" * 3000):
        assert sender.send(make_part("logo", draw_image(), called))[0] == 303, called


def test_a_file_that_was_not_chosen_is_asked_for(sender: Sender) -> None:
    for sent in ([make_part("logo", b"", "")], [make_part("logo", b"/etc/passwd")], []):
        status, text = sender.send(*sent)
        assert (status, "Enter a logo." in text) == (422, True)
    assert not read_logo_address(sender.visiting)


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "multipart/mixed; boundary=x", "text/plain"]
)
def test_another_kind_of_body_is_not_taken(sender: Sender, content_type: str) -> None:
    assert sender.send(PICTURE, content_type=content_type)[0] == 415


@pytest.mark.parametrize(
    "boundary",
    ["", "boundary", "boundary=", 'boundary=""', "boundary=" + "x" * 71, "boundary=a b", "boundary=x; boundary=y"],
)
def test_without_a_boundary_there_are_no_parts(sender: Sender, boundary: str) -> None:
    assert sender.send(PICTURE, content_type=f"multipart/form-data; {boundary}")[0] == 415


def test_a_form_of_another_site_or_without_its_token_changes_nothing(sender: Sender) -> None:
    assert sender.send_body(make_multipart(PICTURE))[0] == 403
    assert sender.send_body(make_multipart(make_part("csrf", b"wrong"), PICTURE))[0] == 403
    answer = sender.visiting.send_body(
        SET_LOGO, make_multipart(*sender.parts, PICTURE), Content_Type=MULTIPART, Sec_Fetch_Site="cross-site"
    )
    assert answer.status_code == 403
    assert not read_logo_address(sender.visiting)


def test_a_file_that_is_too_large_is_refused_with_how_large_it_may_be(sender: Sender) -> None:
    for excess in (1, 1_000_000):
        status, text = sender.send(make_part("logo", bytes(MAX_LOGO_BYTES + excess), "large.png"))
        assert (status, "The file is larger than 2 MB." in text) == (413, True)
    largest = make_part("logo", draw_image().ljust(MAX_LOGO_BYTES, b"\0"), "large.png")
    assert sender.send(largest)[0] == 303


def test_a_body_that_comes_without_its_length_is_counted(sender: Sender) -> None:
    body = make_multipart(*sender.parts, make_part("logo", bytes(MAX_LOGO_BYTES + 1), "large.png"))
    assert sender.send_body(body, size=60_000)[0] == 413
    # Also where what is too much belongs to no part.
    assert sender.send_body(make_multipart(*sender.parts, PICTURE) + bytes(3_000_000), size=60_000)[0] == 413
    assert not read_logo_address(sender.visiting)


INLINE_PART = b'Content-Disposition: inline; name="a"\r\n\r\nx'
BAD_BODIES: dict[str, tuple[int, Callable[[list[bytes]], bytes]]] = {
    "too many parts": (413, lambda parts: make_multipart(*parts, *(make_part(f"f{n}", b"") for n in range(101)))),
    "too large a field": (413, lambda parts: make_multipart(*parts, make_part("name", b"x" * 70_000))),
    "too long a head": (
        413,
        lambda parts: make_multipart(*parts, make_part("name", b"", head=b"X: " + b"x" * 9000 + b"\r\n")),
    ),
    "too many heads": (413, lambda parts: make_multipart(*parts, make_part("name", b"", head=b"X: x\r\n" * 20))),
    "a field twice": (400, lambda parts: make_multipart(*parts, parts[0], PICTURE)),
    "a file twice": (400, lambda parts: make_multipart(*parts, PICTURE, PICTURE)),
    "a file and a field of one name": (400, lambda parts: make_multipart(*parts, PICTURE, make_part("logo", b"x"))),
    "a file nobody asked for": (400, lambda parts: make_multipart(*parts, PICTURE, make_part("other", b"x", "x.png"))),
    "not UTF-8": (400, lambda parts: make_multipart(*parts, make_part("name", b"\xff"), PICTURE)),
    "NUL": (400, lambda parts: make_multipart(*parts, make_part("name", b"a\0b"), PICTURE)),
    "a head that is not UTF-8": (400, lambda parts: make_multipart(*parts, b"X: \xff\r\n" + make_part("name", b""))),
    "a part without a name": (400, lambda parts: make_multipart(*parts, b"Content-Disposition: form-data\r\n\r\nx")),
    "a part without a head": (400, lambda parts: make_multipart(*parts, b"\r\nx")),
    "a part of another kind": (400, lambda parts: make_multipart(*parts, INLINE_PART)),
    "a length that lies": (
        400,
        lambda parts: make_multipart(*parts, make_part("a", b"x", head=b"Content-Length: 5\r\n")),
    ),
    "lines that end otherwise": (400, lambda parts: make_multipart(*parts, PICTURE).replace(b"\r\n", b"\n")),
    "no end": (400, lambda parts: make_multipart(*parts, PICTURE, end=b"\r\n")),
    "another boundary": (400, lambda parts: make_multipart(*parts, PICTURE).replace(BOUNDARY, b"another")),
    "broken off in a file": (400, lambda parts: make_multipart(*parts, PICTURE)[:-60]),
    "broken off in a head": (400, lambda parts: make_multipart(*parts) [:40]),
    "nothing": (400, lambda _: b""),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD_BODIES)
@pytest.mark.parametrize("size", [0, 13])
def test_what_is_wrong_is_refused_in_words(sender: Sender, what: str, size: int) -> None:
    status, made = BAD_BODIES[what]
    if size and len(made(sender.parts)) > 20_000:
        size = 1000
    heard, text = sender.send_body(made(sender.parts), size=size)
    assert heard == status, text
    assert not read_logo_address(sender.visiting)


def test_what_may_not_be_done_is_refused_before_a_file_is_received(server: RunningServer, cast: Cast) -> None:
    for role in (Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR):
        someone = sign_in_new_person(server, cast, role)
        answer = someone.send_body(SET_LOGO, b"whatever", Content_Type=MULTIPART)
        assert answer.status_code == 403
        assert someone.get(SET_LOGO).status_code == 403
    olivia = sign_in_new_person(server, cast)
    cast.lapse()
    assert olivia.send_body(SET_LOGO, b"whatever", Content_Type=MULTIPART).status_code == 402


def test_so_many_files_an_hour_and_no_more(sender: Sender) -> None:
    fields = read_form_tokens(sender.visiting)
    for _ in range(60):
        answer = sender.visiting.upload(SET_LOGO, fields, logo=("logo.png", b"not a picture"))
        assert answer.status_code == 422
    answer = sender.visiting.upload(SET_LOGO, fields, logo=("logo.png", draw_image()))
    assert (answer.status_code, "Too many files" in answer.text) == (429, True)


ANY_BYTES = some.binary(max_size=400)
PIECES = some.sampled_from(
    [b"--" + BOUNDARY, b"\r\n", b"--", b"\n", b'Content-Disposition: form-data; name="', b'"', b'; filename="', b"logo",
     b"csrf", b"\r\n\r\n", b"Content-Type: text/plain", b"Content-Length: 3", b"\0", b"\xff\xfe", b":", b" ", b"="]
)  # fmt: skip
FORM_LIKE_BYTES = some.lists(PIECES | some.binary(max_size=5), max_size=40).map(b"".join)


@pytest.mark.parametrize("bodies", [30, pytest.param(500, marks=pytest.mark.long)])
def test_no_bytes_make_a_bug_however_they_are_cut(sender: Sender, bodies: int) -> None:
    @settings(max_examples=bodies)
    @given(ANY_BYTES | FORM_LIKE_BYTES, some.integers(0, 50))
    @example(b"--" + BOUNDARY + b"--", 0)
    @example(b"what comes before ----" + BOUNDARY + b"--", 1)
    def send(body: bytes, size: int) -> None:
        whole, cut = sender.send_body(body), sender.send_body(body, size=size)
        assert whole[0] in {400, 403, 413}
        assert whole == cut

    send()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.text(alphabet=some.characters(min_codepoint=32, max_codepoint=126), max_size=120))
def test_no_content_type_makes_a_bug(sender: Sender, content_type: str) -> None:
    assert sender.send_body(make_multipart(PICTURE), f"multipart/form-data;{content_type}")[0] in {400, 403, 415}
