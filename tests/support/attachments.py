"""Jobs with files attached."""

from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from mainstay.business.customers.operations import create_customer
from mainstay.business.jobs.operations import create_job
from mainstay.business.records.attachments import add_document
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.cast import Cast

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


@dataclass(frozen=True)
class AttachmentJobs:
    """A customer with two jobs: to one of them the member and the subcontractor are assigned."""

    customer: str
    job: str
    unassigned_job: str


def make_attachment_jobs(cast: Cast) -> AttachmentJobs:
    """Make the customer and the jobs."""
    customer = str(cast.perform(create_customer, name="Calder Property Services")["id"])
    people = [cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]]
    job = cast.perform(create_job, customerId=customer, title="Replace the boiler", assigned=people)
    unassigned_job = cast.perform(create_job, customerId=customer, title="Mend the roof")
    return AttachmentJobs(customer, str(job["id"]), str(unassigned_job["id"]))


def add_file(cast: Cast, record: str, role: Role = Role.OFFICE, **given: object) -> dict[str, Any]:
    """Add a file to a record, as the office does when the content is stored already."""
    defaults = {"name": "Plan.pdf", "mediaType": "application/pdf", "bytes": len(PDF), "content": "1" * 64}
    return cast.perform(add_document, cast.actor(role, door=Door.OFFICE), recordId=record, **defaults | given)


def make_zip(**parts: bytes) -> bytes:
    """Make a ZIP archive; in the names, two underscores stand for a slash and one for a dot."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


def make_office_file(part: str, **other_parts: bytes) -> bytes:
    """Make a file of an office program, with this part in it."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as file:
        for name in ("[Content_Types].xml", part):
            file.writestr(name, "<a/>")
        for name, content in other_parts.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()
