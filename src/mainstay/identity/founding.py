"""The first organisation of an installation, which its operator makes on a page: once, with a code.

It has an id that follows from the installation's secret: of several who make it at once, in whatever process, the
database lets one. The code is new at each start of the server and told in its log; only its hash is kept.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from mainstay.backing.database import Handle
from mainstay.backing.mapped import write_fresh
from mainstay.identity.secrets import secret_hash
from mainstay.values.ids import derived_id

# Where the page is.
PATH = "/set-up"

# Letters and digits that nobody takes for one another; sixteen of them are 80 bits.
_SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH, _GROUP = 16, 4


@dataclass(frozen=True, slots=True)
class Founding:
    """Knows the id of the first organisation, and the code of those who may make it."""

    secret: bytes = field(repr=False)
    # Shared by the processes of one server.
    kept_at: Path

    @property
    def organisation(self) -> str:
        """The id of the first organisation."""
        return derived_id("org", hmac.digest(self.secret, b"first organisation", hashlib.sha256))

    def begin(self) -> str:
        """Let a new code count from now on, and no earlier one; it is told once."""
        signs = "".join(secrets.choice(_SIGNS) for _ in range(_LENGTH))
        kept = secret_hash(signs).encode()
        write_fresh(self.kept_at, kept, len(kept))
        return "-".join(signs[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))

    def end(self) -> None:
        """Let no code count."""
        self.kept_at.unlink(missing_ok=True)

    def is_code(self, given: str) -> bool:
        """Whether this is the code that counts, however it is written."""
        signs = given.upper().replace("-", "").replace(" ", "")
        try:
            kept = self.kept_at.read_bytes()
        except FileNotFoundError:
            return False
        return hmac.compare_digest(secret_hash(signs).encode(), kept)


def is_awaited(rows: Handle) -> bool:
    """Whether nobody can sign in yet: the handle looks across organisations, and each begins with someone who can."""
    return rows.one("SELECT 1 FROM account LIMIT 1") is None
