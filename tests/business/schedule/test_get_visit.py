import pytest

from mainstay.business.schedule.operations import get_visit
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.visits import plan_test_visit


def test_it_has_a_place_in_the_office_and_tells_what_can_be_done(cast: Cast) -> None:
    visit = plan_test_visit(cast)
    found = cast.perform(get_visit, visitId=visit["id"])
    assert found["url"].endswith(f"/schedule/visits/{visit['id']}")
    assert found["availableActions"] == ["move_visit", "cancel_visit", "set_visit_status"]
    assert cast.perform(get_visit, Role.MEMBER, visitId=visit["id"])["availableActions"] == ["set_visit_status"]


def test_what_is_not_there_is_not_found(cast: Cast) -> None:
    with pytest.raises(NotFound, match=r"^There is no visit with that identifier\.$"):
        cast.perform(get_visit, visitId=new_id("visit"))
