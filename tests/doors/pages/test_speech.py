import re

import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.schedule.operations import plan_visit
from mainstay.catalogue import CATALOGUE
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.doors.pages.speech import TextRewriter
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid

SPEECH = TextRewriter(CATALOGUE.operations)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Choose another time (find_free_time tells who is free), or go.", "Choose another time, or go."),
        ("is archived; list_people tells who is here", "is archived"),
        ("Cancel it first. Call cancel_visit for that.", "Cancel it first."),
        (
            "Choose `following` from a later one.",
            "Choose \N{LEFT DOUBLE QUOTATION MARK}Following\N{RIGHT DOUBLE QUOTATION MARK} from a later one.",
        ),
        ("is not after startsAt", "is not after \N{LEFT DOUBLE QUOTATION MARK}Begins\N{RIGHT DOUBLE QUOTATION MARK}"),
        # What people have called their own stays as it is.
        (
            "eBay_shop (unit 7; iPhone) is closed. Reopen it first.",
            "eBay_shop (unit 7; iPhone) is closed. Reopen it first.",
        ),
    ],
)
def test_a_text_is_told_without_names_of_ours(said: str, told: str) -> None:
    refusal = SPEECH.rewrite_refusal(Conflict(said), plan_visit)
    assert refusal.text == told


def test_faults_stay_beside_their_fields_and_are_told_by_their_labels() -> None:
    faults = [
        Fault("startsAt", "is required, or a date for any time of it (`on`)"),
        Fault("kind", "is not one of 'work', 'site_assessment' or 'other'"),
        Fault("jobId", "is not the id of a job"),
    ]
    refusal = SPEECH.rewrite_refusal(Invalid(faults), plan_visit)
    assert isinstance(refusal, Invalid)
    assert [fault.field for fault in refusal.faults] == ["startsAt", "kind", "jobId"]
    assert refusal.text == (
        "Begins is required, or a date for any time of it. Kind is not one of Work, Site assessment or Other."
        " Job is none that is known here."
    )


def test_a_fault_deep_within_is_told_by_the_last_name_on_the_way() -> None:
    refusal = SPEECH.rewrite_refusal(
        Invalid([Fault("workingHours.monday.0.from", "is not a time of day")]), update_settings
    )
    assert refusal.text == "From is not a time of day."


def test_no_help_in_a_form_names_what_only_programs_know() -> None:
    helped = [
        (operation.name, field.name, field.help)
        for operation in CATALOGUE.operations
        for one in form_fields_of(operation, frozenset(Permission))
        for field in (one, *one.parts)
        if field.help
    ]
    assert len(helped) > 200
    assert [names for names in helped if re.search(r"\b[Nn]ull\b|`|\b[a-z]+_[a-z]+\b|\b[a-z]+[A-Z]\w*", names[2])] == []
