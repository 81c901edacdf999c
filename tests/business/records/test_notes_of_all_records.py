import pytest

from mainstay.business.jobs.operations import get_job
from mainstay.business.records.notes import add_note, list_notes
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.attachments import make_attachment_jobs
from support.cast import Cast


def test_only_those_who_see_every_record_list_the_notes_of_all(cast: Cast, other_cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    cast.perform(add_note, recordId=work.job, text="One")
    cast.perform(add_note, recordId=work.unassigned_job, text="Two", visibility="office")
    other_cast.perform(add_note, recordId=make_attachment_jobs(other_cast).job, text="Elsewhere")
    for role in (Role.OWNER, Role.ADMIN):
        assert [note["body"] for note in cast.perform(list_notes, role)["data"]] == ["Two", "One"]
        assert [note["body"] for note in cast.perform(list_notes, role, visibility="office")["data"]] == ["Two"]
    for role in (Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Invalid, match="recordId: is required"):
            cast.perform(list_notes, role)


def test_a_job_is_named_by_its_number_too(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    cast.perform(add_note, recordId=work.job, text="One")
    number = cast.perform(get_job, jobId=work.job)["number"]
    assert [note["body"] for note in cast.perform(list_notes, recordId=number)["data"]] == ["One"]
