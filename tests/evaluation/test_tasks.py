"""Every task can be done with the tools, and its judge says so; and for every task there is a way to fail it."""

from collections import Counter
from pathlib import Path

import pytest

from mainstay.evaluation.firm import FirmTemplate
from mainstay.evaluation.run import run_task
from mainstay.evaluation.task import Task
from mainstay.evaluation.tasks import TASKS
from support.evaluated_agents import ScriptedAgent, connect_directly, connect_over_mcp
from support.evaluation_scripts import IDEAL_SCRIPTS

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
