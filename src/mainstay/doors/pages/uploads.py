"""Forms with files: received in pieces, each file into a temporary file, the other fields into memory."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mainstay.doors.http import HttpError, Request
from mainstay.doors.pages.forms import FORM_LIMIT, TOO_LARGE, FormError, check_origin, clean_text
from mainstay.doors.runner import Runner
from mainstay.infrastructure.deadline import reset_deadline
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.lazy_import import import_lazily
from mainstay.values.message import FileSize, Message

# Bytes allowed in addition to the files: the fields, and the headers and boundaries around each part.
_EXTRA_BYTES = FORM_LIMIT * 2
_MAX_PARTS = 100
# At most as long as RFC 2046 allows, and only of characters that cannot break a header.
_BOUNDARY = r"\"([A-Za-z0-9'()+_,./:=? -]{1,70})\"|([A-Za-z0-9'+_.-]{1,70})"
_MULTIPART_TYPE = re.compile(rf"multipart/form-data *; *boundary=(?:{_BOUNDARY}) *", re.IGNORECASE)
_INCOMPLETE = Message("The form arrived incomplete. Go back and send it again.")


class UploadLimit(NamedTuple):
    """The limits of one file field: bytes of each file, number of files, and bytes of all files together."""

    max_bytes: int
    max_files: int = 1
    max_total_bytes: int | None = None

    @property
    def total_bytes(self) -> int:
        """The largest total size in bytes."""
        return self.max_total_bytes or self.max_bytes * self.max_files


class UploadedFile(NamedTuple):
    """A received file, and its name as the sender gave it, which cannot be trusted."""

    path: Path
    file_name: str


@dataclass(frozen=True, slots=True)
class UploadReader:
    """Receives forms with files."""

    base_url: str
    temporary_files: TemporaryFiles
    runner: Runner

    async def read_form(
        self, request: Request, limits: Mapping[str, UploadLimit], uploaded_files: dict[str, list[UploadedFile]]
    ) -> dict[str, str]:
        """Return the text fields of a form, and receive its files within the limits of each field.

        Each file is added to `received` as soon as it exists, so that the caller can remove it whatever happens.
        """
        check_origin(request, self.base_url)
        match = _MULTIPART_TYPE.fullmatch(request.headers.get("content-type", ""))
        if match is None:
            raise FormError(415, Message("This address only accepts forms with files."))
        form = _MultipartForm((match[1] or match[2]).encode(), limits, self.temporary_files, uploaded_files)
        try:
            async for piece in request.stream_body(sum(limit.total_bytes for limit in limits.values()) + _EXTRA_BYTES):
                await self.runner.run(form.feed, piece)
            await self.runner.run(form.finish)
        except HttpError as http_error:
            raise _too_large_error(limits) if http_error.status == TOO_LARGE else http_error from None
        finally:
            form.close()
            reset_deadline()
        return form.text_fields()


class _MultipartForm:
    """Parses a multipart form while it arrives."""

    def __init__(
        self,
        boundary: bytes,
        limits: Mapping[str, UploadLimit],
        temporary_files: TemporaryFiles,
        uploaded_files: dict[str, list[UploadedFile]],
    ) -> None:
        self._library = import_lazily("multipart")
        self._parser = self._library.PushMultipartParser(boundary, max_segment_count=_MAX_PARTS)
        # The expected first bytes, until they have arrived. The library's handling of a preamble depends on the pieces.
        self._expected_opening, self._arrived = b"--" + boundary, b""
        self._limits = limits
        self._temporary_files = temporary_files
        self._uploaded_files = uploaded_files
        self._texts: dict[str, bytearray] = {}
        # Where the current part is written: a file, with the bytes it may still take, or a text.
        self._file: BinaryIO | None = None
        self._file_bytes_left = 0
        self._text = bytearray()
        self._text_bytes_left = FORM_LIMIT

    def feed(self, piece: bytes) -> None:
        """Take the next piece of the body. An empty piece is ignored."""
        content = self._check_opening(piece)
        for event in self._parse_events(content) if content else ():
            if event is None:
                self.close()
            elif isinstance(event, bytes):
                self._write_content(event)
            else:
                self._begin_part(event.name, event.filename)

    def finish(self) -> None:
        """Finish the form after the last piece."""
        for _ in self._parse_events(b""):
            pass

    def close(self) -> None:
        """Close the file that is being received."""
        if self._file:
            self._file.close()
        self._file = None

    def text_fields(self) -> dict[str, str]:
        """Return the fields that are not files."""
        return {name: clean_text(bytes(text)) for name, text in self._texts.items()}

    def _check_opening(self, piece: bytes) -> bytes:
        """Return what has arrived so far, or nothing until there is enough to recognise a form."""
        if not self._expected_opening:
            return piece
        self._arrived += piece
        if not self._arrived.startswith(self._expected_opening[: len(self._arrived)]):
            raise FormError(400, _INCOMPLETE)
        if len(self._arrived) < len(self._expected_opening):
            return b""
        self._expected_opening = b""
        return self._arrived

    def _parse_events(self, piece: bytes) -> Iterator[Any]:
        try:
            yield from self._parser.parse(piece)
        except self._library.ParserLimitReached:
            raise FormError(413, Message("The form has too many parts.")) from None
        except self._library.MultipartError:
            raise FormError(400, _INCOMPLETE) from None

    def _begin_part(self, name: str, filename: str | None) -> None:
        if not clean_text(name.encode()):
            raise FormError(400, _INCOMPLETE)
        limit, received_count = self._limits.get(name, UploadLimit(0)), len(self._uploaded_files.get(name, ()))
        if received_count >= limit.max_files > 1:
            raise FormError(
                TOO_LARGE,
                Message("You can add up to {count} files at once. Add the others afterwards.", count=limit.max_files),
            )
        if name in self._texts or received_count >= limit.max_files:
            raise FormError(400, Message("The field {field} was sent twice.", field=name))
        if not filename:
            # Also a file field in which no file was chosen: browsers then send empty content without a file name.
            self._text = self._texts[name] = bytearray()
            return
        if name not in self._limits:
            raise FormError(400, Message("The form contains an unexpected file."))
        self._file_bytes_left = limit.max_bytes
        path, self._file = self._temporary_files.create_file()
        self._uploaded_files.setdefault(name, []).append(
            UploadedFile(path, clean_text(filename.encode("utf-8", "replace")))
        )

    def _write_content(self, content: bytes) -> None:
        if self._file:
            self._file_bytes_left -= len(content)
            if self._file_bytes_left < 0:
                raise _too_large_error(self._limits)
            self._file.write(content)
        else:
            self._text_bytes_left -= len(content)
            if self._text_bytes_left < 0:
                raise FormError(
                    413, Message("The fields of the form are larger than {size}.", size=FileSize(FORM_LIMIT))
                )
            self._text += content


def _too_large_error(limits: Mapping[str, UploadLimit]) -> FormError:
    largest = max(limits.values())
    if largest.max_files == 1:
        return FormError(
            TOO_LARGE,
            Message("The file is larger than {size}. Choose a smaller one.", size=_to_megabytes(largest.max_bytes)),
        )
    return FormError(
        TOO_LARGE,
        Message(
            "A file is larger than {size}, or all together are larger than {total}. Choose smaller or fewer files.",
            size=_to_megabytes(largest.max_bytes),
            total=_to_megabytes(largest.total_bytes),
        ),
    )


def _to_megabytes(byte_count: int) -> str:
    return f"{byte_count / 1_000_000:g} MB"
