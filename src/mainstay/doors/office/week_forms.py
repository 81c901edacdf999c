"""The forms on the page of a week: which of them was sent, and what is wrong with its fields."""

from collections.abc import Mapping

from mainstay.terms.refusal import Invalid, Refusal

# By the field of an operation: the field of the page's own forms, and how it is called there.
_ON_PAGE = {
    "minutes": ("time", "Time"),
    "on": ("day", "Date"),
    "job": ("job", "Job"),
    "jobId": ("job", "Job"),
    "breakMinutes": ("break", "Break"),
    "endedAt": ("endedAt", "Ended at"),
    "note": ("note", "What was done"),
}
# By each form but the usual one: a field that it alone has.
_OWN_FIELD = {"log": "time", "stop": "break", "switch": "switch"}


def faults_of(refusal: Refusal) -> dict[str, str]:
    """What is wrong with each field of the page's own forms, as it is called there; nothing where it is not of them."""
    faults = refusal.faults if isinstance(refusal, Invalid) else ()
    if any(fault.field not in _ON_PAGE for fault in faults):
        return {}
    named = [(*_ON_PAGE[fault.field], fault.problem) for fault in faults]
    return {name: f"{label} {problem}." for name, label, problem in named}


def sent_from(fields: Mapping[str, str]) -> str:
    """Which of the page's forms these fields are of: several ask for a job."""
    if any(name.startswith("hours ") for name in fields):
        return "week"
    return next((form for form, own in _OWN_FIELD.items() if own in fields), "start")
