import pytest

from mainstay.business.organisation.operations import change_subscription, get_organisation, update_organisation
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.refusal import Invalid, Lapsed
from support.cast import Cast
from support.stored_state import read_trail


def test_a_lapsed_subscription_closes_changes_and_a_renewed_one_opens_them(cast: Cast) -> None:
    assert cast.perform(change_subscription, operator_actor(cast.organisation), status="inactive")["subscription"] == {
        "status": "inactive"
    }
    with pytest.raises(Lapsed, match="records can be read but not changed"):
        cast.perform(update_organisation, phone="1")

    assert cast.perform(change_subscription, operator_actor(cast.organisation), status="active")["subscription"] == {
        "status": "active"
    }
    assert cast.perform(update_organisation, phone="1")["phone"] == "1"


def test_the_trail_names_the_operator(cast: Cast) -> None:
    cast.lapse()
    entry = read_trail(cast)[-1]
    assert entry["operation"] == "change_subscription"
    assert entry["actor"] == {"kind": "operator", "person": None, "via": {"door": "cli", "client": None}}


def test_another_organisation_does_not_lapse(cast: Cast, other_cast: Cast) -> None:
    cast.lapse()
    assert other_cast.perform(get_organisation)["subscription"] == {"status": "active"}


def test_to_lapse_twice_makes_no_new_version(cast: Cast) -> None:
    cast.lapse()
    before = cast.perform(get_organisation)
    cast.lapse()
    assert cast.perform(get_organisation) == before


def test_there_is_no_third_state(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^status: is not one of 'active' or 'inactive'$"):
        cast.perform(change_subscription, operator_actor(cast.organisation), status="paused")
