"""Databases as they were before a step of the schema."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations import apply
from mainstay.backing.migrations.apply import Step, migrate, steps_for
from mainstay.backing.rehashing import hashing_again
from mainstay.backing.row_hashes import HASHED
from mainstay.settings import Settings
from mainstay.staging import connect

_TOGETHER = "0050_words_together"
_APART = """
INSERT INTO search_word (organisation_id, kind, word, record_id)
SELECT organisation_id, kind, word, record_id FROM search_fresh_word;
DROP VIEW search_fresh_word;
DROP TABLE search_fresh;
DROP TABLE search_record;
CREATE INDEX search_word_by_record ON search_word (organisation_id, record_id, word);
"""
_ORGANISATION = (
    "INSERT INTO organisation (id, name, country, currency, time_zone, subscription, created_at, created_by,"
    " updated_at, updated_by, version) VALUES (:id, 'O', 'GB', 'GBP', 'UTC', 'active', '', '{}', '', '{}', 1)"
)


@contextmanager
def open_before(
    step: int, settings: Settings, monkeypatch: pytest.MonkeyPatch, *organisations: str
) -> Iterator[WholeDatabase]:
    """A database migrated only up to a step, with these organisations in it."""
    database = connect(settings)
    steps = steps_for(database.engine)
    with monkeypatch.context() as earlier:
        earlier.setattr(apply, "steps_for", lambda _: [one for one in steps if one.number < step])
        migrate(database)
    with database.changing(EVERY) as rows:
        for organisation in organisations:
            rows.run(_ORGANISATION, id=organisation)
    yield database
    database.close()


def run_on_words(database: WholeDatabase, step: Step | str) -> None:
    """Run a step, or a statement, on words as they were before those of a record stood together; they do again then."""
    (together,) = [one for one in steps_for(database.engine) if one.name == _TOGETHER]
    with database.migrating() as handle:
        handle.script(_APART)
        with hashing_again(handle, "a test", HASHED):
            if isinstance(step, str):
                handle.script(step)
            else:
                step.run(handle)
        together.run(handle)
