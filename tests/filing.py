"""Jobs, and files beside them."""

from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from cast import Cast
from mainstay.business.customers.operations import create_customer
from mainstay.business.jobs.operations import create_job
from mainstay.business.records.documents import add_document
from mainstay.terms.actor import Door
from mainstay.terms.rights import Role

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


@dataclass(frozen=True)
class Work:
    """A customer with two jobs: to one of them the member and the subcontractor are assigned."""

    customer: str
    job: str
    other: str


def work_of(cast: Cast) -> Work:
    """Make it."""
    customer = str(cast.perform(create_customer, name="Calder Property Services")["id"])
    people = [cast.people[Role.MEMBER], cast.people[Role.SUBCONTRACTOR]]
    job = cast.perform(create_job, customerId=customer, title="Replace the boiler", assigned=people)
    other = cast.perform(create_job, customerId=customer, title="Mend the roof")
    return Work(customer, str(job["id"]), str(other["id"]))


def add(cast: Cast, record: str, role: Role = Role.OFFICE, **given: object) -> dict[str, Any]:
    """Add a file to a record, as the office does when its content is kept."""
    usual = {"name": "Plan.pdf", "mediaType": "application/pdf", "bytes": len(PDF), "content": "1" * 64}
    return cast.perform(add_document, cast.actor(role, door=Door.OFFICE), recordId=record, **usual | given)


def archive(**parts: bytes) -> bytes:
    """A ZIP archive; in the names, two underscores stand for a slash and one for a dot."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return made.getvalue()


def office_file(part: str, **more: bytes) -> bytes:
    """A file of an office program, with this part in it."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as file:
        for name in ("[Content_Types].xml", part):
            file.writestr(name, "<a/>")
        for name, content in more.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return made.getvalue()
