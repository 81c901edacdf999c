"""Whatever changes a record is told afterwards, as what was done: by people, by others, and by the house itself."""

import re
from typing import get_args

import pytest

from mainstay.backing.rehashing import HASH_ROWS
from mainstay.business.importing.undoing import UNDO_IMPORT
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.timeline import DECIDED, IN_THE_PAST, fields_of, told
from mainstay.kernel.operation import Operation

CHANGES = {operation.name: operation for operation in CATALOGUE.operations if operation.changes}
BY_ITSELF = {one.name for acts in (CATALOGUE.reactions, CATALOGUE.timers, CATALOGUE.chores) for one in acts}
# Past in itself, where a word ends as no past does.
PAST = re.compile(
    r"\b\w+(?:ed|nt|en|wn|ade|ut|set|ft|me|saw)\b|\b(?:put|made|sent|set|left|became|went|told|reckoned|again)\b"
)


def allowed(operation: Operation, field: str) -> set[str]:
    kind = operation.input.model_fields[field].annotation
    return {value for part in (kind, *get_args(kind)) for value in get_args(part) or (part,) if isinstance(value, str)}


def test_every_change_has_its_words_and_no_others_are_there() -> None:
    # To undo an import is no operation: it is done to each of its records, from its page alone.
    # To hash rows is done by migrations.
    assert IN_THE_PAST.keys() == CHANGES.keys() | BY_ITSELF | {UNDO_IMPORT, HASH_ROWS}


@pytest.mark.parametrize("name", IN_THE_PAST)
def test_it_is_told_as_what_was_done(name: str) -> None:
    assert PAST.search(told(name, {})), told(name, {})
    # By whom stands behind it.
    assert " by " not in told(name, {})
    assert not re.search(r"\byou\b|\byour\b|_|\.", told(name, {}))
    if name in CHANGES:
        assert told(name, {}) != CHANGES[name].title


def test_what_was_filled_in_is_told_with_the_fields_that_are_different_since() -> None:
    assert told("update_job", {}, ["title", "due"]) == "Details changed: title, due"
    assert told("update_job", {}, list("abcdefg")) == "Details changed: a, b, c, d, e and 2 more"
    assert told("update_job", {}, list("abcde")) == "Details changed: a, b, c, d, e"
    assert told("change_job_status", {"status": "onHold"}, ["status"]) == "Job: on hold"
    assert told("cancel_job", {"reason": "No money"}, ["status"]) == "Job cancelled: No money"


def test_the_fields_are_called_as_on_the_form_and_what_followed_from_them_is_not_told() -> None:
    update = CHANGES["update_job"]
    assert fields_of(update, {"stage", "leadPersonId", "dueOn"}) == ["due", "led by"]
    assert fields_of(CHANGES["update_quote"], {"lines", "total", "title"}) == ["title", "lines"]
    assert fields_of(CHANGES["add_note"], {"lines"}) == []


@pytest.mark.parametrize("name", DECIDED)
def test_each_decision_has_its_words(name: str) -> None:
    field, words = DECIDED[name]
    assert words.keys() == allowed(CHANGES[name], field)
    for value, expected in words.items():
        assert told(name, {field: value, "reason": "Ask  Ann\nfirst"}) == f"{expected}: Ask Ann first"
