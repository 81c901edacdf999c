"""Every kind of record as the office arranges it."""

from mainstay.doors.office import (
    bills,
    customers,
    developer,
    documents,
    hours,
    invoices,
    jobs,
    orders,
    paperwork,
    people,
    prices,
    quotes,
    schedule,
    settings,
    webhooks,
)
from mainstay.doors.office.arrangement import Arrangement

AREAS = (
    bills, customers, developer, documents, hours, invoices, jobs, orders, paperwork, people, prices, quotes, schedule,
    settings, webhooks,
)  # fmt: skip
ARRANGED = [one for area in AREAS for one in vars(area).values() if isinstance(one, Arrangement)]
