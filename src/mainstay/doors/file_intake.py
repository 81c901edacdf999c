"""Files that arrive at a door: examined in a child process, and stored together with the change that names them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from mainstay.business.records.attachments import parts_to_store
from mainstay.business.records.file_removal import queue_removal
from mainstay.doors.runner import Runner
from mainstay.infrastructure.content_reader import ContentReader
from mainstay.infrastructure.file_types import ExaminedFile
from mainstay.infrastructure.files import FileStore, FileStoreUnavailable, content_name_of
from mainstay.infrastructure.rate_limits import RateLimits
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Refusal, TooManyRequests

T_co = TypeVar("T_co", covariant=True)

# How many files one organisation may add, through all doors.
DOCUMENTS_AN_HOUR = 300
_HOUR_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class FileIntake:
    """Examines and stores the files that are attached to records, for every door that receives some."""

    performer: Performer
    runner: Runner
    files: FileStore
    content_reader: ContentReader
    rate_limits: RateLimits

    async def count_file(self, organisation: str) -> None:
        """Count a file. Raise TooManyRequests if the organisation has added too many within an hour."""
        await count_upload(self.rate_limits, organisation, "documents", DOCUMENTS_AN_HOUR)

    async def examine(self, organisation: str, path: Path, file_name: str) -> ExaminedFile:
        """Return the type of a file and the content to store, or raise UnacceptedFile.

        Those who add files to the same organisation take turns.
        """
        return await self.runner.run_content_work(organisation, self.content_reader.examine, path, file_name)

    def store_with(self, organisation: str, contents: Sequence[ExaminedFile], perform: "FileChange[T_co]") -> T_co:
        """Store files and perform the change that names them, or do neither."""
        if contents:
            # A trial run first, so that a refusal leaves no stored files behind.
            perform(commit=False)
        parts = [part for content in contents for part in parts_to_store(content)]
        try:
            for part in parts:
                self.files.store(part)
            return perform(commit=True)
        except (Refusal, FileStoreUnavailable):
            # Only some are stored, or someone else has used the remaining storage or changed the record meanwhile.
            queue_removal(self.performer, organisation, map(content_name_of, parts))
            raise


class FileChange(Protocol[T_co]):
    """Performs the change that names stored files."""

    def __call__(self, *, commit: bool) -> T_co:
        """Perform the change, or only try it."""
        ...


async def count_upload(rate_limits: RateLimits, organisation: str, counter: str, limit: int) -> None:
    """Count an upload. Raise TooManyRequests if the organisation has uploaded too many within an hour."""
    if not (await rate_limits.take(f"{counter} of {organisation}", limit, _HOUR_SECONDS)).accepted:
        raise TooManyRequests(Message("Too many files were uploaded within an hour. Try again later."))
