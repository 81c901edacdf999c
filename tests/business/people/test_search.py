"""People are found by their details, which are indexed with the record, and never those of another organisation."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import orjson
import pytest

from mainstay.business.people.operations import invite_person, list_people, update_person
from mainstay.business.people.roles import remove_person
from mainstay.changes import search_words as ledger_words
from mainstay.changes.search_words import RecordWords, read_words
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Invalid
from support.cast import Cast
from support.query_plans import explain, find_full_scans
from support.recorded_statements import RecordingDatabase

pytestmark = pytest.mark.usefixtures("fresh_or_indexed_words")

TOM: dict[str, Any] = {
    "name": "Tömas Ashworth",
    "email": "sparky@hartley.example",
    "role": "member",
    "phone": "+44 7700 900104",
    "skills": ["Gas safe", "Boilers"],
    "companyName": "Ashworth & Söhne Ltd",
}


@pytest.fixture
def tom(cast: Cast) -> str:
    return str(cast.perform(invite_person, **TOM)["id"])


def find_ids(cast: Cast, text: str, role: Role = Role.OWNER, **given: object) -> list[str]:
    return [person["id"] for person in cast.perform(list_people, role, text=text, **given)["data"]]


def stored_words(cast: Cast, person: str) -> RecordWords:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return read_words(db, "person", person)


@pytest.mark.parametrize(
    "text",
    [
        "tomas", "TÖMAS ash", "ashw", "ashworth tom", "sparky", "sparky@hart", "@hartley.example", "07700 900104",
        "+44 7700 900104", "900104", "boil", "gas boilers", "sohne", "söh ltd tom",
    ],
)  # fmt: skip
def test_a_person_is_found_by_name_address_phone_skills_and_company(cast: Cast, tom: str, text: str) -> None:
    assert find_ids(cast, text) == [tom]


@pytest.mark.parametrize("text", ["worth", "tomas berry", "gas heat", "07700 900105", "tom@hart", "member", "t_m"])
def test_every_word_must_begin_a_word_of_theirs(cast: Cast, tom: str, text: str) -> None:
    assert tom not in find_ids(cast, text)


def test_a_text_narrows_further_and_keeps_the_order_and_the_pages(cast: Cast) -> None:
    people = [
        cast.perform(invite_person, name=f"Sam Smith {name}", email=f"{name}@x.example", role=role)["id"]
        for name, role in (("Bea", "office"), ("Cy", "member"), ("Ann", "member"))
    ]
    bea, cy, ann = people
    assert find_ids(cast, "sam smith", status="invited") == [ann, cy, bea]
    assert find_ids(cast, "smith", order="name") == [ann, bea, cy]
    assert cast.perform(list_people, text="smith", role="member")["data"][0]["id"] == ann
    first = cast.perform(list_people, text="smith", limit=2)
    assert first["hasMore"] is True
    assert find_ids(cast, "smith", startingAfter=cy) == [bea]
    assert find_ids(cast, "smith", order="name", startingAfter=ann) == [bea, cy]
    cast.perform(remove_person, personId=cy, confirmed=True)
    assert find_ids(cast, "smith") == [ann, bea]
    assert find_ids(cast, "smith", status="left") == [cy]


def test_what_is_known_of_a_person_is_found_as_it_is_now(cast: Cast, tom: str) -> None:
    before = stored_words(cast, tom)
    cast.perform(update_person, personId=tom, name="Thomas Berry", phone=None, skills=["Roofs"], companyName=None)
    assert find_ids(cast, "tomas") == find_ids(cast, "900104") == find_ids(cast, "gas") == find_ids(cast, "sohne") == []
    assert find_ids(cast, "thomas berry roofs sparky") == [tom]
    cast.perform(
        update_person, personId=tom, **{name: TOM[name] for name in ("name", "phone", "skills", "companyName")}
    )
    assert stored_words(cast, tom) == before


def test_only_the_words_that_are_different_are_written(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_words, "MAX_FRESH_RECORDS", 1)
    tom = cast.perform(invite_person, **TOM)["id"]
    database = RecordingDatabase(cast.performer.database)
    performer = replace(cast.performer, database=database)

    def statements(**given: object) -> list[str]:
        database.statements.clear()
        performer.perform(
            update_person, cast.actor(Role.OWNER), orjson.dumps(given | {"personId": tom}), RequestDetails("r")
        )
        return [statement.sql.split()[0] for statement in database.statements if "search_word" in statement.sql]

    assert statements(colour="#9f1853") == []
    assert statements(name="Tömas Ashworth") == []
    assert statements(name="tomas ASHWORTH") == []
    assert statements(name="Tömas Ashworth Junior") == ["INSERT"]
    assert statements(name="Tömas Ashworth") == ["DELETE"]
    assert statements(phone="+44 7700 900105") == ["DELETE", "INSERT"]


def test_a_number_that_is_said_elsewhere_too_is_still_found_when_the_phone_is_another(cast: Cast, tom: str) -> None:
    cast.perform(update_person, personId=tom, name="Tom 7700900104", phone="7700900104")
    cast.perform(update_person, personId=tom, phone="+44 1422 555 0142")
    assert find_ids(cast, "tom 7700900104") == find_ids(cast, "01422 5550142") == [tom]
    assert find_ids(cast, "7700 900104") == []


def test_nobody_of_another_organisation_is_found(cast: Cast, other_cast: Cast, tom: str) -> None:
    other = other_cast.perform(invite_person, **TOM)["id"]
    assert find_ids(cast, "tomas") == [tom]
    assert find_ids(other_cast, "tomas") == [other]


def test_those_who_see_people_find_them(cast: Cast, tom: str) -> None:
    assert find_ids(cast, "tomas", Role.MEMBER) == [tom]


@pytest.mark.parametrize("text", ["t", "t a", "!!", "%", " "])
def test_too_little_to_look_for_is_refused(cast: Cast, text: str) -> None:
    with pytest.raises(Invalid, match=r"^text: is (too short|empty)"):
        find_ids(cast, text)


@pytest.mark.parametrize("text", ["ash", "tom ash gas", "07700 900104", "+44 7700 900104"])
@pytest.mark.parametrize("order", ["newest", "name"])
def test_looking_for_a_text_begins_with_the_words_and_not_with_everyone(
    cast: Cast, tom: str, text: str, order: str
) -> None:
    database = RecordingDatabase(cast.performer.database)
    given = orjson.dumps({"text": text, "order": order})
    answer = replace(cast.performer, database=database).perform(
        list_people, cast.actor(Role.OWNER), given, RequestDetails("r")
    )
    assert [person["id"] for person in orjson.loads(answer.body)["data"]] == [tom]
    for statement in database.statements:
        steps = explain(cast.performer.database, statement)
        assert find_full_scans(steps) == [], steps
        assert [step for step in steps if "search_word" in step], steps
        # No index of people is walked in full, except to look up one person by id: PostgreSQL takes any index for that
        # if there are few people. How many are found is tested with the records.
        full_walks = [step for step, by in pairwise([*steps, ""]) if "person_by" in step and "(id = " not in by]
        assert full_walks == [], steps
    if database.engine == "sqlite":
        steps = explain(cast.performer.database, database.statements[-1])
        assert [step for step in steps if "person" in step and "id=?)" in step], steps
