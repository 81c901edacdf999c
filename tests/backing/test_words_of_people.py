"""The steps that let people who were there already be found: by their words, and later by their words as people's."""

from collections.abc import Iterator

import pytest

from mainstay.backing.database import EVERY, Database
from mainstay.backing.migrations import apply
from mainstay.backing.migrations.apply import migrate, steps_for
from mainstay.settings import Settings
from mainstay.staging import connect

STEP = 15
ORGANISATION = "org_01M7000000000000000000000A"
TOM = "person_01M7000000000000000000000T"
WORDS = {
    "tomas", "ashworth", "sohne", "gas", "safe", "sparky", "@sparky@hartley.example", "@@hartley.example",
    "-401009007744", "+447700900104", "+47700900104", "+7700900104", "+700900104",
}  # fmt: skip


@pytest.fixture
def before(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database as it was before the first of the steps, with one person in it."""
    database = connect(fresh_settings)
    steps = steps_for(database.engine)
    with monkeypatch.context() as earlier:
        earlier.setattr(apply, "steps_for", lambda _: [step for step in steps if step.number < STEP])
        migrate(database)
    with database.changing(EVERY) as rows:
        rows.run(
            "INSERT INTO organisation (id, name, country, currency, time_zone, subscription, created_at,"
            " created_by, updated_at, updated_by, version)"
            " VALUES (:id, 'O', 'GB', 'GBP', 'UTC', 'active', '', '{}', '', '{}', 1)",
            id=ORGANISATION,
        )
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
    database.close()


def test_people_who_were_there_before_are_found_by_their_words_as_people(before: Database) -> None:
    assert "0015_words_of_people" in migrate(before)
    with before.reading(ORGANISATION) as rows:
        kept = rows.all("SELECT kind, word, record_id FROM search_word WHERE organisation_id = :organisation")
    assert {*kept} == {("person", word, TOM) for word in WORDS}
