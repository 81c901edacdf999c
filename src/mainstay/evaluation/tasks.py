"""The thirty tasks."""

from mainstay.evaluation.draft_tasks import DRAFT_TASKS
from mainstay.evaluation.injection_tasks import INJECTION_TASKS
from mainstay.evaluation.irreversible_tasks import IRREVERSIBLE_TASKS
from mainstay.evaluation.read_tasks import READ_TASKS
from mainstay.evaluation.task import Task

TASKS: tuple[Task, ...] = (*READ_TASKS, *DRAFT_TASKS, *IRREVERSIBLE_TASKS, *INJECTION_TASKS)
