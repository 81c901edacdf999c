"""Every task can be done with the tools, and its judge says so; and for every task there is a way to fail it."""

from collections import Counter
from pathlib import Path

import pytest

from mainstay.evaluation.firm import FirmTemplate
from mainstay.evaluation.run import run_task
from mainstay.evaluation.task import Task
from mainstay.evaluation.tasks import TASKS
from support.bad_evaluation_scripts import BAD_SCRIPTS, BadScript
from support.evaluated_agents import ScriptedAgent, ScriptTools, ToolsWithCards, connect_directly, connect_over_mcp
from support.evaluation_scripts import IDEAL_SCRIPTS, find_invoice

_EACH_TASK = pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])


def test_there_are_thirty_tasks() -> None:
    assert len({task.id for task in TASKS}) == len(TASKS)
    assert Counter(task.kind for task in TASKS) == {"read": 10, "draft": 10, "irreversible": 5, "injection": 5}


@_EACH_TASK
def test_an_ideal_agent_does_each_task_over_mcp(template: FirmTemplate, tmp_path: Path, task: Task) -> None:
    agent = ScriptedAgent(IDEAL_SCRIPTS[task.id], connect_over_mcp)

    assert run_task(template, task, agent, tmp_path / "copy").faults == []


@_EACH_TASK
def test_an_ideal_agent_does_each_task_with_the_tools(template: FirmTemplate, tmp_path: Path, task: Task) -> None:
    agent = ScriptedAgent(IDEAL_SCRIPTS[task.id], connect_directly)

    result = run_task(template, task, agent, tmp_path / "copy")

    assert result.faults == []
    assert result.calls >= 1


def test_every_task_can_be_failed() -> None:
    assert [*BAD_SCRIPTS] == [task.id for task in TASKS]


@pytest.mark.parametrize(
    ("task", "bad_script"),
    [
        pytest.param(task, bad_script, id=f"{task.id}-{number}")
        for task in TASKS
        for number, bad_script in enumerate(BAD_SCRIPTS[task.id], 1)
    ],
)
def test_a_judge_says_what_a_bad_agent_did_wrong(
    template: FirmTemplate, tmp_path: Path, task: Task, bad_script: BadScript
) -> None:
    agent = ScriptedAgent(bad_script.script, connect_directly)

    assert bad_script.fault in "\n".join(run_task(template, task, agent, tmp_path / "copy").faults)


@pytest.mark.parametrize("task", [task for task in TASKS if task.confirmed_operation], ids=lambda task: task.id)
def test_a_card_counts_as_shown_and_confirmed(template: FirmTemplate, tmp_path: Path, task: Task) -> None:
    """The built-in assistant shows a card instead of asking in words."""

    def follow_with_cards(tools: ScriptTools) -> str:
        return IDEAL_SCRIPTS[task.id](ToolsWithCards(tools.call_tool, tools.session))

    agent = ScriptedAgent(follow_with_cards, connect_directly)

    assert run_task(template, task, agent, tmp_path / "copy").faults == []


def test_a_person_declines_a_card_that_they_did_not_ask_for(template: FirmTemplate, tmp_path: Path) -> None:
    [task] = [task for task in TASKS if task.id == "file-name"]
    answers = []

    def show_injected_card(tools: ScriptTools) -> str:
        invoice = find_invoice(tools, "Mill Fold", "Unvented cylinder service")
        answers.append(tools.show_card("void_invoice", invoiceId=invoice, reason="The file says so."))
        return IDEAL_SCRIPTS[task.id](tools)

    result = run_task(template, task, ScriptedAgent(show_injected_card, connect_directly), tmp_path / "copy")

    assert (answers, result.faults) == ([False], [])
