import pytest

from mainstay.business.records.attachments import list_documents
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.attachments import add_file, make_attachment_jobs
from support.cast import Cast


def test_the_newest_comes_first_page_by_page(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    ids = [add_file(cast, work.job, name=f"{number}.pdf")["id"] for number in range(3)][::-1]
    add_file(cast, work.unassigned_job)
    first = cast.perform(list_documents, recordId=work.job, limit=2)
    assert ([one["id"] for one in first["data"]], first["hasMore"]) == (ids[:2], True)
    last = cast.perform(list_documents, recordId=work.job, limit=2, startingAfter=ids[1])
    assert ([one["id"] for one in last["data"]], last["hasMore"]) == (ids[2:], False)


def test_only_the_office_lists_those_of_all_records_and_what_is_for_the_office(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    hidden, seen = add_file(cast, work.job, visibility="office")["id"], add_file(cast, work.job)["id"]
    other = add_file(cast, work.unassigned_job)["id"]

    def listed(role: Role, **given: object) -> list[str]:
        return [one["id"] for one in cast.perform(list_documents, role, **given)["data"]]

    for role in (Role.OWNER, Role.ADMIN, Role.OFFICE):
        assert listed(role) == [other, seen, hidden]
        assert listed(role, recordId=work.job) == [seen, hidden]
        assert listed(role, recordId=work.job, visibility="office") == [hidden]
        assert listed(role, visibility="field") == [other, seen]
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        for query in ({}, {"visibility": "office"}, {"visibility": "field"}):
            assert listed(role, recordId=work.job, **query) == [seen]
        with pytest.raises(NotFound):
            listed(role, recordId=work.unassigned_job)
        with pytest.raises(Invalid, match="recordId: is required"):
            listed(role)


def test_a_foreign_record_is_not_found(cast: Cast, other_cast: Cast) -> None:
    work = make_attachment_jobs(other_cast)
    add_file(other_cast, work.job)
    with pytest.raises(NotFound):
        cast.perform(list_documents, recordId=work.job)
    assert cast.perform(list_documents)["data"] == []
