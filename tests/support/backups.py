"""Installations with sample records whose books are sound, to be copied and corrupted."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import psycopg

from mainstay.composition import connect, open_files, open_performer
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.rehashing import hash_rows
from mainstay.settings import Settings
from rules.examples import SampleRecords, make_samples
from support.customers import make_job
from support.installations import Installations
from support.quotes import issue_quote, make_quote


@dataclass(frozen=True)
class SampleInstallation:
    """An installation with an organisation in which there is something of each kind."""

    settings: Settings
    samples: SampleRecords
    installations: Installations

    @contextmanager
    def open_samples(self) -> Iterator[SampleRecords]:
        """Open the organisation, to perform operations in it."""
        performer = open_performer(self.settings)
        try:
            yield replace(self.samples, cast=replace(self.samples.cast, performer=performer))
        finally:
            performer.database.close()

    def copy_to(self, folder: Path) -> "SampleInstallation":
        """Copy the installation to a folder."""
        data = folder / "data"
        shutil.copytree(self.settings.data, data)
        postgresql = self.installations.postgresql
        database = postgresql.new_database(self.settings.database) if self.settings.database else None
        return replace(self, settings=replace(self.settings, data=data, database=database))

    def corrupt(self, *statements: str) -> None:
        """Change rows behind the product's back, without triggers and constraints."""
        if self.settings.database is None:
            connection = apsw.Connection(str(DataFolder(self.settings.data).database))
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            for statement in statements:
                connection.execute(statement)
                assert connection.changes(), statement
            connection.close()
            return
        path = urlsplit(self.settings.database).path
        address = urlsplit(self.installations.postgresql.superuser_url)._replace(path=path).geturl()
        with psycopg.connect(address, autocommit=True) as server:
            server.execute("SET session_replication_role = replica")
            for statement in statements:
                assert server.execute(statement.encode()).rowcount, statement


def make_sample_installation(installations: Installations, engine: str, folder: Path) -> SampleInstallation:
    """Make a sample installation; its files are stored, with their hashes."""
    settings = installations.make_with_accounts(engine, folder)
    performer = replace(open_performer(settings), guard=AddressGuard(allow_private=True))
    samples = make_samples(performer)
    cast = samples.cast
    jobs = [make_job(cast, samples.work_samples.customer, title=f"Job {number}") for number in range(4)]
    make_quote(cast)
    issue_quote(cast, make_quote(cast, jobId=jobs[0]["id"]), deliver="none")
    names = [open_files(settings).store(content) for content in (b"a logo", b"a plan of the house", b"a small picture")]
    installation = SampleInstallation(settings, samples, installations)
    performer.database.close()
    logo, content, thumbnail = names
    installation.corrupt(
        f"UPDATE organisation SET logo = '{logo}'",
        f"UPDATE document SET content = '{content}', thumbnail = '{thumbnail}'",
    )
    rehash_rows(settings)
    return installation


def rehash_rows(settings: Settings) -> None:
    """Hash rows as they are now, because a test has written them itself."""
    database = connect(settings)
    with database.migration_transaction() as db:
        hash_rows(db, "a test")
    database.close()


def query_all(settings: Settings, sql: str, **given: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a statement across all organisations of an installation."""
    performer = open_performer(settings)
    try:
        with performer.database.read_transaction("*") as db:
            return [tuple(row) for row in db.all(sql, **given)]
    finally:
        performer.database.close()
