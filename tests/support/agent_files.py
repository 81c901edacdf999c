"""Files of agents: addresses that they ask for, and what they send there and get from there."""

from typing import Any
from urllib.parse import urlsplit

import httpx2

from mainstay.doors.links.uploads import NO_ADDRESS
from support.attachments import PDF
from support.mcp_client import call_tool
from support.servers import RunningServer

NO_ADDRESS_BODY = {"error": NO_ADDRESS}


def request_upload(server: RunningServer, key: str, record: str, **given: Any) -> str:
    """Ask for an upload address with a tool, and return its path."""
    answer = call_tool(server, key, "request_upload", **{"recordId": record, "name": "Plan.pdf", **given})
    assert answer["isError"] is False, answer
    return path_of(answer["structuredContent"]["url"])


def request_download(server: RunningServer, key: str, record: str) -> str:
    """Ask for a download link with a tool, and return its path."""
    answer = call_tool(server, key, "get_download_link", recordId=record)
    assert answer["isError"] is False, answer
    return path_of(answer["structuredContent"]["url"])


def send_file(
    server: RunningServer, path: str, content: bytes = PDF, method: str = "PUT", **headers: str
) -> httpx2.Response:
    """Send a file to an upload address, as curl does."""
    return server.request(
        method, path, content=content, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def list_files(server: RunningServer, key: str, record: str) -> list[dict[str, Any]]:
    """List the files of a record with a tool."""
    files: list[dict[str, Any]] = call_tool(server, key, "list_documents", recordId=record)["structuredContent"]["data"]
    return files


def path_of(url: str) -> str:
    """Return the path of an address."""
    return urlsplit(url).path
