from mainstay.business.assistant.operations import list_conversations
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.talks import ask_question, end_question, in_office


def list_titles(cast: Cast, role: Role = Role.OFFICE, **given: object) -> list[str]:
    return [one["title"] for one in cast.perform(list_conversations, in_office(cast, role), **given)["data"]]


def ask_three(cast: Cast) -> list[str]:
    answers = [ask_question(cast, question=f"Question {number}") for number in range(3)]
    for answer in answers:
        end_question(cast, answer["id"])
    return [str(answer["conversationId"]) for answer in answers]


def test_the_latest_question_comes_first(cast: Cast) -> None:
    first, *_ = ask_three(cast)
    assert list_titles(cast) == ["Question 2", "Question 1", "Question 0"]
    ask_question(cast, conversationId=first)
    assert list_titles(cast) == ["Question 0", "Question 2", "Question 1"]


def test_it_comes_in_pages(cast: Cast) -> None:
    ask_three(cast)
    page = cast.perform(list_conversations, in_office(cast), limit=2)
    assert ([one["title"] for one in page["data"]], page["hasMore"]) == (["Question 2", "Question 1"], True)
    assert list_titles(cast, startingAfter=page["data"][-1]["id"]) == ["Question 0"]


def test_only_one_s_own_are_listed(cast: Cast, other_cast: Cast) -> None:
    ask_question(cast)
    assert list_titles(cast, Role.OWNER) == []
    assert list_titles(other_cast) == []
