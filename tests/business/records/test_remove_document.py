from typing import Any

import pytest

from cast import Cast
from filing import add, work_of
from mainstay.business.records.documents import get_document, list_documents, remove_document
from mainstay.business.records.history import get_history
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Conflict, NotFound
from mainstay.terms.rights import Role


def remove(cast: Cast, document: dict[str, Any], role: Role = Role.OFFICE, **given: object) -> dict[str, Any]:
    return cast.perform(remove_document, cast.actor(role, door=Door.OFFICE), documentId=document["id"], **given)


def test_it_is_gone_once_that_is_confirmed(cast: Cast) -> None:
    work = work_of(cast)
    added, other = add(cast, work.job), add(cast, work.job)
    preview = remove(cast, added)
    assert (preview["object"], preview["blockers"]) == ("preview", [])
    assert preview["effects"] == ["Plan.pdf is no longer on the record's page, for anyone."]
    assert cast.perform(get_document, documentId=added["id"])

    remove(cast, added, confirmed=True)
    with pytest.raises(NotFound):
        cast.perform(get_document, documentId=added["id"])
    assert [one["id"] for one in cast.perform(list_documents, recordId=work.job)["data"]] == [other["id"]]
    assert cast.perform(get_history, recordId=work.job)["data"][0]["operation"] == "remove_document"


def test_the_field_removes_what_it_added_itself(cast: Cast) -> None:
    work = work_of(cast)
    own, another = add(cast, work.job, Role.MEMBER), add(cast, work.job, Role.SUBCONTRACTOR)
    with pytest.raises(Conflict, match="Someone else added this file"):
        remove(cast, another, Role.MEMBER, confirmed=True)
    assert remove(cast, another, Role.MEMBER)["blockers"]
    mia = cast.actor(Role.MEMBER, door=Door.OFFICE)
    for document, actions in ((own, ["remove_document"]), (another, [])):
        assert cast.perform(get_document, mia, documentId=document["id"])["availableActions"] == actions
    remove(cast, own, Role.MEMBER, confirmed=True)
    remove(cast, another, Role.OFFICE, confirmed=True)
    assert cast.perform(list_documents, recordId=work.job)["data"] == []


def test_what_is_not_seen_is_not_removed(cast: Cast, stranger: Cast) -> None:
    work = work_of(cast)
    for unseen in (add(cast, work.other), add(cast, work.job, visibility="office")):
        with pytest.raises(NotFound):
            remove(cast, unseen, Role.MEMBER, confirmed=True)
    foreign = add(stranger, work_of(stranger).job)
    with pytest.raises(NotFound):
        remove(cast, foreign, confirmed=True)
