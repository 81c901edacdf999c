"""Installations for tests: an empty database, or a copy of one that is migrated and knows the accounts of the cast."""

import ipaddress
import shutil
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from cast import EMAILS, open_accounts
from engines import PostgresServer, start_postgresql
from mainstay.backing.folder import DataFolder
from mainstay.settings import Settings, read_settings
from mainstay.staging import open_stage


class Installations:
    """Hands out installations; what they need is made when it is needed first, once in a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def postgresql(self) -> PostgresServer:
        """One server for the whole process."""
        return start_postgresql(self._folder / "postgresql")

    def empty(self, engine: str, folder: Path) -> Settings:
        """An installation whose database has not even tables."""
        return _settings(folder, self.postgresql.new_database() if engine == "postgresql" else None)

    def furnished(self, engine: str, folder: Path) -> Settings:
        """An installation in which the cast has accounts, and nothing has happened yet."""
        if engine == "postgresql":
            return _settings(folder, self.postgresql.new_database(self._template))
        settings = _settings(folder, None)
        copied = DataFolder(settings.data)
        copied.make()
        shutil.copyfile(self._template_file, copied.database)
        return settings

    @cached_property
    def _template(self) -> str:
        settings = self.empty("postgresql", self._folder / "template of postgresql")
        _furnish(settings)
        assert settings.database
        return settings.database

    @cached_property
    def _template_file(self) -> Path:
        settings = self.empty("sqlite", self._folder / "template of sqlite")
        _furnish(settings)
        return DataFolder(settings.data).database


def _settings(folder: Path, database: str | None) -> Settings:
    # Registrations are limited by address; a trusted proxy lets a test come from several.
    loopback = (ipaddress.ip_network("127.0.0.1"),)
    return replace(read_settings({}), data=folder / "data", database=database, workers=2, trusted_proxies=loopback)


def _furnish(settings: Settings) -> None:
    stage = open_stage(settings)
    open_accounts(stage, *EMAILS.values())
    stage.database.close()
