from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid


def test_only_between_two_faults_there_is_a_semicolon() -> None:
    several = [
        Fault("on", Message("is in the future; hours are logged when they are worked")),
        Fault("personId", Message("names Ann; or Bob, who has left; list_people tells who is here")),
        Fault("minutes", Message("is required")),
    ]
    result = Invalid(several)
    assert [one.partition(": ")[0] for one in result.text.split("; ")] == ["on", "personId", "minutes"]
    assert Invalid(several[:1]).text == "on: is in the future, hours are logged when they are worked"
    # On a page each fault stands next to its field, with its clauses separated.
    assert result.faults == tuple(several)
