from collections.abc import Iterator
from itertools import chain

import pytest

from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.roles import remove_person
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.stored_state import to_event_record


def list_ids(cast: Cast, **given: object) -> list[str]:
    return [person["id"] for person in cast.perform(list_people, **given)["data"]]


def list_pages(cast: Cast, limit: int, **given: object) -> Iterator[list[str]]:
    behind: dict[str, object] = {}
    while True:
        page = cast.perform(list_people, limit=limit, **given, **behind)
        found = [person["id"] for person in page["data"]]
        yield found
        if not page["hasMore"]:
            return
        behind = {"startingAfter": found[-1]}


def test_everyone_is_listed_newest_first(cast: Cast) -> None:
    answer = cast.perform(list_people)
    assert answer["object"] == "list"
    assert answer["hasMore"] is False
    assert [person["id"] for person in answer["data"]] == [*cast.people.values()][::-1]


def test_an_entry_is_the_record_itself(cast: Cast) -> None:
    listed = cast.perform(list_people)["data"]
    assert listed == [to_event_record(cast.perform(get_person, personId=person)) for person in list_ids(cast)]
    assert len(listed) == 5


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 6, 100])
def test_the_pages_together_are_the_whole_list(cast: Cast, limit: int) -> None:
    found = [*list_pages(cast, limit)]
    assert [*chain(*found)] == list_ids(cast)
    assert {len(page) for page in found[:-1]} <= {limit}
    assert found[-1]


def test_without_a_limit_a_page_holds_25(cast: Cast) -> None:
    for number in range(21):
        cast.perform(invite_person, name="N", email=f"{number}@new.example", role="member")
    page = cast.perform(list_people)
    assert (len(page["data"]), page["hasMore"]) == (25, True)


def test_those_who_left_are_listed_only_when_asked_for(cast: Cast) -> None:
    left = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=left, confirmed=True)
    assert left not in list_ids(cast)
    assert list_ids(cast, status="left") == [left]


def test_the_status_narrows(cast: Cast) -> None:
    invited = cast.perform(invite_person, name="N", email="n@new.example", role="member")["id"]
    assert list_ids(cast, status="invited") == [invited]
    assert list_ids(cast, status="active") == [*cast.people.values()][::-1]


@pytest.mark.parametrize("role", list(Role))
def test_the_role_narrows(cast: Cast, role: Role) -> None:
    assert list_ids(cast, role=role) == [cast.people[role]]


def test_status_and_role_narrow_together(cast: Cast) -> None:
    invited = cast.perform(invite_person, name="N", email="n@new.example", role="member")["id"]
    assert list_ids(cast, role="member", status="invited") == [invited]
    assert list_ids(cast, role="admin", status="invited") == []


def test_a_filter_holds_on_the_next_page_too(cast: Cast) -> None:
    invited = [
        cast.perform(invite_person, name="N", email=f"{number}@new.example", role="member")["id"] for number in range(5)
    ]
    assert [*chain(*list_pages(cast, 2, status="invited"))] == invited[::-1]


def list_names(cast: Cast, **given: object) -> list[str]:
    return [person["name"] for person in cast.perform(list_people, order="name", **given)["data"]]


def test_by_name_they_stand_as_one_reads_them_whatever_case_and_accents(cast: Cast) -> None:
    for number, name in enumerate(("zoe", "Émile", "eva", "adam  zed", "Ö", "Øm")):
        cast.perform(invite_person, name=name, email=f"{number}@new.example", role="member")
    expected = ["Adam Admin", "adam  zed", "Émile", "eva", "Mia Member", "Ö"]
    expected += ["Olivia Owner", "Øm", "Orla Office", "Sam Subcontractor", "zoe"]
    assert list_names(cast) == expected
    cast.perform(update_person, personId=cast.people[Role.ADMIN], name="Zz Last")
    assert list_names(cast) == [*expected[1:], "Zz Last"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_the_pages_by_name_together_are_the_whole_list(cast: Cast, limit: int) -> None:
    # Several of one name: then the id decides, and the cursor finds its place among them.
    for number in range(6):
        cast.perform(invite_person, name=("Nina", "Anna")[number % 2], email=f"{number}@new.example", role="member")
    whole = list_ids(cast, order="name")
    assert len({*whole}) == 11
    found = [*list_pages(cast, limit, order="name")]
    assert [*chain(*found)] == whole
    assert list_names(cast)[:4] == ["Adam Admin", "Anna", "Anna", "Anna"]


def test_the_order_by_name_is_narrowed_like_the_other(cast: Cast) -> None:
    for name in ("Nina", "Anna", "Mona"):
        cast.perform(invite_person, name=name, email=f"{name}@new.example", role="office")
    assert list_names(cast, status="invited") == ["Anna", "Mona", "Nina"]
    assert list_names(cast, role="office") == ["Anna", "Mona", "Nina", "Orla Office"]


def test_a_member_sees_no_costs(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.ADMIN], costRate="47.11", billRate="98.76")
    body = cast.answer(list_people, Role.MEMBER).body
    assert b"47.11" not in body
    assert b"98.76" not in body
    assert b"47.11" in cast.answer(list_people, Role.OFFICE).body


def test_another_organisation_s_people_are_not_listed(cast: Cast, other_cast: Cast) -> None:
    assert not {*list_ids(cast)} & {*other_cast.people.values()}


def test_another_organisation_s_id_is_only_a_place_in_the_order(cast: Cast, other_cast: Cast) -> None:
    assert list_ids(cast, startingAfter=other_cast.people[Role.OWNER]) == list_ids(cast)


def test_by_name_an_id_that_nobody_has_here_is_no_place_and_is_refused(cast: Cast, other_cast: Cast) -> None:
    last = list_names(cast)[-1]
    for unknown in (other_cast.people[Role.OWNER], new_id("person")):
        with pytest.raises(Invalid) as refusal:
            cast.perform(list_people, order="name", startingAfter=unknown)
        assert refusal.value.text == "startingAfter: is not a record of this list, start again without it"
    # Behind the last there is nothing, and that is no fault.
    (person_id,) = (person["id"] for person in cast.perform(list_people)["data"] if person["name"] == last)
    assert cast.perform(list_people, order="name", startingAfter=person_id)["data"] == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"limit": 0}, "limit: is below 1"),
        ({"limit": 101}, "limit: is above 100"),
        ({"limit": "2"}, "limit: is not a whole number"),
        ({"limit": 2.5}, "limit: is not a whole number"),
        ({"startingAfter": "person_1"}, "startingAfter: is not the id of a person"),
        ({"startingAfter": new_id("key")}, "startingAfter: is not the id of a person"),
        ({"status": "gone"}, "status: is not one of 'invited', 'active' or 'left'"),
        ({"role": "boss"}, "role: is not one of 'owner', 'admin', 'office', 'member' or 'subcontractor'"),
        ({"order": "age"}, "order: is not one of 'newest' or 'name'"),
        ({"sort": "name"}, "sort: is not known here"),
    ],
)
def test_a_wrong_parameter_is_refused(cast: Cast, given: dict[str, object], text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(list_people, **given)
    assert refusal.value.text == text
