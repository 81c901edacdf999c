"""`mainstay assistant eval`: gives the tasks to an agent, and shows which of them it did."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.cli.output import CheckFailed
from mainstay.evaluation.agent import Agent
from mainstay.evaluation.built_in_agent import BuiltInAgent
from mainstay.evaluation.firm import FirmTemplate
from mainstay.evaluation.outside_agent import OutsideAgent
from mainstay.evaluation.run import run_task
from mainstay.evaluation.task import Task
from mainstay.evaluation.tasks import TASKS
from mainstay.serve_command import check_port, create_run_files
from mainstay.settings import Settings, read_settings
from mainstay.values.json_object import JsonObject
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict


def assistant_eval(settings: Settings, options: Namespace) -> JsonObject:
    """Let an agent do the tasks, each in a firm of its own; raise CheckFailed if it fails one."""
    tasks = _choose_tasks(options.task, options.kind)
    # A program that reads the outcome gets no progress. What has to be handed to the agent is shown in any case.
    report = _ignore if options.json else _show
    agent: Agent = (
        OutsideAgent(_show, sys.stdin.readline) if options.mcp else BuiltInAgent(_choose_model(settings, options))
    )
    with TemporaryDirectory(prefix="mainstay-evaluation-") as folder:
        report("Making the firm ...")
        template = _make_template(Path(folder) / "template", options.port)
        verdicts = []
        for number, task in enumerate(tasks, 1):
            report(f"Task {number} of {len(tasks)}: {task.id} ({task.kind})")
            verdicts.append(verdict := run_task(template, task, agent, Path(folder) / "task"))
            report("  Passed." if verdict.passed else f"  Failed: {' '.join(verdict.faults)}")
    failed = sum(1 for verdict in verdicts if not verdict.passed)
    outcome: JsonObject = {
        "passed": len(verdicts) - failed,
        "failed": failed,
        "tasks": [{**asdict(verdict), "passed": verdict.passed} for verdict in verdicts],
    }
    if failed:
        raise CheckFailed(outcome, f"{failed} of {len(verdicts)} tasks failed.")
    return outcome


def _choose_tasks(ids: Sequence[str], kind: str | None) -> list[Task]:
    unknown = {*ids} - {task.id for task in TASKS}
    if unknown:
        raise Conflict(Message("There is no task '{name}'.", name=min(unknown)))
    return [task for task in TASKS if (task.id in ids or not ids) and kind in {None, task.kind}]


def _choose_model(settings: Settings, options: Namespace) -> ModelSettings:
    """Return the model to evaluate: that of the options, or else of the installation."""
    url, model = options.model_url or settings.assistant_url, options.model or settings.assistant_model
    if not url or not model:
        raise Conflict(
            Message("No model is set up. Name one with --model-url and --model, or use --mcp for another agent.")
        )
    dialect = ModelDialect(options.dialect or settings.assistant_dialect)
    return ModelSettings(url, dialect, model, settings.assistant_key, allows_private=True)


def _make_template(folder: Path, port: int) -> FirmTemplate:
    # The firm has nothing to do with the operator's own installation.
    settings = replace(read_settings({}), data=folder, port=port, base_url=f"http://127.0.0.1:{port}")
    check_port(settings)
    template = FirmTemplate.make(settings)
    create_run_files(settings)
    return template


def _show(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _ignore(_line: str) -> None:
    """Show nothing."""
