"""For any operation on the work of an organisation: an input that it takes, with what it is about made first."""

from collections.abc import Callable
from typing import Any

from cast import Cast
from house.examples_hours import HOURS_EXAMPLES, furnish_hours
from house.examples_invoices import INVOICE_EXAMPLES, furnish_invoices
from house.examples_prices import PRICE_EXAMPLES, furnish_prices
from house.examples_purchasing import PURCHASE_EXAMPLES, furnish_purchases
from house.examples_quotes import QUOTE_EXAMPLES, furnish_quotes
from house.examples_records import document, furnish_documents, listed
from house.examples_reports import REPORT_EXAMPLES
from house.examples_schedule import SCHEDULE_EXAMPLES, furnish_schedule
from house.examples_work import WORK_EXAMPLES, Work, furnish_work
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import Role

Given = dict[str, object]


def example(cast: Cast, operation: Operation, role: Role = Role.OWNER) -> Given:
    """What a person of this role can give it; nothing, where it needs nothing."""
    work = furnish_work(cast)
    if operation.name in SCHEDULE_EXAMPLES:
        return SCHEDULE_EXAMPLES[operation.name](furnish_schedule(cast, work.job), role)
    if operation.name in HOURS_EXAMPLES:
        return HOURS_EXAMPLES[operation.name](furnish_hours(cast, work.job), role)
    rooms: list[tuple[dict[str, Callable[[Any], Given]], Callable[[], object]]] = [
        (WORK_EXAMPLES, lambda: work),
        (PRICE_EXAMPLES, lambda: furnish_prices(cast)),
        (QUOTE_EXAMPLES, lambda: furnish_quotes(cast, work.customer)),
        (INVOICE_EXAMPLES, lambda: _invoices(cast, work)),
        (PURCHASE_EXAMPLES, lambda: furnish_purchases(cast, furnish_prices(cast).supplier, work.job)),
    ]
    for examples, furnish in rooms:
        if operation.name in examples:
            return examples[operation.name](furnish())
    furnish_documents(cast, work.job)
    made = {name: about(work.customer) for name, about in REPORT_EXAMPLES.items()}
    made |= {"get_document": document(cast, role), "list_documents": listed(cast)}
    return made.get(operation.name, {})


def _invoices(cast: Cast, work: Work) -> object:
    furnish_prices(cast)
    return furnish_invoices(cast, work.customer, work.job)
