"""What was in a removed file goes later, unless something else has the same in it."""

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from pydantic import TypeAdapter

from cast import Cast
from filing import PDF, add, work_of
from mainstay.backing.database import EVERY
from mainstay.backing.files import KEPT_FOR, Files
from mainstay.business.issuing.printed import TABLES
from mainstay.business.organisation.logo import set_logo
from mainstay.business.records.documents import remove_document
from mainstay.business.records.forgetting import FORGET, NAMED_IN, forget_later, forgetting
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.perform import Stage
from mainstay.ledger.outbox_queue import Work
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role
from mainstay.values.fields import KeptName
from mainstay.values.moments import moment_text, parse_moment


@dataclass
class Store:
    """An organisation with files of its own, and the work of letting go of them."""

    cast: Cast
    files: Files

    def keep(self, content: bytes) -> str:
        """Keep something, long ago."""
        name = self.files.keep(content)
        os.utime(self.files.path(name), (0, 0))
        return name

    def remove(self, document: str) -> None:
        """Remove a file from its record."""
        acting = self.cast.actor(Role.OFFICE, door=Door.OFFICE)
        self.cast.perform(remove_document, acting, documentId=document, confirmed=True)

    def work(self) -> list[tuple[str, str]]:
        """Do what is left to be done; the files it was about, and when that was due."""
        with self.cast.stage.database.changing(self.cast.organisation) as rows:
            mine = "WHERE organisation_id = :organisation AND kind = :kind"
            found = rows.all(f"DELETE FROM outbox {mine} RETURNING id, payload, due_at", kind=FORGET)
        for identity, payload, _ in found:
            work = Work(str(identity), self.cast.organisation, FORGET, orjson.loads(str(payload)), 1)
            forgetting(self.cast.stage, self.files)(work)
        return [(orjson.loads(str(payload))["file"], str(due)) for _, payload, due in found]


@pytest.fixture
def store(cast: Cast, tmp_path: Path) -> Store:
    return Store(cast, Files(tmp_path / "files"))


def test_the_content_and_the_small_picture_go_an_hour_later(store: Store) -> None:
    cast, job = store.cast, work_of(store.cast).job
    large, small = store.keep(b"large"), store.keep(b"small")
    document = add(cast, job, name="a.jpg", mediaType="image/jpeg", content=large, thumbnail=small)["id"]
    before = moment_text(cast.stage.clock() + KEPT_FOR)
    store.remove(document)
    assert store.files.path(large).exists()
    done = store.work()
    assert sorted(name for name, _ in done) == sorted([large, small])
    assert all(before <= due < moment_text(parse_moment(before) + timedelta(minutes=5)) for _, due in done)
    assert [name for name in (large, small) if store.files.path(name).exists()] == []
    assert store.work() == []


def test_what_another_record_names_stays_also_of_another_organisation(store: Store, stranger: Cast) -> None:
    name = store.keep(PDF)
    first, second = (add(store.cast, work_of(store.cast).job, content=name)["id"] for _ in range(2))
    theirs = add(stranger, work_of(stranger).job, content=name)["id"]
    store.remove(first)
    store.work()
    assert store.files.path(name).exists()
    store.remove(second)
    store.work()
    assert store.files.path(name).exists()
    other = Store(stranger, store.files)
    other.remove(theirs)
    other.work()
    assert not store.files.path(name).exists()


def test_a_small_picture_and_a_logo_are_needed_as_much(store: Store) -> None:
    cast, job = store.cast, work_of(store.cast).job
    name = store.keep(b"both large and small")
    document = add(cast, job, content=name)["id"]
    other = add(cast, job, name="a.jpg", mediaType="image/jpeg", content="2" * 64, thumbnail=name)["id"]
    store.remove(document)
    store.work()
    assert store.files.path(name).exists()
    cast.perform(set_logo, cast.actor(Role.OWNER, door=Door.OFFICE), logo=name)
    store.remove(other)
    store.work()
    assert store.files.path(name).exists()


def test_what_someone_hands_in_at_that_time_stays_and_is_looked_at_again(store: Store) -> None:
    job = work_of(store.cast).job
    name = store.keep(PDF)
    store.remove(add(store.cast, job, content=name)["id"])
    # Kept for another record, which is not written yet.
    store.files.keep(PDF)
    store.work()
    assert store.files.path(name).read_bytes() == PDF
    document = add(store.cast, job, content=name)["id"]
    store.keep(PDF)
    assert [file for file, _ in store.work()] == [name]
    assert store.files.path(name).exists()
    store.remove(document)
    store.work()
    assert not store.files.path(name).exists()


def test_one_that_was_put_aside_and_is_needed_is_there_again(store: Store) -> None:
    job = work_of(store.cast).job
    name = store.keep(PDF)
    first, _second = (add(store.cast, job, content=name)["id"] for _ in range(2))
    (store.files.folder / "aside").mkdir()
    store.files.path(name).replace(store.files.folder / "aside" / name)
    store.remove(first)
    store.work()
    assert store.files.path(name).read_bytes() == PDF


@pytest.mark.only_on("sqlite")
def test_every_field_that_takes_the_name_of_a_kept_file_is_asked_before_one_goes(stage: Stage) -> None:
    pattern = repr(TypeAdapter(KeptName).json_schema()["pattern"])
    taking = {
        f"{operation.name}.{name}"
        for operation in CATALOGUE.operations
        for name, part in operation.input.model_json_schema().get("properties", {}).items()
        if pattern in repr(part)
    }
    # Whoever adds one adds where it is kept to NAMED_IN.
    assert taking == {"add_document.content", "add_document.thumbnail", "set_logo.logo"}
    # What the house prints is named by no field, but by such columns.
    with stage.database.reading(EVERY) as rows:
        columns = rows.all(
            "SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
            " WHERE m.type = 'table' AND c.name LIKE '%\\_sha256' ESCAPE '\\'"
        )
    printed = {str(name) for (name,) in columns}
    assert {name.partition(".")[0] for name in printed} == {*TABLES.values()}
    assert {name for name in NAMED_IN if name.endswith("_sha256")} == printed
    assert len(NAMED_IN) == len(taking) + len(printed)


def test_what_was_kept_for_a_record_that_was_refused_goes_unless_another_has_it(store: Store) -> None:
    mine, shared = store.keep(PDF + b"mine"), store.keep(PDF + b"shared")
    add(store.cast, work_of(store.cast).job, content=shared)
    forget_later(store.cast.stage, store.cast.organisation, [mine, shared])
    assert [name for name, _ in store.work()] == [mine, shared]
    assert (store.files.path(mine).exists(), store.files.path(shared).exists()) == (False, True)
