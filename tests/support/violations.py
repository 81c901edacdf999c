"""What `mainstay check` finds wrong with one organisation."""

from typing import cast as known_as

from mainstay.catalogue import INVARIANTS
from mainstay.composition import open_files
from mainstay.infrastructure.database import MigratableDatabase
from mainstay.infrastructure.invariants import CheckContext, Violation
from mainstay.settings import Settings
from support.cast import Cast


def find_violations(settings: Settings, cast: Cast) -> list[tuple[str, Violation]]:
    """Return each violation of an invariant, with the name of the invariant."""
    database = known_as("MigratableDatabase", cast.performer.database)
    with database.scan_transaction() as all_organisations:
        db = all_organisations.for_organisation(cast.organisation)
        db.now = lambda: "2026-11-18T00:00:00Z"
        context = CheckContext(
            db, database.engine, open_files(settings), cast.performer.clock(), database.temporary_schema
        )
        return [
            (invariant.name, violation)
            for invariant in INVARIANTS
            if not invariant.is_installation_wide
            for violation in invariant.find_violations(context)
        ]
