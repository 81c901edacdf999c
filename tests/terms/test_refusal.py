from mainstay.terms.refusal import Fault, Invalid


def test_only_between_two_faults_there_is_a_semicolon() -> None:
    several = [
        Fault("on", "lies ahead; hours are logged when they are worked"),
        Fault("personId", "names Ann; or Bob, who has left; list_people tells who is here"),
        Fault("minutes", "is required"),
    ]
    told = Invalid(several)
    assert [one.partition(": ")[0] for one in told.text.split("; ")] == ["on", "personId", "minutes"]
    assert Invalid(several[:1]).text == "on: lies ahead, hours are logged when they are worked"
    # On a page each stands beside its field, with its clauses apart.
    assert told.faults == tuple(several)
