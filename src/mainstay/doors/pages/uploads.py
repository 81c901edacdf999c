"""Forms with files: received piece by piece, each file into one that passes, the other fields into memory."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mainstay.backing.deadline import begin_anew
from mainstay.backing.files import PassingFiles
from mainstay.doors.http import Interrupted, Request
from mainstay.doors.pages.forms import LIMIT, TOO_LARGE, WrongForm, check_origin, clean_text
from mainstay.doors.running import Runner
from mainstay.late import late

# Beside the files: the fields, and what a browser writes around each part.
_AROUND = LIMIT * 2
_MOST_PARTS = 100
# As long as RFC 2046 lets it be, and of letters that no header can be broken with.
_BOUNDARY = r"\"([A-Za-z0-9'()+_,./:=? -]{1,70})\"|([A-Za-z0-9'+_.-]{1,70})"
_UPLOAD = re.compile(rf"multipart/form-data *; *boundary=(?:{_BOUNDARY}) *", re.IGNORECASE)
_NOT_WHOLE = "The form did not arrive whole, or not as browsers send it. Go back and send it again."


class Limit(NamedTuple):
    """How much of one field is received: so many bytes of a file, and of so many files so many together."""

    each: int
    several: int = 1
    together: int | None = None

    @property
    def whole(self) -> int:
        """How many bytes in all."""
        return self.together or self.each * self.several


class Received(NamedTuple):
    """A file that was received, and what whoever sent it calls it, which may be anything."""

    path: Path
    called: str


@dataclass(frozen=True, slots=True)
class Uploads:
    """Receives forms with files."""

    base_url: str
    passing: PassingFiles
    runner: Runner

    async def read(
        self, request: Request, limits: Mapping[str, Limit], received: dict[str, list[Received]]
    ) -> dict[str, str]:
        """The fields of a form whose files, by field, are within limits.

        Where a file is stands in `received` as soon as there is one, so that whoever handed that in can remove it, come
        what may.
        """
        check_origin(request, self.base_url)
        found = _UPLOAD.fullmatch(request.headers.get("content-type", ""))
        if found is None:
            raise WrongForm(415, "This address takes forms with files only.")
        form = _Form((found[1] or found[2]).encode(), limits, self.passing, received)
        try:
            async for piece in request.pieces(sum(limit.whole for limit in limits.values()) + _AROUND):
                await self.runner.run(form.take, piece)
            await self.runner.run(form.end)
        except Interrupted as interrupted:
            raise _too_large(limits) if interrupted.status == TOO_LARGE else interrupted from None
        finally:
            form.close()
            begin_anew()
        return form.fields()


class _Form:
    """Takes a form apart while it arrives."""

    def __init__(
        self,
        boundary: bytes,
        limits: Mapping[str, Limit],
        passing: PassingFiles,
        received: dict[str, list[Received]],
    ) -> None:
        self._library = late("multipart")
        self._parser = self._library.PushMultipartParser(boundary, max_segment_count=_MOST_PARTS)
        # What it begins with, until it has: whether the library takes something before it depends on how it arrives.
        self._opening, self._begun = b"--" + boundary, b""
        self._limits = limits
        self._passing = passing
        self._received = received
        self._texts: dict[str, bytearray] = {}
        # What the part that is arriving goes to: a file that still takes so many bytes, or a text.
        self._file: BinaryIO | None = None
        self._left = 0
        self._text = bytearray()
        self._text_left = LIMIT

    def take(self, piece: bytes) -> None:
        """The next piece of the body; an empty one says nothing."""
        whole = self._opened(piece)
        for event in self._events(whole) if whole else ():
            if event is None:
                self.close()
            elif isinstance(event, bytes):
                self._write(event)
            else:
                self._begin(event.name, event.filename)

    def end(self) -> None:
        """There is no more."""
        for _ in self._events(b""):
            pass

    def close(self) -> None:
        """Let go of the file that was arriving."""
        if self._file:
            self._file.close()
        self._file = None

    def fields(self) -> dict[str, str]:
        """The fields that are no files."""
        return {name: clean_text(bytes(text)) for name, text in self._texts.items()}

    def _opened(self, piece: bytes) -> bytes:
        """The piece with what came before it, once that is enough to tell that this is a form."""
        if not self._opening:
            return piece
        self._begun += piece
        if not self._begun.startswith(self._opening[: len(self._begun)]):
            raise WrongForm(400, _NOT_WHOLE)
        if len(self._begun) < len(self._opening):
            return b""
        self._opening = b""
        return self._begun

    def _events(self, piece: bytes) -> Iterator[Any]:
        try:
            yield from self._parser.parse(piece)
        except self._library.ParserLimitReached:
            raise WrongForm(413, "The form has too many parts, or a part with too long a head.") from None
        except self._library.MultipartError:
            raise WrongForm(400, _NOT_WHOLE) from None

    def _begin(self, name: str, filename: str | None) -> None:
        if not clean_text(name.encode()):
            raise WrongForm(400, _NOT_WHOLE)
        limit, before = self._limits.get(name, Limit(0)), len(self._received.get(name, ()))
        if before >= limit.several > 1:
            raise WrongForm(TOO_LARGE, f"At most {limit.several} files are taken at once. Send the others after them.")
        if name in self._texts or before >= limit.several:
            raise WrongForm(400, f"The field {name} was sent twice.")
        if not filename:
            # Also where a file could have been chosen and none was: a browser sends nothing under no name.
            self._text = self._texts[name] = bytearray()
            return
        if name not in self._limits:
            raise WrongForm(400, "The form has a file that it does not ask for.")
        self._left = limit.each
        path, self._file = self._passing.new()
        self._received.setdefault(name, []).append(Received(path, clean_text(filename.encode("utf-8", "replace"))))

    def _write(self, content: bytes) -> None:
        if self._file:
            self._left -= len(content)
            if self._left < 0:
                raise _too_large(self._limits)
            self._file.write(content)
        else:
            self._text_left -= len(content)
            if self._text_left < 0:
                raise WrongForm(413, f"The fields of the form are larger than {LIMIT} bytes.")
            self._text += content


def _too_large(limits: Mapping[str, Limit]) -> WrongForm:
    most = max(limits.values())
    each, whole = most.each / 1_000_000, most.whole / 1_000_000
    if most.several == 1:
        return WrongForm(TOO_LARGE, f"The file is larger than {each:g} MB. Choose a smaller one.")
    text = f"A file is larger than {each:g} MB, or all of them are together larger than {whole:g} MB."
    return WrongForm(TOO_LARGE, f"{text} Send smaller ones, or fewer at once.")
