"""People are found by what is known of them: written with the record, and never another organisation's."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import orjson
import pytest

from cast import Cast
from mainstay.business.people.operations import invite_person, list_people, update_person
from mainstay.business.people.standing import remove_person
from mainstay.kernel.context import Envelope
from mainstay.ledger import words as ledger_words
from mainstay.ledger.words import Words, kept
from mainstay.terms.refusal import Invalid
from mainstay.terms.rights import Role
from planning import plan, read_whole
from recording import RecordingDatabase

pytestmark = pytest.mark.usefixtures("found_alike")

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


def found(cast: Cast, text: str, role: Role = Role.OWNER, **given: object) -> list[str]:
    return [person["id"] for person in cast.perform(list_people, role, text=text, **given)["data"]]


def words(cast: Cast, person: str) -> Words:
    with cast.stage.database.reading(cast.organisation) as rows:
        return kept(rows, "person", person)


@pytest.mark.parametrize(
    "text",
    [
        "tomas", "TÖMAS ash", "ashw", "ashworth tom", "sparky", "sparky@hart", "@hartley.example", "07700 900104",
        "+44 7700 900104", "900104", "boil", "gas boilers", "sohne", "söh ltd tom",
    ],
)  # fmt: skip
def test_a_person_is_found_by_name_address_phone_skills_and_company(cast: Cast, tom: str, text: str) -> None:
    assert found(cast, text) == [tom]


@pytest.mark.parametrize("text", ["worth", "tomas berry", "gas heat", "07700 900105", "tom@hart", "member", "t_m"])
def test_every_word_must_begin_a_word_of_theirs(cast: Cast, tom: str, text: str) -> None:
    assert tom not in found(cast, text)


def test_a_text_narrows_further_and_keeps_the_order_and_the_pages(cast: Cast) -> None:
    people = [
        cast.perform(invite_person, name=f"Sam Smith {name}", email=f"{name}@x.example", role=role)["id"]
        for name, role in (("Bea", "office"), ("Cy", "member"), ("Ann", "member"))
    ]
    bea, cy, ann = people
    assert found(cast, "sam smith", status="invited") == [ann, cy, bea]
    assert found(cast, "smith", order="name") == [ann, bea, cy]
    assert cast.perform(list_people, text="smith", role="member")["data"][0]["id"] == ann
    first = cast.perform(list_people, text="smith", limit=2)
    assert first["hasMore"] is True
    assert found(cast, "smith", startingAfter=cy) == [bea]
    assert found(cast, "smith", order="name", startingAfter=ann) == [bea, cy]
    cast.perform(remove_person, personId=cy, confirmed=True)
    assert found(cast, "smith") == [ann, bea]
    assert found(cast, "smith", status="left") == [cy]


def test_what_is_known_of_a_person_is_found_as_it_is_now(cast: Cast, tom: str) -> None:
    before = words(cast, tom)
    cast.perform(update_person, personId=tom, name="Thomas Berry", phone=None, skills=["Roofs"], companyName=None)
    assert found(cast, "tomas") == found(cast, "900104") == found(cast, "gas") == found(cast, "sohne") == []
    assert found(cast, "thomas berry roofs sparky") == [tom]
    cast.perform(
        update_person, personId=tom, **{name: TOM[name] for name in ("name", "phone", "skills", "companyName")}
    )
    assert words(cast, tom) == before


def test_only_the_words_that_are_different_are_written(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_words, "MOST_FRESH", 1)
    tom = cast.perform(invite_person, **TOM)["id"]
    database = RecordingDatabase(cast.stage.database)
    stage = replace(cast.stage, database=database)

    def statements(**given: object) -> list[str]:
        database.statements.clear()
        stage.perform(update_person, cast.actor(Role.OWNER), orjson.dumps(given | {"personId": tom}), Envelope("r"))
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
    assert found(cast, "tom 7700900104") == found(cast, "01422 5550142") == [tom]
    assert found(cast, "7700 900104") == []


def test_nobody_of_another_organisation_is_found(cast: Cast, stranger: Cast, tom: str) -> None:
    other = stranger.perform(invite_person, **TOM)["id"]
    assert found(cast, "tomas") == [tom]
    assert found(stranger, "tomas") == [other]


def test_those_who_see_people_find_them(cast: Cast, tom: str) -> None:
    assert found(cast, "tomas", Role.MEMBER) == [tom]


@pytest.mark.parametrize("text", ["t", "t a", "!!", "%", " "])
def test_too_little_to_look_for_is_refused(cast: Cast, text: str) -> None:
    with pytest.raises(Invalid, match=r"^text: is (too short|empty)"):
        found(cast, text)


@pytest.mark.parametrize("text", ["ash", "tom ash gas", "07700 900104", "+44 7700 900104"])
@pytest.mark.parametrize("order", ["newest", "name"])
def test_looking_for_a_text_begins_with_the_words_and_not_with_everyone(
    cast: Cast, tom: str, text: str, order: str
) -> None:
    database = RecordingDatabase(cast.stage.database)
    given = orjson.dumps({"text": text, "order": order})
    answer = replace(cast.stage, database=database).perform(list_people, cast.actor(Role.OWNER), given, Envelope("r"))
    assert [person["id"] for person in orjson.loads(answer.body)["data"]] == [tom]
    for statement in database.statements:
        steps = plan(cast.stage.database, statement)
        assert read_whole(steps) == [], steps
        assert [step for step in steps if "search_word" in step], steps
        # No index of people is walked past all the others; PostgreSQL takes any in which it looks up one by their id,
        # where they are few. How it finds many, tests of records tell.
        walked = [step for step, by in pairwise([*steps, ""]) if "person_by" in step and "(id = " not in by]
        assert walked == [], steps
    if database.engine == "sqlite":
        steps = plan(cast.stage.database, database.statements[-1])
        assert [step for step in steps if "person" in step and "id=?)" in step], steps
