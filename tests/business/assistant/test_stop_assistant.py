import pytest

from mainstay.business.assistant.model import TurnStatus
from mainstay.business.assistant.operations import NOT_CONFIRMED, stop_assistant
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.talks import ask_question, end_question, in_office, read_question


def stop(cast: Cast, turn_id: str, role: Role = Role.OFFICE) -> None:
    cast.perform(stop_assistant, in_office(cast, role), turnId=turn_id)


def test_whoever_works_on_it_is_told(cast: Cast) -> None:
    turn_id = ask_question(cast)["id"]
    stop(cast, turn_id)
    turn = read_question(cast, turn_id)
    assert (turn.status, turn.stop_requested) == (TurnStatus.WORKING, True)


def test_what_waits_for_a_click_ends_at_once_and_was_not_confirmed(cast: Cast) -> None:
    turn_id = ask_question(cast)["id"]
    end_question(cast, turn_id, TurnStatus.WAITING)
    stop(cast, turn_id)
    turn = read_question(cast, turn_id)
    assert (turn.status, turn.cards, turn.steps[-1].content["text"]) == (TurnStatus.STOPPED, [], NOT_CONFIRMED)


def test_what_has_ended_stays_as_it_is(cast: Cast) -> None:
    turn_id = ask_question(cast)["id"]
    end_question(cast, turn_id)
    stop(cast, turn_id)
    turn = read_question(cast, turn_id)
    assert (turn.status, turn.stop_requested) == (TurnStatus.DONE, False)


def test_it_is_stopped_while_lapsed(cast: Cast) -> None:
    turn_id = ask_question(cast)["id"]
    cast.lapse()
    stop(cast, turn_id)
    assert read_question(cast, turn_id).stop_requested


def test_only_its_person_stops_it(cast: Cast, other_cast: Cast) -> None:
    turn_id = ask_question(cast)["id"]
    for other, role in ((cast, Role.OWNER), (other_cast, Role.OFFICE)):
        with pytest.raises(NotFound):
            stop(other, turn_id, role)
    assert not read_question(cast, turn_id).stop_requested
