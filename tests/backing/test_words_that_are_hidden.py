"""The step that lets records that were there already no longer be found by what not everyone is shown."""

from typing import cast as known_as

from cast import Cast
from earlier import run_on_words
from mainstay.backing.database import WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.customers.operations import list_customers, update_customer
from mainstay.business.jobs.operations import list_jobs
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import Role
from trade import a_customer, a_job, work_off

STEP = "0027_words_that_are_hidden"


def found(cast: Cast, operation: Operation, text: str) -> list[str]:
    return [record["id"] for record in cast.perform(operation, Role.MEMBER, text=text)["data"]]


def test_what_the_field_is_not_shown_finds_nothing_for_it_any_more(alone: Cast) -> None:
    customer = a_customer(alone)
    alone.perform(update_customer, customerId=customer, reference="Kostenstelle 99")
    job = a_job(alone, customer, Role.MEMBER, customerOrderNumber="Ryburn 4711")["id"]
    database = known_as("WholeDatabase", alone.stage.database)
    run_on_words(database, "DELETE FROM search_word WHERE kind IN ('job hidden', 'customer hidden')")
    assert (found(alone, list_jobs, "4711"), found(alone, list_customers, "kostenstelle")) == ([job], [customer])

    (step,) = [step for step in steps_for(database.engine) if step.name == STEP]
    run_on_words(database, step)
    work_off(alone)
    assert (found(alone, list_jobs, "4711"), found(alone, list_customers, "kostenstelle")) == ([], [])
    assert (found(alone, list_jobs, "boiler"), found(alone, list_customers, "calder")) == ([job], [customer])
