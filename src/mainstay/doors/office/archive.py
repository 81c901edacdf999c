"""Settings → Export: everything of an organisation in one archive, as the person who asks sees it.

Each list of the office is in it, as CSV for spreadsheets and as JSON for programs, with all that is in each record; and
every file, of records and of the documents that were issued.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import orjson

from mainstay.backing.files import Files, PassingFiles
from mainstay.business.issuing.printed import ENDINGS
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.business.organisation.storage import stored_bytes
from mainstay.business.records.documents import list_documents
from mainstay.doors.downloads import download
from mainstay.doors.http import Response
from mainstay.doors.office.archived import (
    LEFT_OUT,
    askings,
    columns_of_lines,
    exported,
    name_of,
    papers,
    whole,
)
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.export import Export
from mainstay.doors.office.frame import EXPORTS
from mainstay.doors.office.table import Column, columns_of, rows_of, write_rows
from mainstay.doors.pages.door import Route
from mainstay.kernel.catalogue import is_admitted
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Forbidden, TooMany
from mainstay.values.moments import local_date, moment_text
from mainstay.values.words import words_of

EXPORTS_AN_HOUR = 12

# What there is only one of.
_SINGLE = (get_organisation, get_settings)


@dataclass(frozen=True)
class ArchivePages:
    """The page, and the archive."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter = self.desk.signed_in
        return [
            Route("GET", "/settings/export", enter(self.show)),
            Route("GET", "/settings/export/everything.zip", enter(self.archive)),
        ]

    async def show(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """What would be in it."""
        _check(guest.actor)
        lists = [name_of(lists) for lists in exported(self.desk.catalogue, guest.actor)]
        stage = self.desk.visitors.stage
        stored = await self.desk.visitors.runner.read(_read_storage, stage, guest.actor.organisation)
        storage = {"used": stored, "limit": stage.storage_limit}
        return self.desk.page("export.html", guest, area="Settings", lists=lists, storage=storage)

    async def archive(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Everything; written to a file first, by a thread for what takes long."""
        _check(guest.actor)
        visitors = self.desk.visitors
        limit = f"exports of {guest.actor.organisation}"
        if not (await visitors.limits.take(limit, EXPORTS_AN_HOUR, 3600.0)).accepted:
            raise TooMany("Everything was exported too often within an hour. Wait a while, then try again.")
        made = Archive(visitors.stage, guest.actor, guest.time_zone, guest.request.id, visitors.files, visitors.passing)
        return await visitors.runner.take_long(guest.actor.organisation, made.answer)


def _read_storage(stage: Stage, organisation: str) -> int:
    with stage.database.reading(organisation) as rows:
        return stored_bytes(rows)


def _check(actor: Actor) -> None:
    if not actor.may(EXPORTS):
        raise Forbidden(f"The role {actor.role} may not export everything. Ask an owner or admin.")


@dataclass
class Archive:
    """Writes it, page by page and piece by piece, however much there is."""

    stage: Stage
    actor: Actor
    zone: str
    # The id of the request that it is for.
    request: str
    files: Files
    passing: PassingFiles
    # How many records there are of each list, the PDFs that nobody has made yet, and the files that were not found
    # where they are kept.
    counts: dict[str, int] = field(default_factory=dict)
    unmade: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def answer(self) -> Response:
        """Write it, and answer from what was written. It takes long, and so is nothing for the event loop."""
        path, file = self.passing.new()
        try:
            with file:
                self.write(file)
            day = local_date(self.stage.clock(), self.zone).isoformat()
            return download(path, f"Mainstay {day}.zip", "application/zip")
        except BaseException:
            path.unlink()
            raise

    def write(self, file: BinaryIO) -> None:
        """Write it into a file."""
        began = moment_text(self.stage.clock())
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for operation in _SINGLE:
                answer = self.stage.perform(operation, self.actor, b"{}", Envelope(self.request))
                archive.writestr(f"json/{operation.output.noun}.json", answer.body)
            for lists in exported(self.stage.catalogue, self.actor):
                self._write_list(archive, lists)
                if made := papers(self.stage.catalogue, self.actor, lists):
                    self._write_papers(archive, name_of(lists), made)
            if is_admitted(list_documents, self.actor):
                self._write_files(archive)
            archive.writestr("README.txt", self._readme(began))

    def _write_list(self, archive: ZipFile, lists: Operation) -> None:
        """A list in both forms, and what goes with it: read once, into a file from which each part is written."""
        name, read = name_of(lists), whole(self.stage.catalogue, lists)
        path, beside = self.passing.new()
        try:
            with beside:
                self.counts[name] = _keep(self._records(read), beside)
            archive.write(path, f"json/{name}.jsonl")
            self._write_table(archive, name, columns_of(lists.output, self.zone), _kept(path))
            if columns := columns_of_lines(read.output, self.zone):
                self._write_table(archive, f"{name.removesuffix('s')}-lines", columns, _lines(path))
        finally:
            path.unlink()

    def _write_table(
        self, archive: ZipFile, name: str, columns: Sequence[Column], records: Iterable[Mapping[str, Any]]
    ) -> None:
        with archive.open(f"csv/{name}.csv", "w", force_zip64=True) as file:
            write_rows(file, rows_of(columns, records))

    def _write_papers(self, archive: ZipFile, folder: str, made: Operation) -> None:
        """The files of documents that were made; none is made for this."""
        for document in self._records(made):
            if document["named"] is None:
                continue
            # Numbers may have slashes in them, and none has a low line.
            name = f"papers/{folder}/{document['named'].replace('/', '_')}"
            for form, ending in ENDINGS.items():
                if document[form]:
                    self._write_file(archive, self.files.path(document[form]), f"{name}{ending}")
            if not document["pdf"]:
                self.unmade.append(f"{name}{ENDINGS['pdf']}")

    def _records(self, lists: Operation) -> Iterator[dict[str, Any]]:
        for asked in askings(self.stage.catalogue, lists):
            yield from Export(self.stage, self.actor, lists, asked, self.zone, self.request).records()

    def _write_files(self, archive: ZipFile) -> None:
        for document in self._records(list_documents):
            path = self.files.path(document["sha256"])
            name = f"files/{document['recordId']}/{document['id']} {document['name']}"
            self._write_file(archive, path, name)

    def _write_file(self, archive: ZipFile, path: Path, name: str) -> None:
        if path.exists():
            # What people hand in is packed already, for the most part.
            archive.write(path, name, ZIP_STORED)
        else:
            self.missing.append(name)

    def _readme(self, began: str) -> str:
        return _README.format(
            began=began,
            ended=moment_text(self.stage.clock()),
            person=self.actor.person.name if self.actor.person else "the operator",
            counts="\n".join(f"  {name}: {count}" for name, count in self.counts.items()),
            left_out="\n".join(f"  {words_of(name.partition('_')[2])}: {why}." for name, why in LEFT_OUT.items()),
            unmade=_told(_UNMADE, self.unmade),
            missing=_told(_MISSING, self.missing),
        )


def _keep(records: Iterable[Mapping[str, Any]], file: BinaryIO) -> int:
    """Write records to a file, one on each line; how many."""
    count = 0
    for record in records:
        file.write(orjson.dumps(record) + b"\n")
        count += 1
    return count


def _kept(path: Path) -> Iterator[dict[str, Any]]:
    """The same, one by one."""
    with path.open("rb") as file:
        yield from map(orjson.loads, file)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of documents, each with what is known of the document."""
    for document in _kept(path):
        for line in document["lines"] or ():
            yield document | line


def _told(what: str, names: Sequence[str]) -> str:
    return "\n".join(("", what, *names, "")) if names else ""


_UNMADE = "These PDFs were not made yet. Each is made when it is opened in the office, and is here the next time:"
_MISSING = "These files were not found where they are kept:"
_README = """Everything of your organisation, as {person} sees it,
read from {began} to {ended}.

csv/     One table for each list, for spreadsheets (UTF-8), and one for the lines of each kind of document. Dates are
         written as 2026-12-08. A text that a spreadsheet would take for a formula begins with an apostrophe.
json/    The same for programs, with every field and id and with all that is in each record, such as lines, taxes and
         receipts of goods: one record on each line.
papers/  What was issued, as customers and suppliers were sent it: the PDF of each document, the stamped copy of an
         invoice that is void, and the e-invoice by itself (XML) where someone has asked for it; each PDF that is an
         e-invoice has it inside. Numbers are the names, with _ for /.
files/   Photos and files, in a folder for each record they belong to; json/documents.jsonl tells of each.

Records:
{counts}

Not in it:
{left_out}
{unmade}{missing}"""
