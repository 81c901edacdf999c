"""Files beside a record, and what is done with them."""

from cast import Cast
from filing import add
from mainstay.terms.rights import Role

Given = dict[str, object]

_WORK = "boiler of the exhibit"


def furnish_documents(cast: Cast, job: str) -> None:
    """Beside a job that everyone sees, a file that each of them added."""
    for role in Role:
        add(cast, job, role, name=f"{role} {_WORK}.pdf")


def document(cast: Cast, role: Role) -> Given:
    """The file that a person of this role added."""
    return {"documentId": _found(cast, role, "id")}


def listed(cast: Cast) -> Given:
    """Beside which record they stand."""
    return {"recordId": _found(cast, Role.OWNER, "record_id")}


def added(cast: Cast) -> Given:
    """One more."""
    kept = {"name": "Plan.pdf", "mediaType": "application/pdf", "bytes": 1, "content": "1" * 64}
    return listed(cast) | kept


def _found(cast: Cast, role: Role, column: str) -> str:
    with cast.stage.database.reading(cast.organisation) as rows:
        row = rows.one(
            f"SELECT {column} FROM document WHERE organisation_id = :organisation AND name = :name",
            name=f"{role} {_WORK}.pdf",
        )
    assert row is not None
    return str(row[0])
