"""An installation that is copied or restored: its database, its files and its secret."""

import hashlib
import hmac
from dataclasses import dataclass

from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import MigratableDatabase
from mainstay.infrastructure.files import FileStore


@dataclass(frozen=True, slots=True)
class Installation:
    """The source or the target of a copy."""

    database: MigratableDatabase
    folder: DataFolder
    # The secret in the settings, if there is one.
    given_secret: str | None

    @property
    def files(self) -> FileStore:
        """The uploaded files."""
        return FileStore(self.folder.files)

    @property
    def secret(self) -> bytes | None:
        """The secret from the settings or from the file, or None if there is none yet."""
        if self.given_secret is not None:
            return self.given_secret.encode()
        path = self.folder.secret
        return path.read_bytes() if path.exists() else None


def fingerprint_of(secret: bytes | None) -> str | None:
    """Return a fingerprint by which a secret can be recognised without being revealed."""
    return None if secret is None else hmac.new(secret, b"mainstay backup", hashlib.sha256).hexdigest()[:32]
