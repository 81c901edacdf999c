"""A firm with a long name and large amounts, for which pages need the most room."""

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer
from support.hours import cast_at, make_assigned_job, make_time_entry, set_rates
from support.invoices import credit_issued, issue_invoice, make_invoice, pay_invoice
from support.quotes import make_default_tax_rate

LONG_NAME = "The Calderdale and Upper Valley Property Maintenance and Management Company (Holdings) Limited"


def trade_for_a_year(cast: Cast) -> None:
    """Make some months of jobs, hours, invoices and payments."""
    make_default_tax_rate(cast)
    set_rates(cast, Role.MEMBER, 24, 60)
    customers = [
        make_customer(cast, LONG_NAME),
        make_customer(cast, "Ashdown School"),
        make_customer(cast, "Hill Farm"),
    ]
    for month in range(3, 12):
        day = cast_at(cast, f"2026-{month:02d}-10T12:00:00Z")
        job = make_assigned_job(day, customerId=customers[month % 3])
        make_time_entry(day, jobId=job["id"], on=f"2026-{month:02d}-09", minutes=60 * month)
        lines = [{"description": "Work", "unitPrice": str(1234567 // month)}]
        invoice = issue_invoice(day, make_invoice(day, jobId=job["id"], lines=lines))
        if month % 2:
            pay_invoice(day, invoice, str(4321 * month))
        if month % 4 == 0:
            credit_issued(day, invoice, amount="100000" if month > 4 else "12.50")
