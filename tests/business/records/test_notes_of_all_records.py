import pytest

from cast import Cast
from filing import work_of
from mainstay.business.jobs.operations import get_job
from mainstay.business.records.notes import add_note, list_notes
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role


def test_only_those_who_see_every_record_list_the_notes_of_all(cast: Cast, stranger: Cast) -> None:
    work = work_of(cast)
    cast.perform(add_note, recordId=work.job, text="One")
    cast.perform(add_note, recordId=work.other, text="Two", visibility="office")
    stranger.perform(add_note, recordId=work_of(stranger).job, text="Elsewhere")
    for role in (Role.OWNER, Role.ADMIN):
        assert [note["body"] for note in cast.perform(list_notes, role)["data"]] == ["Two", "One"]
        assert [note["body"] for note in cast.perform(list_notes, role, visibility="office")["data"]] == ["Two"]
    for role in (Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Invalid, match="recordId: is required"):
            cast.perform(list_notes, role)


def test_a_job_is_named_by_its_number_too(cast: Cast) -> None:
    work = work_of(cast)
    cast.perform(add_note, recordId=work.job, text="One")
    number = cast.perform(get_job, jobId=work.job)["number"]
    assert [note["body"] for note in cast.perform(list_notes, recordId=number)["data"]] == ["One"]
