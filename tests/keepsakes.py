"""Furnished installations whose books are sound, to be copied and tried things on; and someone who spoils them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import psycopg

from house.examples import Exhibit, furnish
from installations import Installations
from mainstay.backing.folder import DataFolder
from mainstay.backing.guard import Guard
from mainstay.backing.rehashing import hash_rows
from mainstay.settings import Settings
from mainstay.staging import connect, open_files, open_stage
from quoting import a_draft, sent
from trade import a_job


@dataclass(frozen=True)
class Keepsake:
    """An installation with an organisation in which there is something of each kind."""

    settings: Settings
    exhibit: Exhibit
    installations: Installations

    @contextmanager
    def opened(self) -> Iterator[Exhibit]:
        """The organisation, to act in."""
        stage = open_stage(self.settings)
        try:
            yield replace(self.exhibit, cast=replace(self.exhibit.cast, stage=stage))
        finally:
            stage.database.close()

    def copied(self, folder: Path) -> "Keepsake":
        """Another just like it."""
        data = folder / "data"
        shutil.copytree(self.settings.data, data)
        postgresql = self.installations.postgresql
        database = postgresql.new_database(self.settings.database) if self.settings.database else None
        return replace(self, settings=replace(self.settings, data=data, database=database))

    def spoil(self, *statements: str) -> None:
        """Change rows behind the product's back, with nothing that guards them."""
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


def make(installations: Installations, engine: str, folder: Path) -> Keepsake:
    """A new one; its files are there, with their hashes."""
    settings = installations.furnished(engine, folder)
    stage = replace(open_stage(settings), guard=Guard(allow_private=True))
    exhibit = furnish(stage)
    cast = exhibit.cast
    jobs = [a_job(cast, exhibit.business.customer, title=f"Job {number}") for number in range(4)]
    a_draft(cast)
    sent(cast, a_draft(cast, jobId=jobs[0]["id"]), deliver="none")
    names = [open_files(settings).keep(content) for content in (b"a logo", b"a plan of the house", b"a small picture")]
    keep = Keepsake(settings, exhibit, installations)
    stage.database.close()
    logo, content, thumbnail = names
    keep.spoil(
        f"UPDATE organisation SET logo = '{logo}'",
        f"UPDATE document SET content = '{content}', thumbnail = '{thumbnail}'",
    )
    renew_hashes(settings)
    return keep


def renew_hashes(settings: Settings) -> None:
    """Let the audit trail know rows as they are, because a test has written them itself."""
    database = connect(settings)
    with database.migrating() as rows:
        hash_rows(rows, "a test")
    database.close()


def rows_of(settings: Settings, sql: str, **given: Any) -> list[tuple[Any, ...]]:
    """What a statement across organisations gives in an installation."""
    stage = open_stage(settings)
    try:
        with stage.database.reading("*") as rows:
            return [tuple(row) for row in rows.all(sql, **given)]
    finally:
        stage.database.close()
