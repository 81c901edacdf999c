import pytest

from mainstay.business.assistant.model import TurnStatus
from mainstay.business.assistant.operations import (
    MAX_WORKING,
    MAX_WORKING_OF_PERSON,
    NOT_CONFIRMED,
    ask_assistant,
    get_conversation,
)
from mainstay.business.organisation.assistant_settings import update_assistant_settings
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, Lapsed, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.talks import ask_question, begin_sign_in, end_question, in_office, read_question


def test_a_question_begins_a_conversation_that_may_read(cast: Cast) -> None:
    answer = ask_question(cast, question="Which jobs\n are late?")
    turn = read_question(cast, answer["id"])
    assert (turn.question, turn.status, turn.record_id) == ("Which jobs\n are late?", TurnStatus.WORKING, None)
    conversation = cast.perform(get_conversation, in_office(cast), conversationId=answer["conversationId"])
    assert (conversation["title"], conversation["access"]) == ("Which jobs are late?", "read")


def test_a_long_question_has_a_short_title(cast: Cast) -> None:
    answer = ask_question(cast, question="why " * 100)
    conversation = cast.perform(get_conversation, in_office(cast), conversationId=answer["conversationId"])
    assert len(conversation["title"]) == 80
    assert conversation["title"].endswith("…")


def test_it_goes_on_in_a_conversation_about_the_record_in_view(cast: Cast) -> None:
    customer = make_customer(cast)
    first = ask_question(cast, access="write")
    end_question(cast, first["id"])
    second = ask_question(cast, conversationId=first["conversationId"], recordId=customer)
    assert second["conversationId"] == first["conversationId"]
    assert read_question(cast, second["id"]).record_id == customer


def test_a_new_question_ends_one_that_waits_for_a_click(cast: Cast) -> None:
    first = ask_question(cast)
    end_question(cast, first["id"], TurnStatus.WAITING)
    ask_question(cast, conversationId=first["conversationId"])
    turn = read_question(cast, first["id"])
    assert turn.status is TurnStatus.STOPPED
    assert turn.steps[-1].content["text"] == NOT_CONFIRMED


def test_while_it_answers_nothing_more_is_asked_in_the_conversation(cast: Cast) -> None:
    first = ask_question(cast)
    with pytest.raises(Conflict, match="still answering"):
        ask_question(cast, conversationId=first["conversationId"])


def test_the_questions_at_once_are_limited(cast: Cast) -> None:
    for _ in range(MAX_WORKING_OF_PERSON):
        ask_question(cast)
    with pytest.raises(Conflict, match=f"answering {MAX_WORKING_OF_PERSON} of your questions"):
        ask_question(cast)
    for role in (Role.OWNER, Role.ADMIN, Role.MEMBER):
        for _ in range(MAX_WORKING_OF_PERSON):
            answer = ask_question(cast, role)
    assert MAX_WORKING == 4 * MAX_WORKING_OF_PERSON
    end_question(cast, answer["id"])
    ask_question(cast, Role.MEMBER)


def test_only_its_person_goes_on_with_a_conversation(cast: Cast, other_cast: Cast) -> None:
    conversation = ask_question(cast)["conversationId"]
    for other, role in ((cast, Role.OWNER), (other_cast, Role.OFFICE)):
        with pytest.raises(NotFound):
            ask_question(other, role, conversationId=conversation)


def test_a_member_s_assistant_only_reads_and_a_subcontractor_has_none(cast: Cast) -> None:
    assert ask_question(cast, Role.MEMBER)["object"] == "turn"
    with pytest.raises(Forbidden, match="the assistant can only read"):
        ask_question(cast, Role.MEMBER, access="write")
    with pytest.raises(Forbidden):
        ask_question(cast, Role.SUBCONTRACTOR)


def test_the_sign_in_is_the_person_s_own(cast: Cast) -> None:
    with pytest.raises(NotFound):
        ask_question(cast, sessionId=begin_sign_in(cast, Role.OWNER))


def test_a_record_that_they_may_not_see_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        ask_question(cast, recordId=make_customer(other_cast))


def test_nothing_is_asked_when_it_is_off_or_the_subscription_has_lapsed(cast: Cast) -> None:
    cast.perform(update_assistant_settings, in_office(cast, Role.OWNER), assistantSource="off")
    with pytest.raises(Conflict, match="The assistant is off"):
        ask_question(cast)
    cast.perform(update_assistant_settings, in_office(cast, Role.OWNER), assistantSource="installation")
    cast.lapse()
    with pytest.raises(Lapsed):
        ask_question(cast)


@pytest.mark.parametrize("question", ["", "x" * 8_001])
def test_a_question_is_neither_empty_nor_endless(cast: Cast, question: str) -> None:
    with pytest.raises(Invalid):
        cast.perform(ask_assistant, in_office(cast), question=question, sessionId=begin_sign_in(cast))
