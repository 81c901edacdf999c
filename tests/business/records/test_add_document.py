import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.records.attachments import add_document, list_documents
from mainstay.business.records.history import get_history
from mainstay.catalogue import CATALOGUE
from mainstay.identity.keys import create_key
from mainstay.kernel.catalogue import is_permitted
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid, Lapsed, NotFound
from support.attachments import PDF, add_file, make_attachment_jobs
from support.cast import Cast


def test_a_file_is_added_with_who_added_it(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    added = add_file(cast, work.job, name="Meter.jpg", mediaType="image/jpeg", thumbnail="2" * 64)
    assert (added["object"], added["recordId"], added["name"], added["kind"]) == (
        "document", work.job, "Meter.jpg", "photo",
    )  # fmt: skip
    assert (added["mediaType"], added["bytes"], added["visibility"]) == ("image/jpeg", len(PDF), "field")
    assert added["createdBy"]["person"]["name"] == "Orla Office"
    assert added["url"].endswith(f"/documents/{added['id']}")
    assert add_file(cast, work.customer)["kind"] == "file"
    # It stands in the history of the record.
    [newest, *_] = cast.perform(get_history, recordId=work.job)["data"]
    assert (newest["operation"], added["id"] in newest["records"]) == ("add_document", True)


def test_a_job_may_be_named_by_its_number(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    number = cast.perform(get_job, jobId=work.job)["number"]
    assert add_file(cast, number)["recordId"] == work.job


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_adds_to_its_own_jobs_and_hides_nothing(cast: Cast, role: Role) -> None:
    work = make_attachment_jobs(cast)
    assert add_file(cast, work.job, role, visibility="office")["visibility"] == "field"
    with pytest.raises(NotFound):
        add_file(cast, work.unassigned_job, role)


def test_the_office_may_keep_one_to_itself(cast: Cast) -> None:
    assert add_file(cast, make_attachment_jobs(cast).job, visibility="office")["visibility"] == "office"


def test_nothing_stands_beside_a_file_or_beside_what_the_office_does_not_see(cast: Cast) -> None:
    added = add_file(cast, make_attachment_jobs(cast).job)
    with pytest.raises(Conflict, match="Add them to a job"):
        add_file(cast, added["id"])
    key = cast.perform(create_key, name="Till", access="read")["id"]
    with pytest.raises(Conflict, match="Add them to a job"):
        add_file(cast, key, Role.OWNER)


def test_a_foreign_record_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        add_file(cast, make_attachment_jobs(other_cast).job)
    with pytest.raises(NotFound):
        add_file(cast, "nothing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mediaType", "text/html"),
        ("mediaType", "application/pdfx"),
        ("bytes", 25_000_001),
        ("bytes", 0),
        ("content", "../secret"),
        ("name", "a\nb"),
        ("name", ""),
    ],
)
def test_what_makes_no_sense_is_refused(cast: Cast, field: str, value: object) -> None:
    work = make_attachment_jobs(cast)
    with pytest.raises(Invalid, match=field):
        add_file(cast, work.job, Role.OFFICE, **{field: value})
    assert cast.perform(list_documents, recordId=work.job)["data"] == []


def test_it_is_offered_in_the_office_alone_and_not_while_lapsed(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    assert add_document in CATALOGUE.operations
    assert [door for door in Door if is_permitted(add_document, cast.actor(Role.OWNER, door=door))] == [
        "office",
        "house",
    ]
    cast.lapse()
    with pytest.raises(Lapsed):
        add_file(cast, work.job)
