"""A valid input for any business operation; the records it needs are made first."""

from collections.abc import Callable
from typing import Any

from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Role
from mainstay.webhooks.endpoints import create_webhook
from rules.examples_assistant import TALK_EXAMPLES, make_talk_samples
from rules.examples_hours import HOURS_EXAMPLES, make_hours_samples
from rules.examples_invoices import INVOICE_EXAMPLES, make_invoice_samples
from rules.examples_prices import PRICE_EXAMPLES, make_price_samples
from rules.examples_purchasing import PURCHASE_EXAMPLES, make_purchase_samples
from rules.examples_quotes import QUOTE_EXAMPLES, make_quote_samples
from rules.examples_records import (
    add_sample_files,
    document_input,
    download_link_input,
    list_documents_input,
    make_deleted_view,
    make_undoable_change,
    make_view,
)
from rules.examples_reports import REPORT_EXAMPLES
from rules.examples_schedule import SCHEDULE_EXAMPLES, make_schedule_samples
from rules.examples_work import WORK_EXAMPLES, WorkSamples, make_work_samples
from support.cast import Cast

ExampleInput = dict[str, object]


def make_example_input(cast: Cast, operation: Operation, role: Role = Role.OWNER) -> ExampleInput:
    """Make an input for a person of this role; empty if the operation needs none."""
    work = make_work_samples(cast)
    if operation.name in SCHEDULE_EXAMPLES:
        return SCHEDULE_EXAMPLES[operation.name](make_schedule_samples(cast, work.job), role)
    if operation.name in HOURS_EXAMPLES:
        return HOURS_EXAMPLES[operation.name](make_hours_samples(cast, work.job), role)
    areas: list[tuple[dict[str, Callable[[Any], ExampleInput]], Callable[[], object]]] = [
        (WORK_EXAMPLES, lambda: work),
        (PRICE_EXAMPLES, lambda: make_price_samples(cast)),
        (QUOTE_EXAMPLES, lambda: make_quote_samples(cast, work.customer)),
        (INVOICE_EXAMPLES, lambda: _make_invoices(cast, work)),
        (PURCHASE_EXAMPLES, lambda: make_purchase_samples(cast, make_price_samples(cast).supplier, work.job)),
    ]
    for examples, furnish in areas:
        if operation.name in examples:
            return examples[operation.name](furnish())
    if operation.name in TALK_EXAMPLES:
        return TALK_EXAMPLES[operation.name](make_talk_samples(cast), role)
    add_sample_files(cast, work.job)
    if operation.name == "list_deliveries":
        return {"webhookId": cast.perform(create_webhook, url="https://hooks.example.com/")["id"]}
    inputs: dict[str, ExampleInput] = {"undo_change": {"changeIds": [make_undoable_change(cast, role)]}}
    inputs |= {name: about(work.customer) for name, about in REPORT_EXAMPLES.items()}
    inputs |= {"get_document": document_input(cast, role), "list_documents": list_documents_input(cast)}
    inputs |= {"request_upload": list_documents_input(cast) | {"name": "Plan.pdf"}}
    inputs |= {"get_download_link": download_link_input(cast, role)}
    view: ExampleInput = {"savedViewId": make_view(cast, role)}
    inputs |= {"update_assistant_settings": {"assistantDailyTokens": 500_000}}
    inputs |= {"create_saved_view": {"listName": "jobs", "name": "On hold", "query": "status=onHold"}}
    inputs |= {"update_saved_view": view | {"name": "Landlords"}, "delete_saved_view": view}
    inputs |= {"restore_saved_view": {"savedViewId": make_deleted_view(cast, role)}}
    return inputs.get(operation.name, {})


def _make_invoices(cast: Cast, work: WorkSamples) -> object:
    make_price_samples(cast)
    return make_invoice_samples(cast, work.customer, work.job)
