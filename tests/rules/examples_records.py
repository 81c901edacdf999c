"""Files attached to a record, and the inputs of their operations."""

from mainstay.business.people.operations import update_person
from mainstay.business.saved_views.operations import create_saved_view, delete_saved_view
from mainstay.vocabulary.permissions import Role
from support.attachments import add_file
from support.cast import Cast

ExampleInput = dict[str, object]

_FILE_NAME = "boiler of the samples"


def add_sample_files(cast: Cast, job: str) -> None:
    """Attach a file of each role to a job that everyone sees."""
    for role in Role:
        add_file(cast, job, role, name=f"{role} {_FILE_NAME}.pdf")


def document_input(cast: Cast, role: Role) -> ExampleInput:
    """Return the input that names the file which a person of this role added."""
    return {"documentId": _find_column(cast, role, "id")}


def list_documents_input(cast: Cast) -> ExampleInput:
    """Return the input that lists the files of the record."""
    return {"recordId": _find_column(cast, Role.OWNER, "record_id")}


def download_link_input(cast: Cast, role: Role) -> ExampleInput:
    """Return the input that asks for a link to the file of a role."""
    return {"recordId": _find_column(cast, role, "id")}


def add_document_input(cast: Cast) -> ExampleInput:
    """Return the input that adds another file."""
    fields = {"name": "Plan.pdf", "mediaType": "application/pdf", "bytes": 1, "content": "1" * 64}
    return list_documents_input(cast) | fields


def _find_column(cast: Cast, role: Role, column: str) -> str:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        row = db.one(
            f"SELECT {column} FROM document WHERE organisation_id = :organisation AND name = :name",
            name=f"{role} {_FILE_NAME}.pdf",
        )
    assert row is not None
    return str(row[0])


def make_view(cast: Cast, role: Role) -> str:
    """Save a view as a person of this role, and return its id."""
    view = cast.perform(create_saved_view, role, listName="jobs", name=f"Urgent, {role}", query="priority=high")
    return str(view["id"])


def make_deleted_view(cast: Cast, role: Role) -> str:
    """Save a view as a person of this role, delete it, and return its id."""
    view = make_view(cast, role)
    cast.perform(delete_saved_view, role, savedViewId=view)
    return view


def make_undoable_change(cast: Cast, role: Role) -> str:
    """Change something as a person of this role, and return the id of the change."""
    answer = cast.answer(update_person, role, personId=cast.people[role], colour="#3366cc")
    return str(answer.undoable_change)
