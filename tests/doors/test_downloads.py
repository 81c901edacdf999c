"""Answers from files, within the process and from the real front."""

from dataclasses import replace
from email.message import Message
from pathlib import Path
from typing import cast as typed
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mainstay.doors.downloads import build_disposition, respond_with_picture, respond_with_temporary_file
from mainstay.doors.http import FileBody, Request, Response
from support.in_process import InProcessServer
from support.servers import RunningServer
from support.waiting import wait_until

SAFE = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"<script>alert(1)</script>")
    return path


@pytest.fixture
def file_doors(server: RunningServer, file: Path) -> InProcessServer:
    """The doors, with one more for each way to answer from the file, which goes as soon as it is sent."""
    inside = typed("InProcessServer", server)

    async def passing(_: Request) -> Response:
        return respond_with_temporary_file(file, "Überblick.csv", "text/csv")

    async def kept(_: Request) -> Response:
        return respond_with_picture(file, "logo", "image/png")

    async def lost(_: Request) -> Response:
        return replace(respond_with_picture(file, "logo", "image/png"), body=FileBody(file.with_name("lost"), 25))

    doors = {"/passing": passing, "/kept": kept, "/lost": lost}
    return replace(inside, app=replace(inside.app, doors={**inside.app.doors, **doors}, temporary_file_seconds=0.0))


def test_a_file_is_answered_with_headers_that_let_nobody_take_it_for_a_page(file_doors: InProcessServer) -> None:
    answer = file_doors.request("GET", "/passing")
    assert (answer.status_code, answer.content) == (200, b"<script>alert(1)</script>")
    assert answer.headers.items() >= SAFE.items()
    assert answer.headers["content-type"] == "text/csv"
    assert answer.headers["content-length"] == "25"
    assert answer.headers["cache-control"] == "no-store"
    named = "attachment; filename=\"_berblick.csv\"; filename*=UTF-8''%C3%9Cberblick.csv"
    assert answer.headers["content-disposition"] == named
    assert answer.headers["x-request-id"]


def test_a_picture_is_shown_and_remembered_by_its_viewer_alone(file_doors: InProcessServer) -> None:
    answer = file_doors.request("GET", "/kept")
    assert answer.headers.items() >= SAFE.items()
    assert answer.headers["content-disposition"].startswith("inline; ")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"


def test_who_asks_for_the_head_hears_how_long_it_would_be(file_doors: InProcessServer) -> None:
    whole, head = file_doors.request("GET", "/kept"), file_doors.request("HEAD", "/kept")
    assert head.content == b""
    assert {**head.headers, "x-request-id": ""} == {**whole.headers, "x-request-id": ""}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_file_for_one_answer_is_gone_after_it(file_doors: InProcessServer, file: Path, method: str) -> None:
    assert file_doors.request(method, "/passing").status_code == 200
    wait_until(lambda: not file.exists())


def test_a_file_that_is_kept_stays(file_doors: InProcessServer, file: Path) -> None:
    file_doors.request("GET", "/kept")
    assert file_doors.request("GET", "/kept").status_code == 200
    assert file.exists()


def test_a_file_that_went_meanwhile_is_not_found(file_doors: InProcessServer) -> None:
    assert file_doors.request("GET", "/lost").status_code == 404


@given(some.text())
def test_whatever_a_file_is_called_makes_one_header_that_names_it(called: str) -> None:
    try:
        called.encode()
    except UnicodeEncodeError:
        return
    name, value = build_disposition("attachment", called)
    assert name == "content-disposition"
    assert value.isascii()
    assert value.isprintable()
    header = Message()
    header[name] = value
    assert header.get_content_disposition() == "attachment"
    assert unquote(value.partition("filename*=UTF-8''")[2]) == called
