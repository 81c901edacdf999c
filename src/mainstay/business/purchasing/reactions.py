"""Updates purchases after suppliers, jobs or settings changed."""

from collections.abc import Mapping

from mainstay.business.jobs.reactions import find_referring_ids
from mainstay.business.jobs.store import REFRESH_JOB_SEARCH
from mainstay.business.organisation.settings import REPRICE_MATERIALS
from mainstay.business.pricelist.store import REFRESH_SUPPLIER_SEARCH
from mainstay.business.purchasing.materials import update_materials
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.changes.outbox import OutboxTask
from mainstay.kernel.context import Context
from mainstay.kernel.reaction import TaskKind
from mainstay.values.message import Message

# How many orders and bills are priced in one transaction. It is limited because other changes wait meanwhile.
_BATCH_SIZE = 200


def refresh_supplier_search_words(ctx: Context, payload: Mapping[str, str]) -> None:
    """Refresh the search words of a supplier's orders and bills."""
    for record_store in (ORDERS, BILLS):
        for record_id in find_referring_ids(ctx, record_store, payload["supplier"], "supplier_id"):
            record_store.refresh_search(ctx, record_id)


def refresh_job_search_words(ctx: Context, payload: Mapping[str, str]) -> None:
    """Refresh the search words of a job's orders."""
    for record_id in find_referring_ids(ctx, ORDERS, payload["job"], "job_id"):
        ORDERS.refresh_search(ctx, record_id)


def reprice_materials(ctx: Context, payload: Mapping[str, str]) -> None:
    """Compute the prices of material that is on no invoice again, batch by batch."""
    documents = ctx.db.all(
        "SELECT DISTINCT document_id FROM material WHERE organisation_id = :organisation AND billed = 0"
        " AND document_id > :after ORDER BY document_id LIMIT :most",
        after=payload.get("after", ""),
        most=_BATCH_SIZE,
    )
    for (document,) in documents:
        update_materials(ctx, str(document))
    if len(documents) == _BATCH_SIZE:
        ctx.add_task(
            OutboxTask(
                REPRICE_MATERIALS, {"after": str(documents[-1][0])}, Message("Update selling prices of materials")
            )
        )


TASK_KINDS = (
    TaskKind(REFRESH_SUPPLIER_SEARCH, refresh_supplier_search_words, "Supplier renamed"),
    TaskKind(REFRESH_JOB_SEARCH, refresh_job_search_words, "Job renamed"),
    TaskKind(REPRICE_MATERIALS, reprice_materials, "Materials repriced"),
)
