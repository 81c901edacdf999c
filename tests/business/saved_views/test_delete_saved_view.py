import pytest

from mainstay.business.records.undo import undo_change
from mainstay.business.saved_views.operations import create_saved_view, delete_saved_view, list_saved_views
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.cast import Cast

URGENT = {"listName": "jobs", "name": "Urgent", "query": "priority=high", "shared": True}


@pytest.mark.parametrize(
    ("made", "by"), [(URGENT, Role.OWNER), ({"listName": "jobs", "name": "Mine", "query": ""}, Role.MEMBER)]
)
def test_it_is_deleted_and_brought_back(cast: Cast, made: dict[str, object], by: Role) -> None:
    view = cast.perform(create_saved_view, by, **made)["id"]
    change = cast.answer(delete_saved_view, by, savedViewId=view).undoable_change
    assert cast.perform(list_saved_views, by)["data"] == []
    cast.perform(undo_change, by, changeIds=[str(change)])
    [again] = cast.perform(list_saved_views, by)["data"]
    assert {name: again[name] for name in made} == made


def test_the_office_deletes_what_is_shared(cast: Cast) -> None:
    view = cast.perform(create_saved_view, Role.OFFICE, **URGENT)["id"]
    assert cast.perform(delete_saved_view, Role.OWNER, savedViewId=view)["availableActions"] == [
        "update_saved_view",
        "restore_saved_view",
    ]
    with pytest.raises(Conflict, match=r"^Urgent was deleted already\.$"):
        cast.perform(delete_saved_view, Role.OFFICE, savedViewId=view)
    assert cast.perform(list_saved_views, Role.OFFICE)["data"] == []


def test_the_field_finds_none_of_the_office(cast: Cast) -> None:
    view = cast.perform(create_saved_view, Role.OFFICE, **URGENT)["id"]
    with pytest.raises(NotFound):
        cast.perform(delete_saved_view, Role.MEMBER, savedViewId=view)
