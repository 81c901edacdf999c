"""What a model is sent fits into what it can read, and what matters most is in it."""

import orjson
import pytest

from mainstay.business.assistant.model import Step, StepKind, Turn, TurnStatus
from mainstay.doors.assistant.models.conversation import CallResults, ModelReply, ModelTool, UserText
from mainstay.doors.assistant.prompt import CHARACTERS_PER_TOKEN, build_messages, choose_tools, describe_tools
from mainstay.vocabulary.permissions import ROLE_PERMISSIONS, Access, Role
from support.assistant import TOOLS

SMALL_CONTEXTS = [8_000, 16_000, 32_000]
CORE = {"get_me", "get_overview", "search", "get_organisation", "undo_change"}


def all_tools() -> tuple[ModelTool, ...]:
    return describe_tools(TOOLS, ROLE_PERMISSIONS[Role.OFFICE], Access.WRITE)


def size_of(tools: list[ModelTool]) -> int:
    return sum(len(tool.name) + len(tool.description) + len(orjson.dumps(tool.input_schema)) for tool in tools)


def make_turn(number: int, *results: str) -> Turn:
    """Make a turn whose only reply calls a tool for each result."""
    calls = [[f"call_{number}_{position}", "list_jobs", "{}"] for position in range(len(results))]
    said = {"text": "I look.", "calls": calls, "raw": None, "reason": "tools"}
    steps = [Step(1, StepKind.SAID, said, "")]
    steps += [
        Step(2 + position, StepKind.ANSWERED, {"said": 1, "call": position, "text": text, "isError": False}, "")
        for position, text in enumerate(results)
    ]
    return Turn(
        id=str(number),
        conversation_id="conversation",
        session_id="session",
        question=f"Question {number}",
        record_id=None,
        status=TurnStatus.WORKING,
        problem=None,
        stop_requested=False,
        model_calls=1,
        tool_calls=len(results),
        tokens=0,
        worked_ms=0,
        created_at="",
        ended_at=None,
        steps=tuple(steps),
    )


@pytest.mark.parametrize("context", SMALL_CONTEXTS)
@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("Which invoices are overdue?", "list_invoices"),
        ("Draft a quote for a new boiler", "draft_quote"),
        ("Book a visit for Tuesday morning", "plan_visit"),
        ("Add a new customer called Calder", "create_customer"),
        ("Log two hours on the bathroom job", "log_hours"),
        ("Send a reminder for the unpaid invoice", "send_reminder"),
        ("Who is off sick next week? Time off", "list_time_off"),
        ("Record a payment of 500", "record_payment"),
        ("Show the jobs of Mrs Boyle", "list_jobs"),
        ("What did the supplier bill us?", "list_bills"),
    ],
)
def test_a_small_model_gets_the_tool_that_a_question_needs(context: int, question: str, tool: str) -> None:
    chosen = choose_tools(all_tools(), context, question)
    names = {one.name for one in chosen}
    assert tool in names
    assert names >= CORE
    assert size_of(chosen) <= context * 0.3 * CHARACTERS_PER_TOKEN
    assert len(chosen) < len(all_tools())


def test_a_large_model_gets_every_tool() -> None:
    assert choose_tools(all_tools(), 64_000, "Hello") == [*all_tools()]


def test_of_a_long_conversation_the_latest_turns_are_sent() -> None:
    turns = [make_turn(number, "x" * 3_000) for number in range(20)]
    messages = build_messages(turns, 8_000)
    questions = [message.text for message in messages if isinstance(message, UserText)]
    assert questions == [f"Question {number}" for number in range(16, 20)]
    assert sum(len(str(message)) for message in messages) < 8_000 * CHARACTERS_PER_TOKEN


def test_of_a_long_turn_the_oldest_results_are_left_out() -> None:
    results = [letter * 6_000 for letter in "abcd"]
    earlier = make_turn(0, "x")
    question, reply, told = build_messages([earlier, make_turn(1, *results)], 8_000)
    assert isinstance(told, CallResults)
    assert isinstance(reply, ModelReply)
    assert question == UserText("Question 1")
    assert [result.call_id for result in told.results] == [call.id for call in reply.calls]
    assert [len(result.text) for result in told.results][2:] == [6_000, 6_000]
    assert [result.text[-6:] for result in told.results][:2] == ["limit."] * 2
    assert sum(len(result.text) for result in told.results) < 8_000 * 0.5 * CHARACTERS_PER_TOKEN + 500


def test_a_turn_that_has_room_is_sent_whole() -> None:
    told = build_messages([make_turn(0, "a" * 1_000, "b" * 1_000)], 8_000)[-1]
    assert isinstance(told, CallResults)
    assert [result.text for result in told.results] == ["a" * 1_000, "b" * 1_000]
