"""Sample firms, in which people look around: which organisations are some, and whom they may email."""

from mainstay.infrastructure.database import DatabaseHandle
from mainstay.values.email_address import fold_address

_IS_SAMPLE = "FROM organisation WHERE id = :organisation AND is_sample = 1"


def is_sample_firm(db: DatabaseHandle) -> bool:
    """Return whether the organisation of the handle is a sample firm."""
    return db.one(f"SELECT 1 {_IS_SAMPLE}") is not None


def is_email_withheld(db: DatabaseHandle, address: str) -> bool:
    """Return whether an email of the organisation is not sent: a sample firm emails only those who sign in to it."""
    return (
        db.one(
            f"SELECT 1 {_IS_SAMPLE} AND NOT EXISTS (SELECT 1 FROM person JOIN account ON account.id = person.account_id"
            " WHERE person.organisation_id = :organisation AND person.status = 'active'"
            " AND account.email_folded = :folded)",
            folded=fold_address(address),
        )
        is not None
    )
