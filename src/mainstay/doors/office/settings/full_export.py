"""Settings → Export: everything of an organisation that the person may see, in one ZIP archive.

It is made while the person does something else, and can be downloaded for a day.

It contains each list of the office, as CSV for spreadsheets and as JSON with full records for programs, and every file:
attachments and issued documents.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import orjson

from mainstay.business.issuing.document_files import FILE_SUFFIXES
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.business.organisation.storage import count_stored_bytes
from mainstay.business.records.attachments import list_documents
from mainstay.doors.downloads import respond_with_stored_file
from mainstay.doors.http import Response
from mainstay.doors.office.kit.background_work import REFRESH_HEADERS, BackgroundWork
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.list_export import ListExport
from mainstay.doors.office.kit.navigation import EXPORT_PERMISSION
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.spreadsheet_rows import SpreadsheetColumn, columns_of, generate_rows, write_csv
from mainstay.doors.office.settings.full_export_contents import (
    EXCLUDED_LISTS,
    complete_queries,
    exported_lists,
    file_name_of,
    issued_files_list,
    line_columns_of,
    with_full_records,
)
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import redirect
from mainstay.infrastructure.files import FileStore, TemporaryFiles, read_if_stored
from mainstay.infrastructure.log import log_error
from mainstay.kernel.catalogue import is_permitted
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.choices import to_label
from mainstay.values.message import Message
from mainstay.values.moments import local_date, moment_text, parse_moment
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Forbidden, NotFound, TooManyRequests

EXPORTS_PER_HOUR = 12
_PATH = "/settings/export"
# The progress of an export that has failed.
_FAILED = -1
_FAILED_TEXT = Message("The archive couldn't be created. Try again, or contact your system administrator.")
# Progress is reported once in so many records.
_REPORT_EVERY = 100

# Operations that return a single record.
_SINGLE_RECORDS = (get_organisation, get_settings)


@dataclass(frozen=True)
class FullExportPages:
    """The page of the full export, and its archive."""

    office: OfficePages
    _work: BackgroundWork = field(default_factory=BackgroundWork)

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        require_sign_in = self.office.require_sign_in
        return [
            Route("GET", _PATH, require_sign_in(self.show)),
            *Form(self.office, find_by_path, self._start).routes(f"{_PATH}/start", _PATH),
            Route("GET", f"{_PATH}/everything.zip", require_sign_in(self.download_archive)),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show what an archive contains, the progress of one that is being made, and the finished one."""
        _check_permission(request.actor)
        operations = exported_lists(self.office.catalogue, request.actor)
        performer, temporary_files = self.office.visitors.performer, self.office.visitors.temporary_files
        used_bytes = await self.office.visitors.runner.run_read(_read_storage, performer, request.actor.organisation)
        done_lists = temporary_files.progress_of(_name_of(request.actor))
        goes_on = done_lists not in {None, _FAILED}
        path = None if goes_on else temporary_files.find_finished(_name_of(request.actor))
        return self.office.render_page(
            "export.html",
            request,
            headers=REFRESH_HEADERS if goes_on else (),
            area="Settings",
            lists=[to_label(operation.name.removeprefix("list_")) for operation in operations],
            storage={"used": used_bytes, "limit": performer.storage_limit},
            goes_on=goes_on,
            done_lists=done_lists,
            archive={"made_at": _made_at(path), "bytes": path.stat().st_size} if path else None,
            problem=PageFormat(request.display).render(_FAILED_TEXT) if done_lists == _FAILED else None,
        )

    async def _start(self, form: OpenForm[PathValues]) -> Response:
        """Start to make the archive, unless one is being made. If it is made quickly, the page has it at once."""
        request, visitors = form.request, self.office.visitors
        _check_permission(request.actor)
        name = _name_of(request.actor)
        if visitors.temporary_files.progress_of(name) in {None, _FAILED}:
            rate_limit_key = f"exports of {request.actor.organisation}"
            if not (await visitors.rate_limits.take(rate_limit_key, EXPORTS_PER_HOUR, 3600.0)).accepted:
                raise TooManyRequests(Message("Too many archives were created in the last hour. Try again later."))
            visitors.temporary_files.set_progress(name, 0)
            await self._work.start(self._make_archive(request, name))
        return redirect(_PATH)

    async def _make_archive(self, request: OfficeRequest, name: str) -> None:
        visitors = self.office.visitors
        full_export = FullExport(
            visitors.performer,
            request.actor,
            request.time_zone,
            request.http_request.id,
            visitors.files,
            visitors.temporary_files,
            partial(visitors.temporary_files.set_progress, name),
        )
        try:
            await visitors.runner.run_archive(request.actor.organisation, full_export.make, name)
        except Exception as error:
            log_error("export failed", error, request=request.http_request.id)
            visitors.temporary_files.set_progress(name, _FAILED)
        else:
            visitors.temporary_files.clear_progress(name)

    async def download_archive(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return the finished archive."""
        _check_permission(request.actor)
        path = self.office.visitors.temporary_files.find_finished(_name_of(request.actor))
        if path is None:
            raise NotFound("file")
        day = local_date(parse_moment(_made_at(path)), request.time_zone).isoformat()
        return respond_with_stored_file(path, f"Mainstay {day}.zip", "application/zip", inline=False)


def _read_storage(performer: Performer, organisation: str) -> int:
    with performer.database.read_transaction(organisation) as db:
        return count_stored_bytes(db)


def _name_of(actor: Actor) -> str:
    """Return the name of a person's archive among the temporary files."""
    return f"export.{actor.id}"


def _made_at(path: Path) -> str:
    return moment_text(datetime.fromtimestamp(path.stat().st_mtime, UTC))


def _check_permission(actor: Actor) -> None:
    if not actor.can(EXPORT_PERMISSION):
        raise Forbidden(Message("You don't have access to the full export. Ask an owner or admin."))


@dataclass
class FullExport:
    """Writes the archive piece by piece, so that its size does not matter."""

    performer: Performer
    actor: Actor
    time_zone: str
    # The id of the request, for the log.
    request_id: str
    files: FileStore
    temporary_files: TemporaryFiles
    # Called again and again while it goes on, with the number of lists that are done.
    report: Callable[[int], None] = lambda _: None
    # For the README: the number of records in each list, the PDFs that are not made yet, and the files that were
    # not found in storage.
    counts: dict[str, int] = field(default_factory=dict)
    pdfs_not_made: list[str] = field(default_factory=list)
    missing_files: list[str] = field(default_factory=list)

    def make(self, name: str) -> None:
        """Write the archive to a file that can be fetched under this name. It takes too long for the event loop."""
        path, file = self.temporary_files.create_file()
        try:
            with file:
                self.write(file)
            self.temporary_files.store_finished(path, name)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def write(self, file: BinaryIO) -> None:
        """Write the archive into a file."""
        started_at = moment_text(self.performer.clock())
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for operation in _SINGLE_RECORDS:
                answer = self.performer.perform(operation, self.actor, b"{}", RequestDetails(self.request_id))
                archive.writestr(f"json/{operation.output.noun}.json", answer.body)
            for list_operation in exported_lists(self.performer.catalogue, self.actor):
                self._write_list(archive, list_operation)
                if issued_files_operation := issued_files_list(self.performer.catalogue, self.actor, list_operation):
                    self._write_issued_files(archive, file_name_of(list_operation), issued_files_operation)
            if is_permitted(list_documents, self.actor):
                self._write_attachments(archive)
            archive.writestr("README.txt", self._format_readme(started_at))

    def _write_list(self, archive: ZipFile, list_operation: Operation) -> None:
        """Write a list as JSON and CSV, and its lines. It is read once, into a file from which each part is written."""
        name = file_name_of(list_operation)
        full_record_operation = with_full_records(self.performer.catalogue, list_operation)
        path, file = self.temporary_files.create_file()
        try:
            with file:
                self.counts[name] = _store_records(self._read_records(full_record_operation), file)
            archive.write(path, f"json/{name}.jsonl")
            self._write_table(archive, name, columns_of(list_operation.output, self.time_zone), _read_stored(path))
            if columns := line_columns_of(full_record_operation.output, self.time_zone):
                self._write_table(archive, f"{_to_singular(name)}-lines", columns, _read_line_rows(path))
        finally:
            path.unlink()

    def _write_table(
        self, archive: ZipFile, name: str, columns: Sequence[SpreadsheetColumn], records: Iterable[Mapping[str, Any]]
    ) -> None:
        with archive.open(f"csv/{name}.csv", "w", force_zip64=True) as file:
            write_csv(file, generate_rows(columns, records))

    def _write_issued_files(self, archive: ZipFile, folder: str, issued_files_operation: Operation) -> None:
        """Write the files of issued documents. PDFs that are not made yet are listed in the README."""
        for issued in self._read_records(issued_files_operation):
            if issued["named"] is None:
                continue
            # Numbers can contain slashes but no underscores.
            name = f"papers/{folder}/{issued['named'].replace('/', '_')}"
            for file_form, suffix in FILE_SUFFIXES.items():
                if issued[file_form]:
                    self._write_file(archive, issued[file_form], f"{name}{suffix}")
            if not issued["pdf"]:
                self.pdfs_not_made.append(f"{name}{FILE_SUFFIXES['pdf']}")

    def _read_records(self, list_operation: Operation) -> Iterator[dict[str, Any]]:
        for query in complete_queries(self.performer.catalogue, list_operation):
            records = ListExport(
                self.performer, self.actor, list_operation, query, self.time_zone, self.request_id
            ).read_records()
            for number, record in enumerate(records):
                if number % _REPORT_EVERY == 0:
                    self.report(len(self.counts))
                yield record

    def _write_attachments(self, archive: ZipFile) -> None:
        # The operation lists the attachments of all records.
        for attachment in self._read_records(list_documents):
            name = f"files/{attachment['recordId']}/{attachment['id']} {attachment['name']}"
            self._write_file(archive, attachment["sha256"], name)

    def _write_file(self, archive: ZipFile, stored_name: str, name: str) -> None:
        content = read_if_stored(self.files, stored_name)
        if content is None:
            self.missing_files.append(name)
        else:
            # Most attachments are compressed formats already.
            archive.writestr(name, content, ZIP_STORED)

    def _format_readme(self, started_at: str) -> str:
        return _README.format(
            began=started_at,
            ended=moment_text(self.performer.clock()),
            person=self.actor.person.name if self.actor.person else "the system administrator",
            counts="\n".join(f"  {name}: {count}" for name, count in self.counts.items()),
            left_out="\n".join(f"  {to_label(_without_verb(name))}: {why}." for name, why in EXCLUDED_LISTS.items()),
            pdfs_not_made=_format_notice(_PDFS_NOT_MADE, self.pdfs_not_made),
            missing=_format_notice(_MISSING_FILES, self.missing_files),
        )


def _store_records(records: Iterable[Mapping[str, Any]], file: BinaryIO) -> int:
    """Write records to a file, one on each line, and return their number."""
    count = 0
    for record in records:
        file.write(orjson.dumps(record) + b"\n")
        count += 1
    return count


def _read_stored(path: Path) -> Iterator[dict[str, Any]]:
    """Read the records of such a file one by one."""
    with path.open("rb") as file:
        yield from map(orjson.loads, file)


def _read_line_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of stored records, each with the fields of its record."""
    for record in _read_stored(path):
        for line in record["lines"] or ():
            yield record | line


def _without_verb(operation_name: str) -> str:
    """Return what an operation lists: "messages" for "list_messages"."""
    return operation_name.partition("_")[2]


def _to_singular(name: str) -> str:
    return name.removesuffix("s")


def _format_notice(heading: str, names: Sequence[str]) -> str:
    return "\n".join(("", heading, *names, "")) if names else ""


_PDFS_NOT_MADE = "These PDFs were not created yet. Open each in Mainstay to create it, then export again:"
_MISSING_FILES = "These files were not found in storage:"
_README = """All data of your organisation that {person} can see,
read from {began} to {ended}.

csv/     One table for each list, for spreadsheets (UTF-8), and one for the lines of each kind of document. Dates are
         written as 2026-12-08. A text that a spreadsheet would take for a formula begins with an apostrophe.
json/    The same for programs, one record on each line, with every field and id and everything in the record, such as
         lines, taxes and receipts of goods.
papers/  Issued documents as they were sent: the PDF of each, the stamped copy of a void invoice, and the separate
         e-invoice (XML) if someone has downloaded it; an e-invoice is also inside its PDF. Each is named after its
         number, with _ for /.
files/   Photos and files, in a folder for each record they belong to; json/documents.jsonl describes each.

Records:
{counts}

Not included:
{left_out}
{pdfs_not_made}{missing}"""
