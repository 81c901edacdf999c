"""The report on what is owed to suppliers, by age."""

from mainstay.business.purchasing.bills import list_bills, update_bill
from support.cast import Cast
from support.hours import cast_at
from support.prices import make_supplier
from support.purchases import make_bill
from support.reports import name_rows, perform_report

AGE_COLUMNS = ("notDue", "late1To30", "late31To60", "lateOver60")


def test_each_figure_by_age_is_the_sum_of_the_bills_behind_it(cast: Cast) -> None:
    cast = cast_at(cast)
    supplier = make_supplier(cast)
    # Today is 16 November; each pair is the last day of one column and the first of the next.
    days = ("2026-11-16", "2026-11-15", "2026-10-17", "2026-10-16", "2026-09-17", "2026-09-16")
    for number, due_on in enumerate(days):
        bill = make_bill(cast, supplierId=supplier, supplierNumber=f"B{number}", on="2026-09-01", dueOn=due_on)
        cast.perform(update_bill, billId=bill["id"], status="approved")
    report = perform_report(cast, "payables")
    [row] = name_rows(report, *AGE_COLUMNS)
    assert row == {"notDue": "60.00", "late1To30": "120.00", "late31To60": "120.00", "lateOver60": "60.00"}
    for column in AGE_COLUMNS:
        behind = report["columnsBehind"][column]
        bills = cast.perform(list_bills, supplierId=supplier, **behind["given"])["data"]
        assert sum(float(bill["total"]) for bill in bills) == float(row[column]), column
