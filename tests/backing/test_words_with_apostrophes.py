"""The step by which what was kept with an apostrophe is found without it as well."""

import re

import pytest

from cast import assemble
from earlier import run_on_words
from installations import Opened
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.records.search import search
from mainstay.terms.rights import Role
from mainstay.values import search as words
from mainstay.values.moments import system_clock
from trade import a_customer, a_job, work_off

(STEP,) = [step for step in steps_for("sqlite") if step.name.endswith("words_with_apostrophes")]


def test_what_was_made_before_is_found_as_one_word_and_the_books_are_sound(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(words, "_APOSTROPHE", re.compile("(?!)"))
        cast = assemble(opened.stage)
        plain, marked = a_customer(cast, "Calder"), a_customer(cast, "Aoife O'Brien")
        job = a_job(cast, plain, title="The landlord\N{RIGHT SINGLE QUOTATION MARK}s boiler")["id"]
        work_off(cast)

    def found(text: str) -> list[str]:
        return [hit["id"] for hit in cast.perform(search, Role.OFFICE, text=text)["hits"]]

    assert [found("obrien"), found("landlords")] == [[], []]
    run_on_words(opened.database, STEP)
    with opened.database.migrating() as handle:
        left = handle.all("SELECT payload FROM outbox WHERE kind = 'reword_record' ORDER BY payload")
    assert left == [(f'{{"record":"{record}"}}',) for record in (marked, job)]
    work_off(cast)
    assert [found("obrien"), found("landlords")] == [[marked], [job]]
    assert opened.flaws(system_clock()) == {}
