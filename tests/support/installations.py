"""Installations for tests: an empty database, or a copy of one that is migrated and knows the accounts of the cast."""

import ipaddress
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import cast as known_as

from mainstay.catalogue import INVARIANTS
from mainstay.composition import open_files, open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import MigratableDatabase
from mainstay.kernel.perform import Performer
from mainstay.maintenance.check import check_invariants
from mainstay.settings import Settings, read_settings
from support.cast import EMAILS, open_accounts
from support.engines import PostgresServer, make_quick_folder, start_postgresql


@dataclass(frozen=True)
class Installation:
    """An installation: its settings and its performer."""

    settings: Settings
    performer: Performer

    @property
    def database(self) -> MigratableDatabase:
        """Its database, for work across organisations."""
        return known_as("MigratableDatabase", self.performer.database)

    def find_violations(self, at: datetime) -> dict[str, object]:
        """Return the violations that the invariants find in its books, by invariant."""
        found = check_invariants(self.database, open_files(self.settings), at, INVARIANTS)
        return {one.invariant.name: one.violations for one in found if one.violations}


class Installations:
    """Makes installations; templates are made when first needed, once in a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._templates: dict[tuple[str, tuple[str, ...]], Settings] = {}

    @cached_property
    def postgresql(self) -> PostgresServer:
        """One PostgreSQL server for the whole process."""
        return start_postgresql(make_quick_folder(self._folder) / "postgresql")

    def make_empty(self, engine: str, folder: Path) -> Settings:
        """Make an installation whose database has no tables."""
        return _make_settings(folder, self.postgresql.new_database() if engine == "postgresql" else None)

    def make_with_tables(self, engine: str, folder: Path) -> Settings:
        """Make an installation whose database has empty tables, as after its first start."""
        return self._copy_template(self._find_template(engine), folder)

    def make_with_accounts(self, engine: str, folder: Path) -> Settings:
        """Make an installation in which the cast has accounts, and nothing else."""
        return self._copy_template(self._find_template(engine, *EMAILS.values()), folder)

    def _find_template(self, engine: str, *accounts: str) -> Settings:
        """Return the installation that is copied if these addresses have accounts."""
        if (engine, accounts) not in self._templates:
            folder = self._folder / f"{engine} where {len(accounts)} have accounts"
            settings = self.make_with_tables(engine, folder) if accounts else self.make_empty(engine, folder)
            performer = open_performer(settings)
            open_accounts(performer, *accounts)
            performer.database.close()
            self._templates[engine, accounts] = settings
        return self._templates[engine, accounts]

    def _copy_template(self, template: Settings, folder: Path) -> Settings:
        if template.database:
            return _make_settings(folder, self.postgresql.new_database(template.database))
        settings = _make_settings(folder, None)
        data_folder = DataFolder(settings.data)
        data_folder.create()
        shutil.copyfile(DataFolder(template.data).database, data_folder.database)
        return settings


def _make_settings(folder: Path, database: str | None) -> Settings:
    # Registrations are limited by address; a trusted proxy lets a test come from several.
    loopback = (ipaddress.ip_network("127.0.0.1"),)
    return replace(read_settings({}), data=folder / "data", database=database, workers=2, trusted_proxies=loopback)
