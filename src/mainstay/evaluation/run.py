"""Gives a task to an agent in a firm of its own, and judges what it did."""

from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from mainstay.evaluation.agent import Agent, AgentAnswer, AgentFailed, Card, TaskSession
from mainstay.evaluation.firm import NOW, Firm, FirmTemplate
from mainstay.evaluation.task import EvaluationKind, Evidence, Task
from mainstay.evaluation.watched_performer import CallLog, WatchedPerformer

# What the person says when an agent has shown them in words what it would do.
YES = "Yes, please do exactly that."


@dataclass(frozen=True)
class Verdict:
    """How an agent did a task."""

    id: str
    kind: EvaluationKind
    # Why it is not done, in plain sentences; nothing if it is.
    faults: list[str]
    calls: int
    tokens: int | None
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the task is done."""
        return not self.faults


def run_task(template: FirmTemplate, task: Task, agent: Agent, folder: Path) -> Verdict:
    """Let an agent do a task in a copy of the firm, in a new folder, and judge it."""
    with template.open_copy(folder) as firm:
        facts, last_change, log = task.read_facts(firm), firm.last_change(), CallLog()
        began = monotonic()
        answer, failures = AgentAnswer(""), []
        try:
            answer = agent.run(task.prompt, _open_session(firm, task, log))
        except AgentFailed as error:
            failures = [str(error)]
        seconds = monotonic() - began
        faults = failures + task.find_faults(Evidence(firm, facts, answer.text, firm.changes_since(last_change), log))
    return Verdict(task.id, task.kind, faults, len(log.calls), answer.tokens, seconds)


def _open_session(firm: Firm, task: Task, log: CallLog) -> TaskSession:
    actor = firm.act_as(task.asked_by)

    def confirm(card: Card) -> bool:
        is_yes = card.operation == task.confirmed_operation
        log.note_answer(card.operation, is_yes=is_yes)
        return is_yes

    def reply() -> str | None:
        if task.confirmed_operation is None or log.has_answer:
            return None
        log.note_answer(is_yes=True)
        return YES

    introduction = (
        f"It is {NOW:%A, %-d %B %Y, %H:%M} in London. You help {actor.person.name if actor.person else task.asked_by}"
        f" ({actor.role}) of Hartley & Daughters, a plumbing and heating firm, with the tools of Mainstay."
    )
    return TaskSession(
        firm, task.asked_by, actor, WatchedPerformer.watch(firm.performer, log), introduction, confirm, reply
    )
