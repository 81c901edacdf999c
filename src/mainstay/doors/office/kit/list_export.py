"""Export of a list as a spreadsheet file: all pages, as the person would see them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import IO, Any, Self

import orjson

from mainstay.doors.compression import open_gzip_writer
from mainstay.doors.downloads import respond_with_temporary_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.spreadsheet_rows import columns_of, generate_rows, write_csv
from mainstay.doors.pages.message_format import PageFormat
from mainstay.infrastructure.deadline import WAIT_SECONDS, use_deadline
from mainstay.infrastructure.files import TemporaryFiles
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.message import PROGRAM_FORMAT, MessageFormat
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Refusal

MAX_ROWS = 100_000
_PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class ListExport:
    """The export of a list for one person, with the filters and order of its page."""

    performer: Performer
    actor: Actor
    list_operation: Operation
    list_input: Mapping[str, object]
    zone: str
    # The id of the HTTP request.
    request_id: str
    message_format: MessageFormat = PROGRAM_FORMAT
    max_rows: int = MAX_ROWS

    @classmethod
    def for_request(
        cls, office: OfficePages, request: OfficeRequest, list_operation: Operation, list_input: Mapping[str, object]
    ) -> Self:
        """Return the export of a list for the person of an office request."""
        return cls(
            office.visitors.performer,
            request.actor,
            list_operation,
            list_input,
            request.time_zone,
            request.http_request.id,
            PageFormat(request.display),
        )

    def write(self, file: IO[bytes]) -> None:
        """Write the file: a row of labels, and one for each record."""
        write_csv(
            file, generate_rows(columns_of(self.list_operation.output, self.zone), self.read_records(), self.max_rows)
        )

    def read_records(self) -> Iterator[dict[str, Any]]:
        """Yield the records, read page by page to keep the transactions short."""
        cursor: dict[str, object] = {}
        while True:
            raw = orjson.dumps({**self.list_input, **cursor, "limit": _PAGE_SIZE})
            details = RequestDetails(self.request_id, message_format=self.message_format)
            with use_deadline(monotonic() + WAIT_SECONDS):
                answer = self.performer.perform(self.list_operation, self.actor, raw, details)
            page = orjson.loads(answer.body)
            yield from page["data"]
            if not page["hasMore"]:
                return
            cursor = {"startingAfter": page["data"][-1]["id"]}


async def export_list(
    office: OfficePages,
    request: OfficeRequest,
    list_export: ListExport,
    title: str,
    write: Callable[[ListExport, IO[bytes]], None] = ListExport.write,
) -> Response:
    """Return a list as a file. A refusal is rendered for people."""
    write_response = partial(
        write_download, write=partial(write, list_export), compresses=request.http_request.accepts_gzip
    )
    try:
        return await office.visitors.runner.run_long(
            request.actor.organisation, write_response, office.visitors.temporary_files, title
        )
    except Refusal as refusal:
        raise office.translate_refusal(request, list_export.list_operation, refusal) from None


def write_download(
    temporary_files: TemporaryFiles, title: str, write: Callable[[IO[bytes]], None], *, compresses: bool
) -> Response:
    """Write a temporary CSV file, compressed if asked for, and return it as a download."""
    path, file = temporary_files.create_file()
    try:
        with file, open_gzip_writer(file) if compresses else file as target:
            write(target)
        return respond_with_temporary_file(path, f"{title}.csv", "text/csv; charset=utf-8", gzipped=compresses)
    except BaseException:
        path.unlink()
        raise
