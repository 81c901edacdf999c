"""The first organisation of an installation: the operator creates it on a page, once, with a code.

Its ID is derived from the installation's secret. If several people or processes create it at once, the database accepts
only one. The code is derived from the secret too, so all servers of the installation write the same one to their logs.
"""

import hashlib
import hmac
from dataclasses import dataclass, field

from mainstay.infrastructure.database import DatabaseHandle
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

    @property
    def organisation_id(self) -> str:
        """The id of the first organisation."""
        return derive_id("org", hmac.digest(self.secret, b"first organisation", hashlib.sha256))

    @property
    def code(self) -> str:
        """The code, in groups of four characters."""
        digest = hmac.digest(self.secret, b"code of the first organisation", hashlib.sha256)
        code = "".join(_CODE_CHARACTERS[byte % len(_CODE_CHARACTERS)] for byte in digest[:_CODE_LENGTH])
        return "-".join(code[start : start + _GROUP_LENGTH] for start in range(0, _CODE_LENGTH, _GROUP_LENGTH))

    def is_code(self, text: str) -> bool:
        """Return whether this is the code, in any case and with or without hyphens and spaces."""
        given = text.upper().replace("-", "").replace(" ", "")
        return hmac.compare_digest(given.encode(), self.code.replace("-", "").encode())


def has_no_accounts(db: DatabaseHandle) -> bool:
    """Return whether nobody can sign in yet. The handle is not bound to one organisation."""
    return db.one("SELECT 1 FROM account LIMIT 1") is None
