"""The steps that let people who were there already be found: by their words, and later by their words as people's."""

from collections.abc import Iterator

import pytest

from earlier import open_before
from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations.apply import migrate
from mainstay.settings import Settings

STEP = 15
ORGANISATION = "org_01M7000000000000000000000A"
TOM = "person_01M7000000000000000000000T"
WORDS = {
    "tomas", "ashworth", "sohne", "gas", "safe", "sparky", "@sparky@hartley.example", "@@hartley.example",
    "-401009007744", "+447700900104", "+47700900104", "+7700900104", "+700900104",
}  # fmt: skip


@pytest.fixture
def before(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[WholeDatabase]:
    """A database as it was before the first of the steps, with one person in it."""
    with open_before(STEP, fresh_settings, monkeypatch, ORGANISATION) as database:
        with database.changing(EVERY) as rows:
            rows.run(
                "INSERT INTO person (organisation_id, id, name, email, email_folded, phone, company_name, role, status,"
                " skills, created_at, created_by, updated_at, updated_by, version)"
                " VALUES (:place, :id, 'Tömas Ashworth', 'sparky@hartley.example', 'sparky@hartley.example',"
                " '+44 7700 900104', 'Ashworth Söhne', 'member', 'active', :skills, '', '{}', '', '{}', 1)",
                place=ORGANISATION,
                id=TOM,
                skills='["Gas safe"]',
            )
        yield database


def test_people_who_were_there_before_are_found_by_their_words_as_people(before: WholeDatabase) -> None:
    assert "0015_words_of_people" in migrate(before)
    with before.reading(ORGANISATION) as rows:
        kept = rows.all("SELECT kind, word, record_id FROM search_word WHERE organisation_id = :organisation")
    assert {*kept} == {("person", word, TOM) for word in WORDS}
