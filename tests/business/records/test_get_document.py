import pytest

from mainstay.business.jobs.operations import update_job
from mainstay.business.records.attachments import get_document
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.attachments import add_file, make_attachment_jobs
from support.cast import Cast


def test_it_tells_what_the_file_is_and_where(cast: Cast) -> None:
    added = add_file(cast, make_attachment_jobs(cast).job)
    found = cast.perform(get_document, Role.OFFICE, documentId=added["id"])
    assert found == added | {"availableActions": found["availableActions"]}
    assert found["url"].endswith(f"/documents/{added['id']}")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_it_is_seen_with_its_record_and_no_longer(cast: Cast, role: Role) -> None:
    work = make_attachment_jobs(cast)
    seen, hidden, other = (
        add_file(cast, work.job),
        add_file(cast, work.job, visibility="office"),
        add_file(cast, work.unassigned_job),
    )
    assert cast.perform(get_document, role, documentId=seen["id"])["id"] == seen["id"]
    for unseen in (hidden, other):
        with pytest.raises(NotFound, match="no document"):
            cast.perform(get_document, role, documentId=unseen["id"])
    cast.perform(update_job, jobId=work.job, assigned=[])
    with pytest.raises(NotFound, match="no document"):
        cast.perform(get_document, role, documentId=seen["id"])


def test_a_foreign_one_is_not_found(cast: Cast, other_cast: Cast) -> None:
    added = add_file(other_cast, make_attachment_jobs(other_cast).job)
    with pytest.raises(NotFound):
        cast.perform(get_document, documentId=added["id"])
