"""Deletes a sample firm with everything in it."""

from mainstay.identity.sample_firms import is_sample_firm
from mainstay.infrastructure.database import Database
from mainstay.infrastructure.schema import read_tables
from mainstay.vocabulary.refusal import NotFound

# Rows of accounts that only name an organisation: they forget it.
_FORGETTING_TABLES = {"session"}


def delete_sample_firm(database: Database, organisation: str) -> None:
    """Delete a sample firm in one transaction. Any other organisation is refused, and its audit trail stays anyway."""
    with database.write_transaction(organisation) as db:
        if not is_sample_firm(db):
            raise NotFound("organisation")
        for table in reversed(read_tables(db, database.engine)):
            if "organisation_id" not in table.columns:
                continue
            change = (
                f"UPDATE {table.name} SET organisation_id = NULL"
                if table.name in _FORGETTING_TABLES
                else (f"DELETE FROM {table.name}")
            )
            db.run(f"{change} WHERE organisation_id = :organisation")
        db.run("DELETE FROM organisation WHERE id = :organisation")
