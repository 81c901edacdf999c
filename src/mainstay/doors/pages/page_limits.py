"""Limits that page texts mention, each taken from the module that sets it."""

from mainstay.business.importing import store as imports
from mainstay.business.records.attachments import MAX_FILE_BYTES
from mainstay.identity import passwords, sessions
from mainstay.identity.links import LIFETIMES, LinkKind
from mainstay.infrastructure.files import FINISHED_FILE_LIFETIME
from mainstay.values.fields import MAX_LINE_LENGTH, MAX_PARAGRAPH_LENGTH
from mainstay.values.lifetimes import describe_lifetime
from mainstay.values.message import Message
from mainstay.values.search_words import MAX_TEXT_LENGTH

PAGE_LIMITS: dict[str, str | int | Message] = {
    # In characters: the shortest password, the longest line, paragraph and search text.
    "password": passwords.MIN_LENGTH,
    "line": MAX_LINE_LENGTH,
    "paragraph": MAX_PARAGRAPH_LENGTH,
    "search": MAX_TEXT_LENGTH,
    # How long a session lasts without use, at most, and on a device that stays signed in; and a password reset link.
    "idle": describe_lifetime(sessions.MAX_IDLE),
    "signed_in": describe_lifetime(sessions.MAX_AGE),
    "kept": describe_lifetime(sessions.MAX_REMEMBERED_AGE),
    "reset": describe_lifetime(LIFETIMES[LinkKind.RESET]),
    # The largest file that may be uploaded, and how long an imported file is kept.
    "file": f"{MAX_FILE_BYTES // 1_000_000} MB",
    "imported": describe_lifetime(imports.RETENTION),
    # How long an archive of everything can be downloaded.
    "archived": describe_lifetime(FINISHED_FILE_LIFETIME),
}
