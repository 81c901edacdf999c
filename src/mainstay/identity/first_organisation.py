"""The first organisation of an installation: the operator creates it on a page, once, with a code.

Its ID is derived from the installation's secret. If several people or processes create it at once, the database accepts
only one. A new code is made at each start of the server and written to its log; only its hash is saved.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from mainstay.identity.secrets import hash_secret
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.infrastructure.mapped_files import replace_file
from mainstay.values.ids import derive_id

# The path of the page.
SET_UP_PATH = "/set-up"

# Letters and digits that are hard to confuse. Sixteen of them are 80 bits.
_CODE_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_CODE_LENGTH, _GROUP_LENGTH = 16, 4


@dataclass(frozen=True, slots=True)
class FirstOrganisation:
    """Knows the ID of the first organisation, and checks the code that allows to create it."""

    secret: bytes = field(repr=False)
    # The file with the code's hash, shared by the processes of one server.
    code_file: Path

    @property
    def organisation_id(self) -> str:
        """The id of the first organisation."""
        return derive_id("org", hmac.digest(self.secret, b"first organisation", hashlib.sha256))

    def create_code(self) -> str:
        """Make a new code, replace any earlier one, and return it. It is returned only this once."""
        code = "".join(secrets.choice(_CODE_CHARACTERS) for _ in range(_CODE_LENGTH))
        code_hash = hash_secret(code).encode()
        replace_file(self.code_file, code_hash, len(code_hash))
        return "-".join(code[at : at + _GROUP_LENGTH] for at in range(0, _CODE_LENGTH, _GROUP_LENGTH))

    def delete_code(self) -> None:
        """Delete the code, so that none is valid."""
        self.code_file.unlink(missing_ok=True)

    def is_code(self, text: str) -> bool:
        """Return whether this is the valid code, in any case and with or without hyphens and spaces."""
        code = text.upper().replace("-", "").replace(" ", "")
        try:
            stored = self.code_file.read_bytes()
        except FileNotFoundError:
            return False
        return hmac.compare_digest(hash_secret(code).encode(), stored)


def has_no_accounts(db: DatabaseHandle) -> bool:
    """Return whether nobody can sign in yet. The handle is not bound to one organisation."""
    return db.one("SELECT 1 FROM account LIMIT 1") is None
