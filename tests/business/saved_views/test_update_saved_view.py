import pytest

from mainstay.business.saved_views.operations import create_saved_view, list_saved_views, update_saved_view
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Invalid, NotFound
from support.cast import Cast


def save(cast: Cast, role: Role, **given: object) -> str:
    values = {"listName": "jobs", "name": "Urgent", "query": "priority=high", **given}
    return str(cast.perform(create_saved_view, role, **values)["id"])


def test_its_name_and_filters_change(cast: Cast) -> None:
    view = save(cast, Role.MEMBER)
    changed = cast.perform(update_saved_view, Role.MEMBER, savedViewId=view, name="On hold", query="status=onHold")
    assert (changed["name"], changed["query"]) == ("On hold", "status=onHold")
    with pytest.raises(Invalid, match="colour"):
        cast.perform(update_saved_view, Role.MEMBER, savedViewId=view, query="colour=red")


def test_the_office_changes_what_is_shared_but_only_its_person_makes_it_private(cast: Cast) -> None:
    view = save(cast, Role.OWNER, shared=True)
    assert cast.perform(update_saved_view, Role.OFFICE, savedViewId=view, name="Late")["name"] == "Late"
    with pytest.raises(Conflict, match="can make this view private"):
        cast.perform(update_saved_view, Role.OFFICE, savedViewId=view, shared=False)
    cast.perform(update_saved_view, Role.OWNER, savedViewId=view, shared=False)
    assert cast.perform(list_saved_views, Role.OFFICE)["data"] == []


def test_the_private_one_of_someone_else_is_not_found(cast: Cast) -> None:
    view = save(cast, Role.OFFICE)
    for role in (Role.OWNER, Role.MEMBER):
        with pytest.raises(NotFound):
            cast.perform(update_saved_view, role, savedViewId=view, name="Seen")
