"""How many bytes of files an organisation stores, and the limit on them."""

from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import Context
from mainstay.values.message import FileSize, Message
from mainstay.vocabulary.refusal import Conflict


def add_stored_bytes(ctx: Context, size: int) -> int:
    """Add to the number of stored bytes; a negative size subtracts. Return the new total."""
    row = ctx.db.one(
        "UPDATE organisation SET storage_bytes = storage_bytes + :size WHERE id = :organisation"
        " RETURNING storage_bytes",
        size=size,
    )
    return int(row[0] or 0) if row else 0


def reserve_storage(ctx: Context, size: int) -> None:
    """Count bytes about to be stored, and refuse them if the organisation's limit is exceeded.

    Changes of one organisation run one after another, so if only one of two uploads fits, the second is refused.
    """
    used = add_stored_bytes(ctx, size)
    if used > ctx.storage_limit:
        raise Conflict(
            Message(
                "Not enough storage: with this file you would use {used} of {limit}. Delete files you no longer"
                " need, or ask your system administrator for more storage.",
                used=FileSize(used),
                limit=FileSize(ctx.storage_limit),
            )
        )


def count_stored_bytes(db: DatabaseHandle) -> int:
    """Return how many bytes the organisation stores."""
    row = db.one("SELECT storage_bytes FROM organisation WHERE id = :organisation")
    return int(row[0] or 0) if row else 0
