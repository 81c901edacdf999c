"""The content of a removed file is deleted later, unless another record has the same content."""

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from pydantic import TypeAdapter

from mainstay.business.issuing.document_files import DOCUMENT_TABLES
from mainstay.business.organisation.logo import set_logo
from mainstay.business.records.attachments import remove_document
from mainstay.business.records.file_removal import REMOVE_FILE, STORED_FILE_COLUMNS, make_removal_handler, queue_removal
from mainstay.catalogue import CATALOGUE
from mainstay.changes.outbox_queue import LeasedTask
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.infrastructure.files import REMOVAL_GRACE_PERIOD, FolderFileStore
from mainstay.kernel.perform import Performer
from mainstay.values.fields import StoredFileName
from mainstay.values.moments import moment_text, parse_moment
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.attachments import PDF, add_file, make_attachment_jobs
from support.cast import Cast


@dataclass
class FileRemoval:
    """An organisation with files of its own, and the tasks that delete them."""

    cast: Cast
    files: FolderFileStore

    def store_old_file(self, content: bytes) -> str:
        """Store a file with an old date; return its name."""
        name = self.files.store(content)
        os.utime(self.files.path(name), (0, 0))
        return name

    def remove_file(self, document: str) -> None:
        """Remove a document from its record."""
        acting = self.cast.actor(Role.OFFICE, door=Door.OFFICE)
        self.cast.perform(remove_document, acting, documentId=document, confirmed=True)

    def run_forget_tasks(self) -> list[tuple[str, str]]:
        """Run the waiting tasks; return the file of each and when it was due."""
        with self.cast.performer.database.write_transaction(self.cast.organisation) as db:
            condition = "WHERE organisation_id = :organisation AND kind = :kind"
            found = db.all(f"DELETE FROM outbox {condition} RETURNING id, payload, due_at", kind=REMOVE_FILE)
        for record_id, payload, _ in found:
            work = LeasedTask(str(record_id), self.cast.organisation, REMOVE_FILE, orjson.loads(str(payload)), 1)
            make_removal_handler(self.cast.performer, self.files)(work)
        return [(orjson.loads(str(payload))["file"], str(due)) for _, payload, due in found]


@pytest.fixture
def file_removal(cast: Cast, tmp_path: Path) -> FileRemoval:
    return FileRemoval(cast, FolderFileStore(tmp_path / "files"))


def test_the_content_and_the_small_picture_go_an_hour_later(file_removal: FileRemoval) -> None:
    cast, job = file_removal.cast, make_attachment_jobs(file_removal.cast).job
    large, small = file_removal.store_old_file(b"large"), file_removal.store_old_file(b"small")
    document = add_file(cast, job, name="a.jpg", mediaType="image/jpeg", content=large, thumbnail=small)["id"]
    before = moment_text(cast.performer.clock() + REMOVAL_GRACE_PERIOD)
    file_removal.remove_file(document)
    assert file_removal.files.path(large).exists()
    done = file_removal.run_forget_tasks()
    assert sorted(name for name, _ in done) == sorted([large, small])
    assert all(before <= due < moment_text(parse_moment(before) + timedelta(minutes=5)) for _, due in done)
    assert [name for name in (large, small) if file_removal.files.path(name).exists()] == []
    assert file_removal.run_forget_tasks() == []


def test_what_another_record_names_stays_also_of_another_organisation(
    file_removal: FileRemoval, other_cast: Cast
) -> None:
    name = file_removal.store_old_file(PDF)
    first, second = (
        add_file(file_removal.cast, make_attachment_jobs(file_removal.cast).job, content=name)["id"] for _ in range(2)
    )
    theirs = add_file(other_cast, make_attachment_jobs(other_cast).job, content=name)["id"]
    file_removal.remove_file(first)
    file_removal.run_forget_tasks()
    assert file_removal.files.path(name).exists()
    file_removal.remove_file(second)
    file_removal.run_forget_tasks()
    assert file_removal.files.path(name).exists()
    other = FileRemoval(other_cast, file_removal.files)
    other.remove_file(theirs)
    other.run_forget_tasks()
    assert not file_removal.files.path(name).exists()


def test_a_small_picture_and_a_logo_are_needed_as_much(file_removal: FileRemoval) -> None:
    cast, job = file_removal.cast, make_attachment_jobs(file_removal.cast).job
    name = file_removal.store_old_file(b"both large and small")
    document = add_file(cast, job, content=name)["id"]
    other = add_file(cast, job, name="a.jpg", mediaType="image/jpeg", content="2" * 64, thumbnail=name)["id"]
    file_removal.remove_file(document)
    file_removal.run_forget_tasks()
    assert file_removal.files.path(name).exists()
    cast.perform(set_logo, cast.actor(Role.OWNER, door=Door.OFFICE), logo=name)
    file_removal.remove_file(other)
    file_removal.run_forget_tasks()
    assert file_removal.files.path(name).exists()


def test_what_someone_hands_in_at_that_time_stays_and_is_looked_at_again(file_removal: FileRemoval) -> None:
    job = make_attachment_jobs(file_removal.cast).job
    name = file_removal.store_old_file(PDF)
    file_removal.remove_file(add_file(file_removal.cast, job, content=name)["id"])
    # Kept for another record, which is not written yet.
    file_removal.files.store(PDF)
    file_removal.run_forget_tasks()
    assert file_removal.files.path(name).read_bytes() == PDF
    document = add_file(file_removal.cast, job, content=name)["id"]
    file_removal.store_old_file(PDF)
    assert [file for file, _ in file_removal.run_forget_tasks()] == [name]
    assert file_removal.files.path(name).exists()
    file_removal.remove_file(document)
    file_removal.run_forget_tasks()
    assert not file_removal.files.path(name).exists()


def test_one_that_was_put_aside_and_is_needed_is_there_again(file_removal: FileRemoval) -> None:
    job = make_attachment_jobs(file_removal.cast).job
    name = file_removal.store_old_file(PDF)
    first, _second = (add_file(file_removal.cast, job, content=name)["id"] for _ in range(2))
    (file_removal.files.folder / "aside").mkdir()
    file_removal.files.path(name).replace(file_removal.files.folder / "aside" / name)
    file_removal.remove_file(first)
    file_removal.run_forget_tasks()
    assert file_removal.files.path(name).read_bytes() == PDF


@pytest.mark.only_on("sqlite")
def test_every_field_that_takes_the_name_of_a_kept_file_is_asked_before_one_goes(performer: Performer) -> None:
    pattern = repr(TypeAdapter(StoredFileName).json_schema()["pattern"])
    taking = {
        f"{operation.name}.{name}"
        for operation in CATALOGUE.operations
        for name, part in operation.input.model_json_schema().get("properties", {}).items()
        if pattern in repr(part)
    }
    # When a field is added, add its column to NAMED_IN.
    assert taking == {"add_document.content", "add_document.thumbnail", "set_logo.logo"}
    # Documents that the product prints are named by no field, but by such columns.
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        columns = db.all(
            "SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
            " WHERE m.type = 'table' AND c.name LIKE '%\\_sha256' ESCAPE '\\'"
        )
    printed = {str(name) for (name,) in columns}
    assert {name.partition(".")[0] for name in printed} == {*DOCUMENT_TABLES.values()}
    assert {name for name in STORED_FILE_COLUMNS if name.endswith("_sha256")} == printed
    assert len(STORED_FILE_COLUMNS) == len(taking) + len(printed)


def test_what_was_kept_for_a_record_that_was_refused_goes_unless_another_has_it(file_removal: FileRemoval) -> None:
    mine, shared = file_removal.store_old_file(PDF + b"mine"), file_removal.store_old_file(PDF + b"shared")
    add_file(file_removal.cast, make_attachment_jobs(file_removal.cast).job, content=shared)
    queue_removal(file_removal.cast.performer, file_removal.cast.organisation, [mine, shared])
    assert [name for name, _ in file_removal.run_forget_tasks()] == [mine, shared]
    assert (file_removal.files.path(mine).exists(), file_removal.files.path(shared).exists()) == (False, True)
