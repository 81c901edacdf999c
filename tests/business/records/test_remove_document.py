from typing import Any

import pytest

from mainstay.business.records.attachments import get_document, list_documents, remove_document
from mainstay.business.records.history import get_history
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.attachments import add_file, make_attachment_jobs
from support.cast import Cast


def remove(cast: Cast, document: dict[str, Any], role: Role = Role.OFFICE, **given: object) -> dict[str, Any]:
    return cast.perform(remove_document, cast.actor(role, door=Door.OFFICE), documentId=document["id"], **given)


def test_it_is_gone_once_that_is_confirmed(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    added, other = add_file(cast, work.job), add_file(cast, work.job)
    preview = remove(cast, added)
    assert (preview["object"], preview["blockers"]) == ("preview", [])
    assert preview["effects"] == ["Plan.pdf will be removed for everyone."]
    assert cast.perform(get_document, documentId=added["id"])

    remove(cast, added, confirmed=True)
    with pytest.raises(NotFound):
        cast.perform(get_document, documentId=added["id"])
    assert [one["id"] for one in cast.perform(list_documents, recordId=work.job)["data"]] == [other["id"]]
    assert cast.perform(get_history, recordId=work.job)["data"][0]["operation"] == "remove_document"


def test_the_field_removes_what_it_added_itself(cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    own, another = add_file(cast, work.job, Role.MEMBER), add_file(cast, work.job, Role.SUBCONTRACTOR)
    with pytest.raises(Conflict, match="Someone else added this file"):
        remove(cast, another, Role.MEMBER, confirmed=True)
    assert remove(cast, another, Role.MEMBER)["blockers"]
    mia = cast.actor(Role.MEMBER, door=Door.OFFICE)
    for document, actions in ((own, ["remove_document"]), (another, [])):
        assert cast.perform(get_document, mia, documentId=document["id"])["availableActions"] == actions
    remove(cast, own, Role.MEMBER, confirmed=True)
    remove(cast, another, Role.OFFICE, confirmed=True)
    assert cast.perform(list_documents, recordId=work.job)["data"] == []


def test_what_is_not_seen_is_not_removed(cast: Cast, other_cast: Cast) -> None:
    work = make_attachment_jobs(cast)
    for unseen in (add_file(cast, work.unassigned_job), add_file(cast, work.job, visibility="office")):
        with pytest.raises(NotFound):
            remove(cast, unseen, Role.MEMBER, confirmed=True)
    foreign = add_file(other_cast, make_attachment_jobs(other_cast).job)
    with pytest.raises(NotFound):
        remove(cast, foreign, confirmed=True)
