import pytest

from mainstay.business.assistant.operations import get_conversation
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import NotFound
from support.cast import Cast
from support.talks import ask_question, in_office


def test_it_says_what_was_asked_and_what_the_assistant_may_do(cast: Cast) -> None:
    conversation = ask_question(cast, access="write")["conversationId"]
    found = cast.perform(get_conversation, in_office(cast), conversationId=conversation)
    assert (found["title"], found["access"], found["createdAt"]) == ("Which jobs are late?", "write", found["askedAt"])


def test_it_is_read_while_lapsed(cast: Cast) -> None:
    conversation = ask_question(cast)["conversationId"]
    cast.lapse()
    assert cast.perform(get_conversation, in_office(cast), conversationId=conversation)["id"] == conversation


def test_nobody_else_reads_it(cast: Cast, other_cast: Cast) -> None:
    conversation = ask_question(cast)["conversationId"]
    for other, role in ((cast, Role.OWNER), (cast, Role.ADMIN), (other_cast, Role.OFFICE)):
        with pytest.raises(NotFound):
            other.perform(get_conversation, in_office(other, role), conversationId=conversation)
