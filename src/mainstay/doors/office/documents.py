"""Photos and files beside records: added, shown, opened and removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from mainstay.backing.contents import Content, NotTaken, plain_name
from mainstay.backing.deadline import begin_anew
from mainstay.business.records.documents import MOST_BYTES, add_document, get_document, keep, told_of
from mainstay.business.records.forgetting import forget_later
from mainstay.doors.downloads import kept_file
from mainstay.doors.http import Response
from mainstay.doors.office.arrangement import Arrangement
from mainstay.doors.office.beside import WITHOUT_FILES
from mainstay.doors.office.desk import Desk, Guest, status_of
from mainstay.doors.office.references import AsTold, title_of
from mainstay.doors.office.room import Room
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.render import see_other
from mainstay.doors.pages.uploads import Limit, Received
from mainstay.kernel.catalogue import admit
from mainstay.terms.refusal import Fault, Invalid, NotFound, Refusal
from mainstay.values.sizes import size_text

# What one form may hand in: some files that were chosen or dropped, and a photo that was taken for it.
LIMITS = {"files": Limit(MOST_BYTES, several=10, together=60_000_000), "photo": Limit(MOST_BYTES)}
DOCUMENTS_AN_HOUR = 300

DOCUMENTS = Arrangement(
    title="Files",
    lead="",
    path="/documents",
    area="Jobs",
    gets=get_document,
    called=lambda document: str(document["name"]),
    below=lambda document: size_text(document["bytes"]),
    columns=(),
    facts=("visibility",),
    sides=WITHOUT_FILES,
    more="file.html",
)


@dataclass(frozen=True)
class Documents:
    """The pages, and the files themselves."""

    desk: Desk

    def routes(self) -> list[Route]:
        """Where they are."""
        enter, one = self.desk.signed_in, f"{DOCUMENTS.path}/{{id}}"
        arranged = replace(DOCUMENTS, ends_at=lambda document: self.desk.place_of(document["recordId"]))
        return [
            *Room(self.desk, arranged, shows=self._shown).routes(),
            Route("POST", DOCUMENTS.path, enter(self.add)),
            Route("GET", DOCUMENTS.path, enter(self.go_back)),
            Route("GET", f"{one}/file", enter(self.file)),
            Route("GET", f"{one}/thumbnail", enter(self.thumbnail)),
        ]

    async def add(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """Take some files, all of them or none, and go back to the record."""
        admit(add_document, guest.actor)
        fields = await self.desk.form_with_files(guest, LIMITS)
        guest = guest.sending(fields)
        record = fields.get("recordId", "")
        back = self.desk.place_of(record)
        received = [file for name in LIMITS for file in guest.received.get(name, ())]
        about: dict[str, object] = {"recordId": record, "visibility": fields.get("visibility", "field")}
        try:
            if not received:
                raise Invalid([Fault("File", "is missing. Choose one first")])
            for _file in received:
                await self.desk.count_file(guest, "documents", DOCUMENTS_AN_HOUR)
            contents = await self._examine(guest, received)
            await self.desk.visitors.runner.change(
                guest.actor.organisation, self._add, guest, received, contents, about
            )
        except NotFound:
            raise
        except Refusal as refusal:
            return self.desk.page(
                "refused.html",
                guest,
                status_of(refusal),
                title="Nothing was added",
                text=f"{refusal.text.rstrip('.')}.",
                back=back,
                back_words="Back",
                area="",
            )
        return see_other(f"{back}?done={add_document.name}#files")

    async def go_back(self, guest: Guest, _: Mapping[str, str]) -> Response:
        """To the record, where someone loads again that its files were refused."""
        return see_other(self.desk.place_of(query_words(guest.request).get("recordId", "")))

    async def file(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """What is in a file, for those who see it now."""
        found = await self.desk.perform(guest, get_document, {"documentId": at["id"]})
        return await self._answer(found["sha256"], found["name"], found["mediaType"], shown=found["kind"] == "photo")

    async def thumbnail(self, guest: Guest, at: Mapping[str, str]) -> Response:
        """The small picture of a photo."""
        found = await self.desk.perform(guest, get_document, {"documentId": at["id"]})
        if not found["thumbnail"]:
            raise NotFound("page")
        return await self._answer(found["thumbnail"], found["name"], found["mediaType"], shown=True)

    async def _answer(self, name: str, called: str, media_type: str, *, shown: bool) -> Response:
        visitors = self.desk.visitors
        try:
            opened = partial(kept_file, visitors.files.path(name), called, media_type, shown=shown)
            return await visitors.runner.run(opened)
        except FileNotFoundError:
            # The folder of files was not brought along with the database.
            raise NotFound("file") from None

    async def _shown(self, guest: Guest, document: AsTold | None) -> dict[str, Any]:
        """What only the page of a file has: the way back to its record, what that is called."""
        record = document["recordId"] if document else ""
        called = title_of(await self.desk.get(guest, record))
        return {"within": {"path": f"{self.desk.place_of(record)}#files", "name": called}}

    async def _examine(self, guest: Guest, received: Sequence[Received]) -> list[Content]:
        """Examine each file; each waits for its turn, so that colleagues who upload at the same time take turns."""
        visitors = self.desk.visitors
        contents, faults = [], []
        for file in received:
            examine = partial(visitors.content.examine, file.path, file.called)
            try:
                contents.append(await visitors.runner.read_content(guest.actor.organisation, examine))
            except NotTaken as fault:
                faults.append(Fault(plain_name(file.called), str(fault)))
        if faults:
            raise Invalid(faults)
        # Reading them may have taken longer than a change may wait.
        begin_anew()
        return contents

    def _add(
        self, guest: Guest, received: Sequence[Received], contents: Sequence[Content], about: Mapping[str, object]
    ) -> None:
        """Add all of them or none."""
        given = [
            orjson.dumps({**about, **told_of(content, file.called)})
            for file, content in zip(received, contents, strict=True)
        ]
        # Tried first: what is refused leaves nothing behind.
        self._add_all(guest, given, keep=False)
        kept = [name for content in contents for name in keep(self.desk.visitors.files, content)]
        try:
            self._add_all(guest, given, keep=True)
        except Refusal:
            # Since it was tried, someone else has used the room that was left, or changed the record.
            forget_later(self.desk.visitors.stage, guest.actor.organisation, kept)
            raise

    def _add_all(self, guest: Guest, given: Sequence[bytes], *, keep: bool) -> None:
        with self.desk.visitors.stage.together(guest.actor.organisation, keep=keep) as stage:
            for number, raw in enumerate(given):
                stage.perform(add_document, guest.actor, raw, guest.envelope(f"{add_document.name} {number}"))
