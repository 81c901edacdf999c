"""The built-in assistant does each task if its model is good enough, and the operator's command evaluates it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.evaluation.agent import AgentAnswer, AgentFailed, TaskSession
from mainstay.evaluation.built_in_agent import BuiltInAgent
from mainstay.evaluation.firm import FirmTemplate
from mainstay.evaluation.run import run_task
from mainstay.evaluation.task import Task
from mainstay.evaluation.tasks import TASKS
from support.evaluated_agents import Script
from support.evaluation_scripts import IDEAL_SCRIPTS
from support.model_server import ModelServer, run_model_server_thread
from support.model_streams import ScriptedError
from support.scripted_model import follow_script


@dataclass(frozen=True)
class ScriptedBuiltInAgent:
    """The built-in assistant with a model that follows a script."""

    model: ModelServer
    script: Script

    def run(self, prompt: str, session: TaskSession) -> AgentAnswer:
        """Do what the prompt asks."""
        with follow_script(self.model, self.script, session):
            return BuiltInAgent(self.model.make_settings(ModelDialect.CHAT)).run(prompt, session)


@pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])
def test_the_assistant_does_each_task(template: FirmTemplate, tmp_path: Path, task: Task) -> None:
    with run_model_server_thread() as model:
        agent = ScriptedBuiltInAgent(model, IDEAL_SCRIPTS[task.id])

        result = run_task(template, task, agent, tmp_path / "copy")

        assert result.faults == []
        assert result.tokens


def test_a_model_that_fails_fails_the_task(template: FirmTemplate, tmp_path: Path) -> None:
    with run_model_server_thread() as model:
        model.answer = lambda _request: ScriptedError(401, "no such key", "authentication_error")
        agent = BuiltInAgent(model.make_settings(ModelDialect.CHAT))
        [fault, *_] = run_task(template, TASKS[0], agent, tmp_path / "copy").faults
    assert "key" in fault
    assert issubclass(AgentFailed, Exception)
