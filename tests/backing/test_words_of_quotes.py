"""The step that lets quotes that were there already be named by their numbers without zeros."""

from typing import cast as known_as

import pytest

from cast import Cast
from earlier import run_on_words
from mainstay.backing.database import WholeDatabase
from mainstay.backing.migrations.apply import steps_for
from mainstay.business.quotes.operations import get_quote
from mainstay.terms.refusal import NotFound
from quoting import a_draft
from trade import work_off


def test_quotes_that_were_there_before_are_named_without_the_zeros(alone: Cast) -> None:
    quote = a_draft(alone)
    database = known_as("WholeDatabase", alone.stage.database)
    run_on_words(database, "DELETE FROM search_word WHERE kind = 'quote' AND word IN ('1', 'q1', '#1', '#q1')")
    with pytest.raises(NotFound):
        alone.perform(get_quote, quoteId="q1")
    (step,) = [step for step in steps_for(database.engine) if step.name.endswith("_words_of_quotes")]
    run_on_words(database, step)
    work_off(alone)
    assert alone.perform(get_quote, quoteId="q1")["id"] == quote["id"]
