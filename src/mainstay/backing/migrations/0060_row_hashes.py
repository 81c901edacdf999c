"""A hash of every row that an act writes, under the chain of the audit trail; existing rows get theirs now."""

from mainstay.backing.database import SchemaHandle
from mainstay.backing.rehashing import hash_rows

_COLUMNS = """
ALTER TABLE audit ADD COLUMN row_hashes text;
ALTER TABLE audit_record ADD COLUMN hash text;
"""


def apply(handle: SchemaHandle) -> None:
    """Add the columns and fill them, by entries of the trail itself."""
    handle.script(_COLUMNS)
    hash_rows(handle, "0060_row_hashes")
