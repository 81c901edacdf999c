"""Handing hours in, and deciding on them: several at once, all or none."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field

from mainstay.business.hours import store
from mainstay.business.hours.asked import MOST_AT_ONCE, EntryIds, PersonId, whose
from mainstay.business.hours.model import BECOMES, BriefEntry, Decision, HoursBatchOut, TimeEntry
from mainstay.business.organisation.house import house_of
from mainstay.business.people.telling import actor_s_name, tell, to_tell
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.paper.locales import Locale
from mainstay.terms.refusal import Conflict, Fault, Invalid, Reason, refuse
from mainstay.terms.rights import Right
from mainstay.terms.shapes import Input, LastDay
from mainstay.values.durations import hours_text
from mainstay.values.fields import Day, Paragraph

_Several = Annotated[
    EntryIds, Field(min_length=1, max_length=MOST_AT_ONCE, examples=[["entry_01KA41T9YB7C5D3E1F9G8H6J4K"]])
]


class SubmitHours(Input):
    """Which hours: some by their ids, or all drafts of a range of dates."""

    time_entry_ids: _Several | None = Field(None, description="The ids of the entries.")
    from_: Day | None = Field(None, alias="from", description="All drafts from this date, given with until.")
    until: LastDay | None = Field(None, description="The last date of the range.")
    person_id: PersonId = None


class ReviewHours(Input):
    """Which hours, and what is decided."""

    time_entry_ids: _Several = Field(description="The ids of the entries.")
    decision: Decision = Field(description="`approve` or `reject` what is submitted, `unapprove` what is approved.")
    reason: Paragraph | None = Field(None, description="Why; needed to reject, and shown to the person.")


@operation(
    right=Right.HOURS_LOG,
    effect=Effect.CHANGE,
    rest="POST /hours/submit",
    only_adds=False,
    offered_on=store.ENTRIES,
    unless=TimeEntry.not_submittable,
    done="The hours are submitted.",
)
def submit_hours(ctx: Context, given: SubmitHours) -> HoursBatchOut:
    """Submit hours for approval.

    By their ids, or all drafts of a range of dates: from and until, such as a week. All or none.
    """
    entries = _named(ctx, given.time_entry_ids, given) if given.time_entry_ids else _drafts(ctx, given)
    _expect(ctx, entries)
    refuse([reason for entry in entries for reason in entry.not_submittable(ctx.actor)])
    return _change(ctx, entries, {"status": "submitted", "review_note": None})


@operation(
    right=Right.HOURS_REVIEW,
    effect=Effect.CHANGE,
    rest="POST /hours/review",
    only_adds=False,
    offered_on=store.ENTRIES,
    unless=TimeEntry.not_decided_on,
    mails=True,
    done="The hours are reviewed.",
)
def review_hours(ctx: Context, given: ReviewHours) -> HoursBatchOut:
    """Approve or reject hours that were submitted.

    All or none; a rejection needs a reason. `unapprove` takes an approval back, so that they can be changed again.
    """
    if given.decision == "reject" and not given.reason:
        raise Invalid([Fault("reason", "is required to reject; the person reads it")])
    entries = store.fetch_all(ctx, given.time_entry_ids)
    _expect(ctx, entries)
    refuse([reason for entry in entries for reason in entry.not_reviewable(given.decision)])
    note = given.reason if given.decision == "reject" else None
    if note:
        _tell(ctx, entries, note)
    if given.decision == "approve":
        store.reopen_billing(ctx, entries)
    return _change(ctx, entries, {"status": BECOMES[given.decision], "review_note": note})


OPERATIONS = (submit_hours, review_hours)

_REJECTED = """\
{name} did not approve some of your hours:

{reason}

Correct these, and submit them again:

{entries}
"""


def _tell(ctx: Context, entries: Sequence[TimeEntry], reason: str) -> None:
    """Tell people that hours of theirs were rejected, and why: each in one mail."""
    locale = Locale("en", house_of(ctx).country)
    for person in to_tell(ctx, [entry.person_id for entry in entries]):
        lines = [
            f"{locale.day(entry.on)}, {hours_text(entry.minutes or 0)}, {entry.job_number or 'no job'}\n"
            f"  {ctx.base_url}/hours/{entry.id}"
            for entry in entries
            if entry.person_id == person.id
        ]
        text = _REJECTED.format(name=actor_s_name(ctx), reason=reason, entries="\n".join(lines))
        tell(ctx, person, "Some of your hours were not approved", text, person.id)


def _named(ctx: Context, identities: Sequence[str], given: SubmitHours) -> list[TimeEntry]:
    """The entries of these ids, which no range is sent with: it would seem to be heeded."""
    others = {"from": given.from_, "until": given.until, "personId": given.person_id}
    if sent := [name for name, value in others.items() if value is not None]:
        raise Invalid([Fault(name, "goes with a range; send either that, or timeEntryIds") for name in sent])
    return store.fetch_all(ctx, identities)


def _expect(ctx: Context, entries: Iterable[TimeEntry]) -> None:
    """Go on only if the one who asks knows each of these as it is, or did not say."""
    for entry in entries:
        ctx.expect(entry.version)


def _drafts(ctx: Context, given: SubmitHours) -> list[TimeEntry]:
    first, last = given.from_, given.until
    if not first or not last:
        missing = "until" if first else "from"
        raise Invalid([Fault(missing, "is required: send timeEntryIds, or from and until")])
    person = whose(ctx, given.person_id, or_left=True)
    found = store.drafts(ctx, person, first, last, MOST_AT_ONCE + 1)
    if not found:
        refuse([Reason(f"There is no draft between {first} and {last}. Log hours first.", unblock="log_hours")])
    if len(found) > MOST_AT_ONCE:
        raise Conflict(f"There are more than {MOST_AT_ONCE} drafts between {first} and {last}. Take a shorter range.")
    return found


def _change(ctx: Context, entries: Sequence[TimeEntry], changes: dict[str, Any]) -> HoursBatchOut:
    after = [store.ENTRIES.save(ctx, entry, changes) for entry in entries]
    return HoursBatchOut(
        object=HoursBatchOut.noun,
        status=changes["status"],
        minutes=sum(entry.minutes or 0 for entry in after),
        entries=[
            BriefEntry(
                id=entry.id,
                person_name=entry.person_name,
                on=entry.on,
                minutes=entry.minutes or 0,
                job_number=entry.job_number,
            )
            for entry in after
        ],
        warnings=[warning for entry in after if entry.status != "rejected" for warning in entry.warnings],
    )
