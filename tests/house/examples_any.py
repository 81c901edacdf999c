"""For any operation on the work of an organisation: an input that it takes, with what it is about made first."""

from cast import Cast
from house.examples_hours import HOURS_EXAMPLES, furnish_hours
from house.examples_prices import PRICE_EXAMPLES, furnish_prices
from house.examples_quotes import QUOTE_EXAMPLES, furnish_quotes
from house.examples_records import document, furnish_documents, listed
from house.examples_schedule import SCHEDULE_EXAMPLES, furnish_schedule
from house.examples_work import WORK_EXAMPLES, furnish_work
from mainstay.kernel.operation import Operation
from mainstay.terms.rights import Role

Given = dict[str, object]


def example(cast: Cast, operation: Operation, role: Role = Role.OWNER) -> Given:
    """What a person of this role can give it; nothing, where it needs nothing."""
    work = furnish_work(cast)
    if operation.name in WORK_EXAMPLES:
        return WORK_EXAMPLES[operation.name](work)
    if operation.name in SCHEDULE_EXAMPLES:
        return SCHEDULE_EXAMPLES[operation.name](furnish_schedule(cast, work.job), role)
    if operation.name in HOURS_EXAMPLES:
        return HOURS_EXAMPLES[operation.name](furnish_hours(cast, work.job), role)
    if operation.name in PRICE_EXAMPLES:
        return PRICE_EXAMPLES[operation.name](furnish_prices(cast))
    if operation.name in QUOTE_EXAMPLES:
        return QUOTE_EXAMPLES[operation.name](furnish_quotes(cast, work.customer))
    furnish_documents(cast, work.job)
    return {"get_document": document(cast, role), "list_documents": listed(cast)}.get(operation.name, {})
