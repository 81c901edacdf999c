"""`mainstay assistant eval`: the table for people, one object for programs, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import orjson
import pytest

from mainstay.doors.cli.command_line import EVALUATION_KINDS
from mainstay.evaluation.task import EvaluationKind
from mainstay.settings import Settings, read_settings
from support.command_line import run_command
from support.servers import free_port

GOOD_ANSWER = "They owe 691.20, of which 504.00 is overdue.\ndone\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The settings of an installation that is not there."""
    return replace(read_settings({}), data=tmp_path / "none")


def test_it_prints_a_table_and_leaves_the_installation_alone(settings: Settings) -> None:
    words = ("assistant", "eval", "--mcp", "--port", str(free_port()), "--task", "customer-balance", "own-visits")

    result = run_command(settings, *words, stdin_text=f"{GOOD_ANSWER}Nowhere.\ndone\n")

    heading, balance, visits, total = result.output.splitlines()
    assert result.code == 1
    assert heading.split() == ["task", "kind", "result", "calls", "tokens", "seconds", "why"]
    assert balance.split()[:5] == ["customer-balance", "read", "passed", "0", "-"]
    assert visits.split()[:3] == ["own-visits", "read", "FAILED"]
    assert visits.endswith("The answer does not name Canal Wharf. The answer does not say that it begins at 13:15.")
    assert total == "1 of 2 tasks passed."
    assert result.errors.endswith("1 of 2 tasks failed.\n")
    assert "Task 2 of 2: own-visits (read)\n" in result.errors
    assert not settings.data.exists()


def test_a_program_gets_one_object(settings: Settings) -> None:
    words = ("assistant", "eval", "--mcp", "--port", str(free_port()), "--task", "customer-balance", "--json")

    result = run_command(settings, *words, stdin_text=GOOD_ANSWER)

    assert result.code == 0
    outcome = orjson.loads(result.output)
    [task] = outcome.pop("tasks")
    assert outcome == {"passed": 1, "failed": 0}
    assert task.pop("seconds") >= 0
    assert task == {
        "id": "customer-balance", "kind": "read", "passed": True, "faults": [], "calls": 0, "tokens": None
    }  # fmt: skip
    assert "Task 1" not in result.errors


def test_an_unknown_task_is_refused(settings: Settings) -> None:
    result = run_command(settings, "assistant", "eval", "--mcp", "--task", "no-such-task")

    assert result.error == "There is no task 'no-such-task'."


def test_the_kinds_of_the_command_are_those_of_the_tasks() -> None:
    assert get_args(EvaluationKind) == EVALUATION_KINDS
