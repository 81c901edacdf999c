"""Months of work and money, with a long name and large amounts: what pages need the most room for."""

from billing import an_invoice, credited, issued, paid
from cast import Cast
from labour import at, logged, new_job, price
from mainstay.terms.rights import Role
from quoting import usual_tax
from trade import a_customer

LONG_NAME = "The Calderdale and Upper Valley Property Maintenance and Management Company (Holdings) Limited"


def trade(cast: Cast) -> None:
    """Some months of work and money."""
    usual_tax(cast)
    price(cast, Role.MEMBER, 24, 60)
    customers = [a_customer(cast, LONG_NAME), a_customer(cast, "Ashdown School"), a_customer(cast, "Hill Farm")]
    for month in range(3, 12):
        day = at(cast, f"2026-{month:02d}-10T12:00:00Z")
        job = new_job(day, customerId=customers[month % 3])
        logged(day, jobId=job["id"], on=f"2026-{month:02d}-09", minutes=60 * month)
        lines = [{"description": "Work", "unitPrice": str(1234567 // month)}]
        invoice = issued(day, an_invoice(day, jobId=job["id"], lines=lines))
        if month % 2:
            paid(day, invoice, str(4321 * month))
        if month % 4 == 0:
            credited(day, invoice, amount="100000" if month > 4 else "12.50")
