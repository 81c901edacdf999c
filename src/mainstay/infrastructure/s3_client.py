"""A client for one bucket of an S3-compatible store: four requests, signed with AWS Signature Version 4."""

import atexit
import hashlib
import hmac
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from time import monotonic
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import httpx2

from mainstay.infrastructure.deadline import seconds_left, use_deadline
from mainstay.infrastructure.files import FileStoreUnavailable
from mainstay.settings import S3Address

_ALGORITHM = "AWS4-HMAC-SHA256"
_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
# How often a request is sent: a kept connection may have ended, and a store may be busy for a moment.
_TRIES = 2
# More than any stored file has.
_MAX_BYTES = 256 << 20
_PIECE_BYTES = 64 << 10
_CONNECT_SECONDS = 3.0
_NO_HEADERS: Mapping[str, str] = {}


class S3Response(NamedTuple):
    """The answer of the store."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class S3Client:
    """Reads and writes objects by their keys.

    Each request ends by the deadline of the code that runs here, and raises FileStoreUnavailable if the store has not
    done it by then. It may have been done all the same, and can be repeated.
    """

    address: S3Address
    access_key: str
    secret_key: str = field(repr=False)

    def get(self, key: str) -> bytes | None:
        """Return the content of an object, or None if there is none."""
        response = self._request("GET", key, (HTTPStatus.OK, HTTPStatus.NOT_FOUND))
        if response.status == HTTPStatus.OK:
            return response.content
        if b"NoSuchBucket" in response.content:
            raise FileStoreUnavailable(f"There is no bucket {self.address.bucket} at {self.address.endpoint}.")
        return None

    def head(self, key: str) -> S3Response | None:
        """Return the headers of an object, or None if there is none."""
        response = self._request("HEAD", key, (HTTPStatus.OK, HTTPStatus.NOT_FOUND))
        return response if response.status == HTTPStatus.OK else None

    def put(self, key: str, content: bytes, headers: Mapping[str, str] = _NO_HEADERS) -> int:
        """Store an object and return the status, which is 412 if a condition in the headers does not hold."""
        accepted = (HTTPStatus.OK, HTTPStatus.PRECONDITION_FAILED) if headers else (HTTPStatus.OK,)
        return self._request("PUT", key, accepted, content, headers).status

    def delete(self, key: str) -> None:
        """Remove an object, if there is one."""
        self._request("DELETE", key, (HTTPStatus.OK, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND))

    def _request(
        self,
        method: str,
        key: str,
        accepted: tuple[HTTPStatus, ...],
        content: bytes = b"",
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> S3Response:
        problem = "there was no time left"
        until = monotonic() + seconds_left()
        with use_deadline(until):
            for _ in range(_TRIES):
                if seconds_left() <= 0:
                    break
                try:
                    response = self._send(method, key, content, headers)
                except (httpx2.TransportError, TimeoutError) as error:
                    problem = str(error) or type(error).__name__
                    continue
                if response.status in accepted:
                    return response
                problem = f"it answers with status {response.status}{_find_error_code(response.content)}"
                if response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                    break
        raise FileStoreUnavailable(f"The file store at {self.address.endpoint} cannot be used: {problem}.")

    def _send(self, method: str, key: str, content: bytes, headers: Mapping[str, str]) -> S3Response:
        path = quote("/".join(filter(None, (self.address.bucket, self.address.prefix, key))), safe="/-_.~")
        url = f"{self.address.endpoint}/{path}"
        signed = self._sign(method, url, content, datetime.now(UTC))
        timeout = httpx2.Timeout(seconds_left(), connect=min(seconds_left(), _CONNECT_SECONDS))
        body = _generate_pieces(content) if content else None
        # Otherwise the pieces would be sent as chunks, which not every store accepts.
        length = {"content-length": str(len(content))} if method == "PUT" else {}
        with _http_client(os.getpid()).stream(
            method, url, content=body, headers={**headers, **signed, **length}, timeout=timeout
        ) as response:
            return S3Response(response.status_code, response.headers, _read_body(response))

    def _sign(self, method: str, url: str, content: bytes, now: datetime) -> dict[str, str]:
        """Return the headers with the signature, which covers the method, the path, the time and the content."""
        parts, moment = urlsplit(url), now.strftime("%Y%m%dT%H%M%SZ")
        content_sha256 = hashlib.sha256(content).hexdigest() if content else _EMPTY_SHA256
        headers = {"host": parts.netloc, "x-amz-content-sha256": content_sha256, "x-amz-date": moment}
        names = ";".join(headers)
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request_text = f"{method}\n{parts.path}\n\n{lines}\n{names}\n{content_sha256}"
        scope = f"{moment[:8]}/{self.address.region}/s3/aws4_request"
        text = f"{_ALGORITHM}\n{moment}\n{scope}\n{hashlib.sha256(request_text.encode()).hexdigest()}"
        key = f"AWS4{self.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        credential = f"{self.access_key}/{scope}"
        authorization = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
        return {**headers, "authorization": authorization}


def _generate_pieces(content: bytes) -> Iterator[bytes]:
    """Yield the content piece by piece, unless the store takes it too slowly."""
    for start in range(0, len(content), _PIECE_BYTES):
        if seconds_left() <= 0:
            raise TimeoutError("it takes too long to accept a file")
        yield content[start : start + _PIECE_BYTES]


def _read_body(response: httpx2.Response) -> bytes:
    """Return the body, unless it comes too slowly: each piece may take a while, but not all of them together."""
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if seconds_left() <= 0 or len(body) > _MAX_BYTES:
            raise TimeoutError("its answer is too long or too slow")
    return bytes(body)


def _find_error_code(content: bytes) -> str:
    """Return the name of the error in an answer of the store, which is XML."""
    code = re.search(rb"<Code>(\w{1,100})</Code>", content)
    return f", {code[1].decode()}" if code else ""


@cache
def _http_client(_process: int) -> httpx2.Client:
    """Return the connections of a process, for all its stores; a forked one must not use those of its parent."""
    client = httpx2.Client(trust_env=False, headers={"user-agent": "Mainstay/1", "accept-encoding": "identity"})
    atexit.register(client.close)
    return client
