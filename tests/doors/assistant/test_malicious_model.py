"""A malicious model asks for anything, while its person, other processes and the clock do what they like.

Whatever happens: the assistant does no more than its person may do, nothing that needs a click without one, nothing
twice and nothing that it does not report, and it stays within its limits.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import hypothesis
import orjson
import pytest
from hypothesis import strategies as st

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Turn
from mainstay.business.customers.operations import update_customer
from mainstay.business.organisation.assistant_settings import ModelDialect, update_assistant_settings
from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.doors.assistant.turn_work import MAX_MODEL_CALLS, MAX_TOOL_CALLS
from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.kernel.perform import Performer
from mainstay.settings import Settings
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import DEFAULT_GRANTS, Access, Permission, Role, permissions_of
from rules.examples import make_samples
from support.assistant import open_assistant, results_of
from support.cast import Cast
from support.malicious_model import (
    CALL_TRICKS,
    CLICKS,
    DAILY_TOKENS,
    INCIDENTS,
    MONTHLY_TOKENS,
    SECRET,
    TOOLS_TRIED,
    CallPlan,
    Incident,
    Story,
    StoryPlan,
)
from support.violations import find_violations

EXAMPLES = {"sqlite": 12, "postgresql": 2}
LONG_EXAMPLES = {"sqlite": 400, "postgresql": 60}

OPERATIONS = {operation.name: operation for operation in CATALOGUE.operations}
CALLS = st.builds(CallPlan, st.sampled_from(TOOLS_TRIED), st.sampled_from(CALL_TRICKS))
REPLIES = st.lists(st.lists(CALLS, max_size=4), max_size=5)
STORMS = st.builds(lambda call, size: [[call] * size] * 30, CALLS, st.sampled_from([1, 16]))
PLANS = st.builds(
    StoryPlan,
    role=st.sampled_from([role for role in Role if role is not Role.SUBCONTRACTOR]),
    access=st.sampled_from(Access),
    dialect=st.sampled_from(ModelDialect),
    questions=st.lists(st.one_of(REPLIES, REPLIES, REPLIES, STORMS), min_size=1, max_size=3),
    incidents=st.lists(st.builds(Incident, st.integers(1, 40), st.sampled_from(INCIDENTS)), max_size=3),
    clicks=st.lists(st.sampled_from(CLICKS), max_size=4),
)

pytestmark = pytest.mark.engines("sqlite", "postgresql")


@pytest.fixture
def firms(settings: Settings) -> Iterator[Performer]:
    """Make firms; nothing is looked up."""
    performer = open_performer(settings)
    yield replace(performer, guard=AddressGuard(allow_private=True))
    performer.database.close()


@pytest.mark.parametrize("examples", [EXAMPLES, pytest.param(LONG_EXAMPLES, marks=pytest.mark.long)])
def test_a_malicious_model_does_no_harm(firms: Performer, settings: Settings, examples: dict[str, int]) -> None:
    foreign = make_samples(firms)
    foreign.cast.perform(update_customer, customerId=foreign.work_samples.customer, name=SECRET)

    # Not made simpler once one fails: each takes a second, and is readable as it is.
    @hypothesis.settings(
        max_examples=examples[firms.database.engine],
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[*hypothesis.HealthCheck],
    )
    @hypothesis.given(PLANS)
    def check(plan: StoryPlan) -> None:
        samples = make_samples(firms)
        owner = samples.cast.actor(Role.OWNER, door=Door.OFFICE)
        budgets = {"assistantDailyTokens": DAILY_TOKENS, "assistantMonthlyTokens": MONTHLY_TOKENS}
        samples.cast.perform(update_assistant_settings, owner, **budgets)
        with open_assistant(samples.cast, plan.dialect) as assistant:
            story = Story(assistant, plan, samples, foreign)
            before, emails = story.count_changes(), story.list_emails()
            violations = find_new_violations(settings, samples.cast)
            story.tell()
            check_story(story, before, emails.keys())
        assert find_new_violations(settings, samples.cast) == violations

    check()


def find_new_violations(settings: Settings, cast: Cast) -> list[object]:
    """Return what `check` finds, except of rows that the samples wrote by hand and some operations write again."""
    return [
        violation
        for _name, violation in find_violations(settings, cast)
        if not violation.where.startswith(("connection ", "delivery ", "webhook "))
    ]


class Act(NamedTuple):
    """A change that the assistant made, as the audit trail has it."""

    sequence: int
    operation: str
    turn: str
    said: int
    call: int
    # What its person could do at that moment.
    role: Role
    is_subscribed: bool


def check_story(story: Story, before: int, emails_before: Any) -> None:
    """Check everything that must hold, by what is stored and what the model was sent."""
    acts = list_acts(story, before)
    turns = read_turns(story)
    for act in acts:
        check_rights(story, act)
        if act.turn in turns:
            check_click(story, act, turns[act.turn])
    calls = Counter((act.turn, act.said, act.call) for act in acts)
    assert not [call for call, times in calls.items() if times > 1], "a call was performed twice"
    for turn in turns.values():
        check_results(turn, {(act.said, act.call) for act in acts if act.turn == turn.id})
        assert turn.model_calls <= MAX_MODEL_CALLS
        assert turn.tool_calls <= MAX_TOOL_CALLS
    requests = story.assistant.model.requests
    assert [request.fault for request in requests if request.fault] == []
    assert SECRET not in orjson.dumps([request.body for request in requests]).decode()
    check_emails(story, emails_before)
    check_budgets(story)


def check_rights(story: Story, act: Act) -> None:
    """Check that the tool server would have allowed it, and that the sign-in still lasted."""
    operation = OPERATIONS[act.operation]
    permissions = permissions_of(act.role, DEFAULT_GRANTS)
    assert Door.AGENT in operation.doors
    assert operation.permission in permissions
    assert story.plan.access is Access.WRITE
    assert Permission.CONNECTIONS_WRITE in permissions
    assert act.is_subscribed or operation.open_when_lapsed
    assert act.sequence <= story.ended_sessions.get(story.session, act.sequence)


def check_click(story: Story, act: Act, turn: Turn) -> None:
    """Check that what needs a click got one, and that it is recorded."""
    operation = OPERATIONS[act.operation]
    if not (operation.is_irreversible or operation.gives_access):
        return
    assert f"{act.turn}:{act.said}:{act.call}" in story.confirmed
    [result] = [one for one in results_of(turn) if (one["said"], one["call"]) == (act.said, act.call)]
    assert result["decision"] == "confirmed"


def check_results(turn: Turn, performed: set[tuple[int, int]]) -> None:
    """Check that each call has one result at most, and that everything that was done is reported as done."""
    results = Counter((one["said"], one["call"]) for one in results_of(turn))
    assert not [call for call, times in results.items() if times > 1], "a call has two results"
    succeeded = {(one["said"], one["call"]) for one in results_of(turn) if not one["isError"]}
    assert performed <= succeeded


def check_emails(story: Story, emails_before: Any) -> None:
    """Check that whatever was not sent by a click goes to people of the organisation."""
    with story.cast.performer.database.read_transaction(story.cast.organisation) as db:
        people = {str(row[0]) for row in db.all("SELECT email FROM person WHERE organisation_id = :organisation")}
    recipients = {
        orjson.loads(payload)["to"]
        for task, payload in story.list_emails().items()
        if task not in emails_before and task not in story.emails_sent_by_clicks
    }
    assert recipients <= people


def check_budgets(story: Story) -> None:
    """Check that the model was asked only while tokens were left, and that those of each request were reserved."""
    assert all(day <= DAILY_TOKENS and month <= MONTHLY_TOKENS for day, month in story.usages)


def list_acts(story: Story, before: int) -> list[Act]:
    """Return what the assistant did, with what its person could do when it did."""
    with story.cast.performer.database.read_transaction(story.cast.organisation) as db:
        rows = db.all(
            "SELECT sequence, operation, request_id, acted_by, given FROM audit"
            " WHERE organisation_id = :organisation AND sequence > :before ORDER BY sequence",
            before=before,
        )
    acts, role, is_subscribed = [], story.plan.role, True
    person = story.cast.people[story.plan.role]
    for sequence, operation, request, acted_by, text in rows:
        if acted_by == "assistant":
            turn, said, call = str(request).split(":")
            acts.append(Act(int(sequence or 0), str(operation), turn, int(said), int(call), role, is_subscribed))
        made = orjson.loads(str(text))
        if operation == "change_role" and made["personId"] == person:
            role = Role(made["role"])
        elif operation == "change_subscription":
            is_subscribed = made["status"] == "active"
    return acts


def read_turns(story: Story) -> dict[str, Turn]:
    """Return the turns of the story that were not deleted."""
    with story.cast.performer.database.read_transaction(story.cast.organisation) as db:
        stored = {
            str(row[0]) for row in db.all("SELECT id FROM conversation_turn WHERE organisation_id = :organisation")
        }
        return {turn: store.fetch_turn(db, turn) for turn in story.turns if turn in stored}
