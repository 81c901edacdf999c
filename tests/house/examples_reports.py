"""For each operation on reports an input that it takes, about a customer."""

from collections.abc import Callable

Given = dict[str, object]

REPORT_EXAMPLES: dict[str, Callable[[str], Given]] = {
    "get_report": lambda customer: {"name": "jobProfit", "customerId": customer},
    "list_postings": lambda _: {},
    "get_customer_balance": lambda customer: {"customerId": customer},
}
