import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import get_person, invite_person, update_person
from mainstay.business.people.roles import remove_person
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid, NotFound
from support.cast import Cast

COSTS = {"costRate": "32.50", "billRate": "85.1234"}
MONDAYS = {"monday": [{"from": "08:00", "until": "12:30"}]}
_ULID = "01JCDZ8Q4X0V9M2T6W3B7K5N1R"


def test_the_whole_record_is_answered(cast: Cast) -> None:
    given = {
        "name": "Nina New",
        "email": "Nina@New.example",
        "role": "subcontractor",
        "phone": "1",
        "skills": ["gas", "roofing"],
        "colour": "#3366cc",
        "companyName": "New & Co",
        **COSTS,
    }
    made = cast.perform(invite_person, **given)
    stamp = {
        "kind": "person",
        "person": {"id": cast.people[Role.OWNER], "name": "Olivia Owner"},
        "via": {"door": "api", "client": None},
    }
    assert cast.perform(get_person, personId=made["id"]) == {
        "object": "person",
        "id": made["id"],
        "createdAt": made["createdAt"],
        "createdBy": stamp,
        "updatedAt": made["createdAt"],
        "updatedBy": stamp,
        "version": 1,
        "status": "invited",
        "workingHours": None,
        "url": f"{cast.performer.base_url}/people/{made['id']}",
        "availableActions": ["update_person", "invite_again", "change_role", "remove_person"],
        **given,
    }


def test_what_is_not_known_is_null(cast: Cast) -> None:
    person = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    assert [name for name in person if person[name] is None] == [
        "phone",
        "colour",
        "workingHours",
        "companyName",
        "costRate",
        "billRate",
    ]
    assert person["skills"] == []


def test_the_answer_carries_the_version(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")
    assert cast.answer(get_person, personId=cast.people[Role.MEMBER]).version == 2


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_those_who_may_see_costs_do(cast: Cast, role: Role) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], **COSTS)
    person = cast.perform(get_person, role, personId=cast.people[Role.MEMBER])
    assert {name: person[name] for name in COSTS} == COSTS


def test_a_member_sees_no_costs_not_even_their_own(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], **COSTS)
    answer = cast.answer(get_person, Role.MEMBER, personId=cast.people[Role.MEMBER])
    assert b'"costRate":null,"billRate":null' in answer.body
    assert not [cost for cost in COSTS.values() if cost.encode() in answer.body]


def test_who_may_see_when_others_work_sees_working_hours(cast: Cast) -> None:
    mia = cast.people[Role.MEMBER]
    cast.perform(update_person, personId=mia, workingHours=MONDAYS)
    for role in (Role.ADMIN, Role.OFFICE, Role.MEMBER):
        assert cast.perform(get_person, role, personId=mia)["workingHours"]["monday"] == MONDAYS["monday"]
    cast.perform(update_settings, membersSeeTeamSchedule=False)
    assert cast.perform(get_person, Role.MEMBER, personId=mia)["workingHours"] is None
    assert cast.perform(get_person, Role.OFFICE, personId=mia)["workingHours"] is not None


def test_one_who_has_left_is_still_there(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "left"


@pytest.mark.parametrize("record_id", [f"person_{_ULID}", f"key_{_ULID}", "", "x" * 5000, "' OR 1=1 --", "%"])
def test_an_unknown_id_is_not_found(cast: Cast, record_id: str) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(get_person, personId=record_id)


def test_another_organisation_s_person_is_not_found_in_the_same_words(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(get_person, personId=other_cast.people[Role.OWNER])


def test_the_id_is_required(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^personId: is required$"):
        cast.perform(get_person)


def test_a_subcontractor_gets_themselves_without_costs_and_nobody_else(cast: Cast) -> None:
    own = cast.people[Role.SUBCONTRACTOR]
    cast.perform(update_person, personId=own, **COSTS)
    person = cast.perform(get_person, Role.SUBCONTRACTOR, personId=own)
    assert (person["name"], person["costRate"], person["billRate"]) == ("Sam Subcontractor", None, None)
    assert person["availableActions"] == ["update_person"]
    for role in (Role.OWNER, Role.MEMBER):
        with pytest.raises(NotFound):
            cast.perform(get_person, Role.SUBCONTRACTOR, personId=cast.people[role])
