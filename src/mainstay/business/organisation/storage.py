"""How many bytes an organisation stores: a total that is kept up with each change, and how large it may become."""

from mainstay.backing.database import Handle
from mainstay.kernel.context import Context
from mainstay.terms.refusal import Conflict
from mainstay.values.sizes import size_text


def count_stored(ctx: Context, size: int) -> int:
    """Count what was added, or with a minus what was removed; return how many bytes are stored now."""
    row = ctx.rows.one(
        "UPDATE organisation SET storage_bytes = storage_bytes + :size WHERE id = :organisation"
        " RETURNING storage_bytes",
        size=size,
    )
    return int(row[0] or 0) if row else 0


def reserve_storage(ctx: Context, size: int) -> None:
    """Count what is added, and refuse it if the organisation may not store that much.

    Changes of one organisation wait for one another, so of two that would both fit, the second one is refused.
    """
    used = count_stored(ctx, size)
    if used > ctx.storage_limit:
        raise Conflict(
            f"There is no room for it: with it, {size_text(used)} would be used, and {size_text(ctx.storage_limit)}"
            " are available. Remove files that are no longer needed, or ask whoever runs this installation for more."
        )


def stored_bytes(rows: Handle) -> int:
    """Return how many bytes the organisation stores."""
    row = rows.one("SELECT storage_bytes FROM organisation WHERE id = :organisation")
    return int(row[0] or 0) if row else 0
