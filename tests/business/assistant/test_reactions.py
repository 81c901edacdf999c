from mainstay.business.assistant.reactions import REACTIONS
from mainstay.business.people.roles import remove_person
from mainstay.kernel.reaction import ReactionEvent
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.stored_state import read_last_event
from support.talks import ask_question, count_rows


def test_the_conversations_of_a_person_who_left_are_deleted_and_no_others(cast: Cast) -> None:
    ask_question(cast)
    ask_question(cast, Role.ADMIN)
    cast.perform(remove_person, personId=cast.people[Role.OFFICE], confirmed=True)
    event = read_last_event(cast)
    [only] = REACTIONS
    assert only.event.name == event["type"]
    happened = ReactionEvent(event["id"], event["actor"], event["data"]["object"])
    cast.performer.run_reaction(only, cast.organisation, happened)
    assert count_rows(cast)["conversation"] == 1
    assert count_rows(cast)["conversation_turn"] == 1
