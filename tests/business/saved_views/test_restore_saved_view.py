import pytest

from mainstay.business.saved_views.operations import (
    create_saved_view,
    delete_saved_view,
    list_saved_views,
    restore_saved_view,
)
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, NotFound
from support.cast import Cast


def test_a_deleted_one_is_listed_again(cast: Cast) -> None:
    view = cast.perform(create_saved_view, Role.OFFICE, listName="jobs", name="Urgent", query="")["id"]
    with pytest.raises(Conflict, match=r"^Urgent was not deleted\.$"):
        cast.perform(restore_saved_view, Role.OFFICE, savedViewId=view)
    cast.perform(delete_saved_view, Role.OFFICE, savedViewId=view)
    with pytest.raises(NotFound):
        cast.perform(restore_saved_view, Role.OWNER, savedViewId=view)
    cast.perform(restore_saved_view, Role.OFFICE, savedViewId=view)
    assert [one["id"] for one in cast.perform(list_saved_views, Role.OFFICE)["data"]] == [view]
