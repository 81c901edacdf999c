"""The step that lets jobs that were there already be found by their numbers without zeros."""

from typing import cast as known_as

from cast import Cast
from mainstay.backing.database import EVERY, WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.jobs.operations import list_jobs
from mainstay.terms.rights import Role
from trade import a_customer, a_job, work_off

STEP = "0031_words_of_numbers"


def test_jobs_that_were_there_before_are_found_without_the_zeros(alone: Cast) -> None:
    job = a_job(alone, a_customer(alone))
    database = known_as("WholeDatabase", alone.stage.database)
    with database.changing(EVERY) as rows:
        rows.run("DELETE FROM search_word WHERE kind = 'job' AND word IN ('1', 'j1', '#1', '#j1')")

    def found() -> list[str]:
        return [record["id"] for record in alone.perform(list_jobs, Role.OFFICE, text="j1")["data"]]

    assert found() == []
    (step,) = [step for step in steps_for(database.engine) if step.name == STEP]
    with database.migrating() as handle:
        step.run(handle)
    work_off(alone)
    assert found() == [job["id"]]
