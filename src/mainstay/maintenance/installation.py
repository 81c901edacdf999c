"""An installation that is copied or restored: its database, its files and its secret."""

from dataclasses import dataclass

from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import MigratableDatabase
from mainstay.infrastructure.files import FileStore
from mainstay.infrastructure.installation_secret import find_installation_secret


@dataclass(frozen=True, slots=True)
class Installation:
    """The source or the target of a copy."""

    database: MigratableDatabase
    folder: DataFolder
    files: FileStore
    # The secret in the settings, if there is one.
    given_secret: str | None

    @property
    def secret(self) -> bytes | None:
        """The secret from the settings or from the file, or None if there is none yet."""
        return find_installation_secret(self.given_secret, self.folder.secret)
