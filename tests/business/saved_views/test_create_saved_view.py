import pytest

from mainstay.business.records.undo import undo_change
from mainstay.business.saved_views.operations import MAX_VIEWS, create_saved_view, list_saved_views
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid
from support.cast import Cast

OVERDUE = {"listName": "invoices", "name": "Landlords", "query": "status=overdue&order=due"}


def test_the_filters_of_a_list_are_saved_under_a_name(cast: Cast) -> None:
    made = cast.perform(create_saved_view, Role.OFFICE, **OVERDUE)
    assert {name: made[name] for name in OVERDUE} == OVERDUE
    assert (made["personId"], made["shared"]) == (cast.people[Role.OFFICE], False)
    assert cast.perform(list_saved_views, Role.OFFICE, listName="invoices")["data"][0]["id"] == made["id"]


def test_a_list_or_filter_that_is_unknown_is_refused(cast: Cast) -> None:
    for given, fault in (
        ({"listName": "rumours"}, "listName: is not a list"),
        ({"listName": "me"}, "listName: is not a list"),
        ({"query": "colour=red"}, "query: has a filter that this list does not have: colour"),
        ({"query": "status=paid&limit=5"}, "query: has a filter that this list does not have: limit"),
    ):
        with pytest.raises(Invalid) as refusal:
            cast.perform(create_saved_view, **{**OVERDUE, **given})
        assert refusal.value.text == fault


def test_only_the_office_shares(cast: Cast) -> None:
    assert cast.perform(create_saved_view, Role.OFFICE, **OVERDUE, shared=True)["shared"] is True
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        with pytest.raises(Forbidden, match="shared"):
            cast.perform(create_saved_view, role, listName="jobs", name="Urgent", query="", shared=True)
        assert cast.perform(create_saved_view, role, listName="jobs", name="Urgent", query="")["name"] == "Urgent"


def test_there_is_a_most_for_each_person(cast: Cast) -> None:
    for _ in range(MAX_VIEWS):
        cast.perform(create_saved_view, **OVERDUE)
    with pytest.raises(Conflict, match="You already have 50 saved views, the maximum"):
        cast.perform(create_saved_view, **OVERDUE)
    cast.perform(create_saved_view, Role.OFFICE, **OVERDUE)


def test_it_can_be_undone(cast: Cast) -> None:
    change = cast.answer(create_saved_view, Role.OFFICE, None, **OVERDUE).undoable_change
    cast.perform(undo_change, Role.OFFICE, changeIds=[str(change)])
    assert cast.perform(list_saved_views, Role.OFFICE)["data"] == []
