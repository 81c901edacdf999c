"""Submitting and reviewing hours, several entries at once, all or none."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from mainstay.business.hours import store
from mainstay.business.hours.inputs import MAX_ENTRIES_AT_ONCE, EntryIds, WorkerId, resolve_person
from mainstay.business.hours.model import STATUS_AFTER, BriefEntry, HoursBatchOut, ReviewDecision, TimeEntry
from mainstay.business.hours.restoring import restore_review
from mainstay.business.people.emails import actor_name, email_person, find_recipients
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.values.descriptions import describe
from mainstay.values.fields import Day, Paragraph
from mainstay.values.message import CalendarDate, Duration, FieldName, Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, Reason, raise_if_blocked
from mainstay.vocabulary.schemas import Input, LastDay

_EntryIdList = Annotated[
    EntryIds, Field(min_length=1, max_length=MAX_ENTRIES_AT_ONCE, examples=[["entry_01KA41T9YB7C5D3E1F9G8H6J4K"]])
]


class SubmitHours(Input):
    """Which hours: some by their ids, or all drafts of a period."""

    time_entry_ids: _EntryIdList | None = Field(None, description=describe("[[The IDs of the entries.]]"))
    from_: Day | None = Field(None, alias="from", description="All drafts on or after this date. Requires until.")
    until: LastDay | None = Field(None, description="All drafts on or before this date.")
    person_id: WorkerId = None


class ReviewHours(Input):
    """Which hours, and the decision."""

    time_entry_ids: _EntryIdList = Field(description=describe("[[The IDs of the entries.]]"))
    decision: ReviewDecision = Field(
        description=describe("[[`approve` or `reject` submitted hours, `unapprove` approved hours.]]")
    )
    reason: Paragraph | None = Field(None, description=describe("The person will see it. [[Required for `reject`.]]"))


@operation(
    permission=Permission.HOURS_LOG,
    effect=Effect.CHANGE,
    api_path="POST /hours/submit",
    only_adds=False,
    offered_on=store.TIME_ENTRIES,
    blocked_by=TimeEntry.not_submittable,
    not_undone=Message("Submitted hours are with the office. Ask it to reject them."),
    past_text="Hours submitted",
)
def submit_hours(ctx: Context, given: SubmitHours) -> HoursBatchOut:
    """Submit hours.

    [[Sends your hours for approval: by their IDs, or all drafts of a period such as a week (from, until).]] All or
    none.
    """
    entries = _fetch_entries(ctx, given.time_entry_ids, given) if given.time_entry_ids else _find_drafts(ctx, given)
    raise_if_blocked([reason for entry in entries for reason in entry.not_submittable(ctx.actor)])
    return _change_entries(ctx, entries, {"status": "submitted", "review_note": None})


@operation(
    permission=Permission.HOURS_REVIEW,
    effect=Effect.CHANGE,
    api_path="POST /hours/review",
    only_adds=False,
    offered_on=store.TIME_ENTRIES,
    blocked_by=TimeEntry.not_decidable,
    emails_outside=True,
    undone_by=restore_review,
    past_text="Hours reviewed",
    past_text_by=(
        "decision",
        {"approve": "Hours approved", "reject": "Hours rejected", "unapprove": "Hours unapproved"},
    ),
)
def review_hours(ctx: Context, given: ReviewHours) -> HoursBatchOut:
    """Review hours.

    [[`approve` or `reject` submitted hours (timesheets), all or none; `unapprove` undoes an approval.]] The person can
    correct rejected hours and submit them again.
    """
    if given.decision == "reject" and not given.reason:
        raise Invalid([Fault("reason", Message("is required to reject hours"))])
    entries = store.fetch_all(ctx, given.time_entry_ids)
    raise_if_blocked([reason for entry in entries for reason in entry.not_reviewable(given.decision)])
    note = given.reason if given.decision == "reject" else None
    if note:
        _email_people(ctx, entries, note)
    if given.decision == "approve":
        store.reopen_billing(ctx, entries)
    return _change_entries(ctx, entries, {"status": STATUS_AFTER[given.decision], "review_note": note})


OPERATIONS = (submit_hours, review_hours)


def _email_people(ctx: Context, entries: Sequence[TimeEntry], reason: str) -> None:
    """Email people which of their hours were rejected and why, one email for each person."""
    for person in find_recipients(ctx, [entry.person_id for entry in entries]):
        lines = [
            Message(
                "{day}, {duration}, {job}\n  {address}",
                day=CalendarDate(entry.on),
                duration=Duration(entry.minutes or 0),
                job=entry.job_number or Message("no job"),
                address=f"{ctx.base_url}/hours/{entry.id}",
            )
            for entry in entries
            if entry.person_id == person.id
        ]
        paragraphs = (
            Message("{name} did not approve some of your hours:", name=actor_name(ctx)),
            reason,
            Message("Please correct these and submit them again:"),
            lines,
        )
        email_person(ctx, person, Message("Some of your hours were not approved"), paragraphs, person.id)


def _fetch_entries(ctx: Context, ids: Sequence[str], given: SubmitHours) -> list[TimeEntry]:
    """Return the entries with these ids. Refuse a range sent with them, because it would be ignored."""
    others = {"from": given.from_, "until": given.until, "personId": given.person_id}
    if sent := [name for name, value in others.items() if value is not None]:
        problem = Message("can't be combined with {field}", field=FieldName("timeEntryIds"))
        raise Invalid([Fault(name, problem) for name in sent])
    return store.fetch_all(ctx, ids)


def _find_drafts(ctx: Context, given: SubmitHours) -> list[TimeEntry]:
    first, last = given.from_, given.until
    if not first or not last:
        missing = "until" if first else "from"
        problem = Message("is required, unless {field} is given", field=FieldName("timeEntryIds"))
        raise Invalid([Fault(missing, problem)])
    person = resolve_person(ctx, given.person_id, allow_left=True)
    drafts = store.find_drafts(ctx, person, first, last, MAX_ENTRIES_AT_ONCE + 1)
    if not drafts:
        message = Message(
            "There are no drafts between {first} and {last}. Log hours first.",
            first=CalendarDate(first),
            last=CalendarDate(last),
        )
        raise_if_blocked([Reason(message, first="log_hours")])
    if len(drafts) > MAX_ENTRIES_AT_ONCE:
        raise Conflict(
            Message(
                "There are more than {most} drafts between {first} and {last}. Choose a shorter period.",
                most=MAX_ENTRIES_AT_ONCE,
                first=CalendarDate(first),
                last=CalendarDate(last),
            )
        )
    ctx.check_versions({entry.id: entry.version for entry in drafts})
    return drafts


def _change_entries(ctx: Context, entries: Sequence[TimeEntry], changes: dict[str, Any]) -> HoursBatchOut:
    changed = [store.TIME_ENTRIES.save(ctx, entry, changes) for entry in entries]
    warnings = [warning for entry in changed if entry.status != "rejected" for warning in entry.warnings]
    return HoursBatchOut(
        object=HoursBatchOut.noun,
        status=changes["status"],
        minutes=sum(entry.minutes or 0 for entry in changed),
        entries=[
            BriefEntry(
                id=entry.id,
                person_name=entry.person_name,
                on=entry.on,
                minutes=entry.minutes or 0,
                job_number=entry.job_number,
            )
            for entry in changed
        ],
        warnings=[*map(ctx.request.message_format.render, warnings)],
    )
