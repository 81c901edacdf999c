"""The headers of a request, as the server hands them over and as the doors read them."""

from typing import cast

import pytest
from granian.rsgi import Headers

from mainstay.doors.http import read_headers
from support.in_process import RequestHeaders

HIDDEN = "\0"


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ([], {}),
        ([(b"Host", b"a"), (b"X-A", b"1")], {"host": "a", "x-a": "1"}),
        ([(b"X-A", b"1"), (b"Host", b"a"), (b"x-a", b"2")], {"x-a": "1, 2", "host": "a"}),
        ([(b"Host", b"a"), (b"X-A", "\u00e9".encode())], {"host": "a", "x-a": HIDDEN}),
        # As many names as values that are shown.
        ([(b"X-A", b"1"), (b"X-A", b"2"), (b"X-B", "\u00e9".encode())], {"x-a": "1, 2", "x-b": HIDDEN}),
    ],
)
def test_every_header_is_read_once(lines: list[tuple[bytes, bytes]], read: dict[str, str]) -> None:
    assert read_headers(cast("Headers", RequestHeaders(lines))) == read
