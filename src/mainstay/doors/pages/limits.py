"""How long and how much: what pages tell of it, each from where it is decided."""

from mainstay.business.importing import store as imports
from mainstay.business.records.documents import MOST_BYTES
from mainstay.identity import passwords, sessions
from mainstay.identity.links import LIVES, Kind
from mainstay.values.durations import lasting
from mainstay.values.fields import LONGEST_LINE, LONGEST_PARAGRAPH
from mainstay.values.search import LONGEST_TEXT

LIMITS: dict[str, str | int] = {
    # The characters of a new password, of a line, of a paragraph, and of what is searched for.
    "password": passwords.SHORTEST,
    "line": LONGEST_LINE,
    "paragraph": LONGEST_PARAGRAPH,
    "search": LONGEST_TEXT,
    # How long someone is signed in without use, and at all; and how long a link to a new password works.
    "idle": lasting(sessions.IDLE),
    "signed_in": lasting(sessions.LONGEST),
    "reset": lasting(LIVES[Kind.RESET]),
    # How large a file may be, and how long one that is brought over is kept.
    "file": f"{MOST_BYTES // 1_000_000} MB",
    "imported": lasting(imports.KEPT),
}
