"""Every change of a record has a text in the past tense: changes by people, by apps and by the system."""

import re
from typing import get_args

import pytest

from mainstay.business.importing.undo import UNDO_IMPORT
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.kit.timeline import changed_field_labels, describe_action
from mainstay.infrastructure.rehashing import HASH_ROWS
from mainstay.kernel.operation import Operation
from mainstay.values.choices import to_label

CHANGES = {operation.name: operation for operation in CATALOGUE.operations if operation.changes}
SYSTEM_ACTIONS = {one.name for acts in (CATALOGUE.reactions, CATALOGUE.timers, CATALOGUE.task_kinds) for one in acts}
# Past in itself, where a word ends as no past does.
PAST_TENSE = re.compile(
    r"\b\w+(?:ed|nt|en|wn|ade|ut|set|ft|me|saw)\b|\b(?:put|made|sent|set|left|became|went|told|reckoned|again|undone)\b"
)


def list_allowed_values(operation: Operation, field: str) -> set[str]:
    kind = operation.input.model_fields[field].annotation
    return {value for part in (kind, *get_args(kind)) for value in get_args(part) or (part,) if isinstance(value, str)}


@pytest.mark.parametrize("name", sorted(CHANGES.keys() | SYSTEM_ACTIONS | {UNDO_IMPORT, HASH_ROWS}))
def test_it_is_told_as_what_was_done(name: str) -> None:
    text = describe_action(CATALOGUE, name, {})
    assert text != to_label(name)
    assert PAST_TENSE.search(text), text
    # By whom stands behind it.
    assert " by " not in text
    assert not re.search(r"\byou\b|\byour\b|_|\.", text)
    if name in CHANGES:
        assert text != CHANGES[name].title


def test_what_was_filled_in_is_told_with_the_fields_that_are_different_since() -> None:
    assert describe_action(CATALOGUE, "update_job", {}, ["title", "due"]) == "Details edited: title, due"
    assert describe_action(CATALOGUE, "update_job", {}, list("abcdefg")) == "Details edited: a, b, c, d, e and 2 more"
    assert describe_action(CATALOGUE, "update_job", {}, list("abcde")) == "Details edited: a, b, c, d, e"
    assert describe_action(CATALOGUE, "change_job_status", {"status": "onHold"}, ["status"]) == "Job: on hold"
    assert describe_action(CATALOGUE, "cancel_job", {"reason": "No money"}, ["status"]) == "Job cancelled: No money"


def test_the_fields_are_called_as_on_the_form_and_what_followed_from_them_is_not_told() -> None:
    update = CHANGES["update_job"]
    assert changed_field_labels(update, {"stage", "leadPersonId", "dueOn"}) == ["due date", "lead"]
    assert changed_field_labels(CHANGES["update_quote"], {"lines", "total", "title"}) == ["title", "lines"]
    assert changed_field_labels(CHANGES["add_note"], {"lines"}) == []


@pytest.mark.parametrize("name", [name for name, one in CHANGES.items() if one.past_text_by])
def test_each_decision_has_its_words(name: str) -> None:
    field, words = CHANGES[name].past_text_by or ("", {})
    assert words.keys() == list_allowed_values(CHANGES[name], field)
    for value, expected in words.items():
        assert (
            describe_action(CATALOGUE, name, {field: value, "reason": "Ask  Ann\nfirst"})
            == f"{expected}: Ask Ann first"
        )
