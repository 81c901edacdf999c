"""Installations for tests: an empty database, or a copy of one that is migrated and knows the accounts of the cast."""

import ipaddress
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import cast as known_as

from cast import EMAILS, open_accounts
from engines import PostgresServer, start_postgresql
from mainstay.backing.database import WholeDatabase
from mainstay.backing.folder import DataFolder
from mainstay.catalogue import PROOFS
from mainstay.kernel.perform import Stage
from mainstay.safekeeping.checking import check
from mainstay.settings import Settings, read_settings
from mainstay.staging import open_files, open_stage


@dataclass(frozen=True)
class Opened:
    """An installation in which something is done."""

    settings: Settings
    stage: Stage

    @property
    def database(self) -> WholeDatabase:
        """Its database, also where no organisation is meant."""
        return known_as("WholeDatabase", self.stage.database)

    def flaws(self, at: datetime) -> dict[str, object]:
        """What the proofs find wrong with its books, by their names."""
        found = check(self.database, open_files(self.settings), at, PROOFS)
        return {one.proof.name: one.flaws for one in found if one.flaws}


class Installations:
    """Hands out installations; what they need is made when it is needed first, once in a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._templates: dict[tuple[str, tuple[str, ...]], Settings] = {}

    @cached_property
    def postgresql(self) -> PostgresServer:
        """One server for the whole process."""
        return start_postgresql(self._folder / "postgresql")

    def empty(self, engine: str, folder: Path) -> Settings:
        """An installation whose database has not even tables."""
        return _settings(folder, self.postgresql.new_database() if engine == "postgresql" else None)

    def bare(self, engine: str, folder: Path) -> Settings:
        """An installation whose database has its tables, and nothing in them: what an empty one is once opened."""
        return self._copied(self._template(engine), folder)

    def furnished(self, engine: str, folder: Path) -> Settings:
        """An installation in which the cast has accounts, and nothing has happened yet."""
        return self._copied(self._template(engine, *EMAILS.values()), folder)

    def _template(self, engine: str, *accounts: str) -> Settings:
        """What is copied where these have accounts."""
        if (engine, accounts) not in self._templates:
            folder = self._folder / f"{engine} where {len(accounts)} have accounts"
            settings = self.bare(engine, folder) if accounts else self.empty(engine, folder)
            stage = open_stage(settings)
            open_accounts(stage, *accounts)
            stage.database.close()
            self._templates[engine, accounts] = settings
        return self._templates[engine, accounts]

    def _copied(self, template: Settings, folder: Path) -> Settings:
        if template.database:
            return _settings(folder, self.postgresql.new_database(template.database))
        settings = _settings(folder, None)
        copied = DataFolder(settings.data)
        copied.make()
        shutil.copyfile(DataFolder(template.data).database, copied.database)
        return settings


def _settings(folder: Path, database: str | None) -> Settings:
    # Registrations are limited by address; a trusted proxy lets a test come from several.
    loopback = (ipaddress.ip_network("127.0.0.1"),)
    return replace(read_settings({}), data=folder / "data", database=database, workers=2, trusted_proxies=loopback)
