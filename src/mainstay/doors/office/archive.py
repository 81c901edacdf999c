"""Settings → Export: everything of an organisation in one archive, as the person who asks sees it.

What is in it is read off the catalogue: each list of the office, as CSV for spreadsheets and as JSON for programs, and
every file. A list that is added to the catalogue is in it without another line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, get_args
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import orjson

from mainstay.backing.files import Files, PassingFiles
from mainstay.business.organisation.operations import get_organisation
from mainstay.business.organisation.settings import get_settings
from mainstay.business.records.documents import list_documents
from mainstay.doors.downloads import download
from mainstay.doors.http import Response
from mainstay.doors.office.desk import Desk, Guest
from mainstay.doors.office.export import Export, write_lines
from mainstay.doors.office.frame import EXPORTS
from mainstay.doors.pages.door import Route
from mainstay.kernel.catalogue import Catalogue, is_admitted
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage
from mainstay.terms.actor import Actor, Door
from mainstay.terms.refusal import Forbidden, TooMany
from mainstay.values.moments import local_date, moment_text

EXPORTS_AN_HOUR = 12

# Lists of the office that are not in it, each with the reason.
LEFT_OUT = {
    "list_messages": "mails stand beside the record that they are about, one by one",
    "get_history": "it lists what one did oneself; what happened to a record stands beside it, page by page",
    "list_deliveries": "what was sent to webhooks is kept for some days only, and tells of records that are here",
}
# What a list is asked for so that it holds everything, where it would begin with today.
_FROM_THE_BEGINNING: Mapping[str, dict[str, object]] = {
    "list_visits": {"order": "latest"},
    "list_time_off": {"order": "latest"},
}
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
        return self.desk.page("export.html", guest, area="Settings", lists=lists)

    async def archive(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Everything; written to a file first, by a thread for what takes long."""
        _check(guest.actor)
        visitors = self.desk.visitors
        limit = f"exports of {guest.actor.organisation}"
        if not (await visitors.limits.take(limit, EXPORTS_AN_HOUR, 3600.0)).accepted:
            raise TooMany("Everything was exported too often within an hour. Wait a while, then try again.")
        made = Archive(visitors.stage, guest.actor, guest.time_zone, guest.request.id, visitors.files, visitors.passing)
        return await visitors.runner.take_long(made.answer)


def _check(actor: Actor) -> None:
    if not actor.may(EXPORTS):
        raise Forbidden(f"The role {actor.role} may not export everything. Ask an owner or admin.")


def exported(catalogue: Catalogue, actor: Actor) -> list[Operation]:
    """The lists that are in the archive for someone."""
    return [
        operation
        for operation in catalogue.operations
        if operation.lists
        and Door.OFFICE in operation.offered
        and operation.name not in LEFT_OUT
        and is_admitted(operation, actor)
    ]


def name_of(lists: Operation) -> str:
    """What the files of a list are called."""
    return lists.name.removeprefix("list_").replace("_", "-")


def askings(catalogue: Catalogue, lists: Operation) -> list[dict[str, object]]:
    """What a list is asked for, so that the answers together hold every record and none of them twice."""
    usual = _FROM_THE_BEGINNING.get(lists.name, {})
    listing = next((operation.on for operation in catalogue.on(lists.output) if operation.on), None)
    for name in listing.otherwise if listing else ():
        # Without this filter some would be left out: so it is asked for each of its values.
        told = lists.input.model_fields[name]
        [values] = [get_args(part) or tuple(part) for part in get_args(told.annotation) if part is not type(None)]
        return [{**usual, told.alias or name: value} for value in values]
    return [usual]


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
    # How many records there are of each list, and the files that were not found where they are kept.
    counts: dict[str, int] = field(default_factory=dict)
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
            if is_admitted(list_documents, self.actor):
                self._write_files(archive)
            archive.writestr("README.txt", self._readme(began))

    def _write_list(self, archive: ZipFile, lists: Operation) -> None:
        """A list in both forms; the second waits in a file of its own, since an archive is written one by one."""
        name = name_of(lists)
        path, beside = self.passing.new()
        try:
            with beside, archive.open(f"csv/{name}.csv", "w", force_zip64=True) as file:
                write_lines(file, lists.output, self._told(beside, lists, name), self.zone)
            archive.write(path, f"json/{name}.jsonl")
        finally:
            path.unlink()

    def _told(self, beside: BinaryIO, lists: Operation, name: str) -> Iterator[dict[str, Any]]:
        """Its records, each of which is written as a line of JSON on its way."""
        self.counts[name] = 0
        for record in self._records(lists):
            beside.write(orjson.dumps(record) + b"\n")
            self.counts[name] += 1
            yield record

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
        person = self.actor.person.name if self.actor.person else "the operator"
        counts = "\n".join(f"  {name}: {count}" for name, count in self.counts.items())
        missing = (
            "\nThese files were not found where they are kept:\n" + "\n".join(self.missing) if self.missing else ""
        )
        return _README.format(
            began=began, ended=moment_text(self.stage.clock()), person=person, counts=counts, missing=missing
        )


_README = """Everything of your organisation, as {person} sees it,
read from {began} to {ended}.

csv/    One table for each list, for spreadsheets (UTF-8). A text that a spreadsheet would take for a formula
        begins with an apostrophe.
json/   The same for programs, with every field and id: one record on each line.
files/  Photos and files, in a folder for each record they belong to; json/documents.jsonl tells of each.

Records:
{counts}
{missing}"""
