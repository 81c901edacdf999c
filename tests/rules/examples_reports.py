"""For each operation on reports an input that it takes, about a customer."""

from collections.abc import Callable

ExampleInput = dict[str, object]

REPORT_EXAMPLES: dict[str, Callable[[str], ExampleInput]] = {
    "get_report": lambda customer: {"name": "jobProfit", "customerId": customer},
    "get_month_end_pack": lambda _: {"month": "2026-11"},
    "list_postings": lambda _: {},
    "get_customer_balance": lambda customer: {"customerId": customer},
}
