import pytest

from mainstay.business.assistant.operations import delete_conversation
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.talks import ask_question, count_rows, end_question, in_office


def test_everything_of_it_goes_and_nothing_of_others(cast: Cast) -> None:
    kept, deleted = ask_question(cast), ask_question(cast)
    for answer in (kept, deleted):
        end_question(cast, answer["id"])
    cast.perform(delete_conversation, in_office(cast), conversationId=deleted["conversationId"])
    assert count_rows(cast) == {
        "conversation": 1,
        "conversation_turn": 1,
        "conversation_step": 1,
        "assistant_usage": 0,
    }


def test_it_is_deleted_while_lapsed(cast: Cast) -> None:
    conversation = ask_question(cast)["conversationId"]
    cast.lapse()
    cast.perform(delete_conversation, in_office(cast), conversationId=conversation)
    assert count_rows(cast)["conversation"] == 0


def test_nobody_else_deletes_it(cast: Cast, other_cast: Cast) -> None:
    conversation = ask_question(cast)["conversationId"]
    for other, role in ((cast, Role.OWNER), (other_cast, Role.OFFICE)):
        with pytest.raises(NotFound):
            other.perform(delete_conversation, in_office(other, role), conversationId=conversation)
    assert count_rows(cast)["conversation"] == 1
