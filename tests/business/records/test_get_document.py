import pytest

from cast import Cast
from filing import add, work_of
from mainstay.business.jobs.operations import update_job
from mainstay.business.records.documents import get_document
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Role


def test_it_tells_what_the_file_is_and_where(cast: Cast) -> None:
    added = add(cast, work_of(cast).job)
    found = cast.perform(get_document, Role.OFFICE, documentId=added["id"])
    assert found == added | {"availableActions": found["availableActions"]}
    assert found["url"].endswith(f"/documents/{added['id']}")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_it_is_seen_with_its_record_and_no_longer(cast: Cast, role: Role) -> None:
    work = work_of(cast)
    seen, hidden, other = add(cast, work.job), add(cast, work.job, visibility="office"), add(cast, work.other)
    assert cast.perform(get_document, role, documentId=seen["id"])["id"] == seen["id"]
    for unseen in (hidden, other):
        with pytest.raises(NotFound, match="no document"):
            cast.perform(get_document, role, documentId=unseen["id"])
    cast.perform(update_job, jobId=work.job, assigned=[])
    with pytest.raises(NotFound, match="no document"):
        cast.perform(get_document, role, documentId=seen["id"])


def test_a_foreign_one_is_not_found(cast: Cast, stranger: Cast) -> None:
    added = add(stranger, work_of(stranger).job)
    with pytest.raises(NotFound):
        cast.perform(get_document, documentId=added["id"])
