"""What the operator can do about work that could not be done."""

from argparse import Namespace

from mainstay.backing.database import EVERY
from mainstay.business.organisation.work import drop_work, list_failed_work, retry_work
from mainstay.doors.cli.operator import Operator
from mainstay.doors.cli.telling import Outcome
from mainstay.ledger import outbox
from mainstay.ledger.outbox_depth import measure_lanes
from mainstay.terms import actor


def outbox_list(operator: Operator, _words: Namespace) -> Outcome:
    """Everything that failed, in every organisation, and how much waits in each lane."""
    with operator.stage.database.reading(EVERY) as rows:
        measured = measure_lanes(rows)
        organisations = outbox.find_organisations(rows)
    failed = [
        {"organisation": organisation, **work}
        for organisation in organisations
        for work in operator.every(list_failed_work, actor.operator(organisation))
    ]
    lanes = [
        {"lane": lane.value, "waiting": depth.count_waiting(), "oldestDueAt": depth.oldest}
        for lane, depth in measured.items()
    ]
    return {"waiting": sum(lane["waiting"] for lane in lanes), "lanes": lanes, "failed": failed}


def outbox_retry(operator: Operator, words: Namespace) -> Outcome:
    """A piece of work is tried again."""
    work = operator.perform(retry_work, operator.organisation_of_work(words.work), workId=words.work)
    return {"id": work["id"], "status": work["status"]}


def outbox_drop(operator: Operator, words: Namespace) -> Outcome:
    """A piece of work is never done."""
    acting = operator.organisation_of_work(words.work)
    return {"id": operator.perform(drop_work, acting, workId=words.work, confirmed=True)["id"]}
