"""The steps that let what was there already be found by numbers: without zeros, and never by a mark alone."""

from typing import cast as known_as

from billing import an_invoice
from cast import Cast
from earlier import run_on_words
from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.jobs.operations import list_jobs
from mainstay.terms.rights import Role
from trade import a_customer, a_job, work_off

STEP = "0031_words_of_numbers"
STEP_OF_MARKS = "0038_marks_alone"


def test_jobs_that_were_there_before_are_found_without_the_zeros(alone: Cast) -> None:
    job = a_job(alone, a_customer(alone))
    database = known_as("WholeDatabase", alone.stage.database)
    run_on_words(database, "DELETE FROM search_word WHERE kind = 'job' AND word IN ('1', 'j1', '#1', '#j1')")

    def found() -> list[str]:
        return [record["id"] for record in alone.perform(list_jobs, Role.OFFICE, text="j1")["data"]]

    assert found() == []
    _run(database, STEP)
    work_off(alone)
    assert found() == [job["id"]]


def test_no_draft_is_found_by_a_mark_alone_any_more(alone: Cast) -> None:
    draft = an_invoice(alone)
    database = known_as("WholeDatabase", alone.stage.database)

    def words() -> set[str]:
        with database.reading(EVERY) as rows:
            return {str(word) for (word,) in rows.all("SELECT word FROM search_word WHERE kind = 'invoice'")}

    run_on_words(database, "SELECT 1")
    before = words()
    with database.changing(EVERY) as rows:
        rows.run(
            "INSERT INTO search_word (organisation_id, kind, word, record_id) VALUES (:to, 'invoice', '#', :id)",
            to=alone.organisation,
            id=draft["id"],
        )
    _run(database, STEP_OF_MARKS)
    assert words() == before


def _run(database: WholeDatabase, named: str) -> None:
    (step,) = [step for step in steps_for(database.engine) if step.name == named]
    run_on_words(database, step)
