"""The operator's commands about failed tasks of the outbox."""

from argparse import Namespace

from mainstay.business.organisation.failed_work import drop_work, list_failed_work, retry_work
from mainstay.changes import outbox
from mainstay.changes.outbox_depth import measure_lanes
from mainstay.doors.cli.operator import Operator
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary import actor


def outbox_list(operator: Operator, _options: Namespace) -> JsonObject:
    """List the failed tasks of all organisations, and how many wait in each lane."""
    with operator.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        measured = measure_lanes(db)
        organisations = outbox.find_organisations_with_failures(db)
    failed = [
        {"organisation": organisation, **work}
        for organisation in organisations
        for work in operator.list_all(list_failed_work, actor.operator_actor(organisation))
    ]
    lanes = [
        {"lane": lane.value, "waiting": depth.count_waiting(), "oldestDueAt": depth.oldest_due}
        for lane, depth in measured.items()
    ]
    return {"waiting": sum(lane["waiting"] for lane in lanes), "lanes": lanes, "failed": failed}


def outbox_retry(operator: Operator, options: Namespace) -> JsonObject:
    """Try a failed task again."""
    work = operator.perform(retry_work, operator.act_for_failed_work(options.work), workId=options.work)
    return {"id": work["id"], "status": work["status"]}


def outbox_drop(operator: Operator, options: Namespace) -> JsonObject:
    """Drop a failed task, so that it is never done."""
    acting = operator.act_for_failed_work(options.work)
    return {"id": operator.perform(drop_work, acting, workId=options.work, confirmed=True)["id"]}
