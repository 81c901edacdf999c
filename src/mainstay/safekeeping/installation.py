"""An installation as it is copied: its database, its files, and the secret by which it derives others."""

import hashlib
import hmac
from dataclasses import dataclass

from mainstay.backing.database import WholeDatabase
from mainstay.backing.files import Files
from mainstay.backing.folder import DataFolder


@dataclass(frozen=True, slots=True)
class Installation:
    """What there is to be copied, or where it goes."""

    database: WholeDatabase
    folder: DataFolder
    # The secret that a setting gives, where one does.
    given_secret: str | None

    @property
    def files(self) -> Files:
        """What people handed in."""
        return Files(self.folder.files)

    @property
    def secret(self) -> bytes | None:
        """The secret, by the setting or in the file; None where none was made yet."""
        if self.given_secret is not None:
            return self.given_secret.encode()
        path = self.folder.secret
        return path.read_bytes() if path.exists() else None


def print_of(secret: bytes | None) -> str | None:
    """By what a secret is known again without being told."""
    return None if secret is None else hmac.new(secret, b"mainstay backup", hashlib.sha256).hexdigest()[:32]
