from billing import an_invoice, credited, issued, voided
from cast import Cast
from labour import at
from mainstay.business.pricelist.taxes import save_tax_rate
from quoting import usual_tax
from reporting import a_rate, report, rows, totals


def line(price: str, rate: str | None = None) -> dict[str, object]:
    work: dict[str, object] = {"description": "Work", "unitPrice": price}
    return work | ({"taxRateId": rate} if rate else {})


def renamed(cast: Cast, rate: str, name: str, part: str) -> None:
    cast.perform(save_tax_rate, taxRateId=rate, name=name, components=[{"name": part, "percent": "12"}])


def test_what_was_taxed_is_told_by_rate(cast: Cast) -> None:
    cast = at(cast)
    full, low = a_rate(cast, "Full", VAT="20"), a_rate(cast, "Low", VAT="5")
    turned = a_rate(cast, "Turned", "reverseCharge", VAT="0")
    first = issued(cast, an_invoice(cast, lines=[line("100", full), line("50.10", low)]))
    issued(cast, an_invoice(cast, lines=[line("33.33", full), line("10", turned)]))
    credited(cast, first, amount="120")
    told = report(cast, "taxSummary")
    # 120.00 of 172.61 is shared out: 83.43 of full (net 69.53) and 36.57 of low (net 34.83).
    assert rows(told) == [
        _row("Full", "20.00", "133.33", "26.67", "69.53", "13.90", "63.80", "12.77"),
        _row("Low", "5.00", "50.10", "2.51", "34.83", "1.74", "15.27", "0.77"),
        _row("Turned", "0.00", "10.00", "0.00", "0.00", "0.00", "10.00", "0.00", category="Reverse charge"),
    ]
    assert totals(told, "net", "tax") == {"net": "89.07", "tax": "13.54"}


def test_a_rate_that_is_called_otherwise_stays_one(cast: Cast) -> None:
    cast = at(cast)
    rate = a_rate(cast, "Old", VAT="12")
    draft = an_invoice(cast, lines=[line("100", rate)])
    renamed(cast, rate, "New", "MwSt")
    sent = issued(cast, draft)
    assert [(tax["name"], tax["components"][0]["name"]) for tax in sent["taxes"]] == [("New", "MwSt")]
    renamed(cast, rate, "Newer", "TVA")
    credited(cast, sent)
    (row,) = rows(report(cast, "taxSummary"), "rate", "part", "invoicedTax", "creditedTax")
    assert row == {"rate": "Newer", "part": "TVA", "invoicedTax": "12.00", "creditedTax": "12.00"}


def test_it_comes_to_what_the_revenue_does(cast: Cast) -> None:
    october, november = at(cast, "2026-10-10T12:00:00Z"), at(cast)
    usual_tax(cast, "19")
    first = issued(october, an_invoice(october, lines=[line("99.99"), line("0.07")]))
    voided(november, issued(october))
    credited(november, first, amount="33.33")
    for day in (october, november):
        tax, revenue = report(day, "taxSummary"), report(day, "revenue")
        assert totals(tax)["net"] == totals(revenue)["revenue"]
        assert totals(tax)["tax"] == totals(revenue)["tax"]


def test_the_parts_of_a_rate_stand_apart_and_their_net_counts_once(cast: Cast) -> None:
    cast = at(cast)
    both = a_rate(cast, "Quebec", GST="5", QST="9.975")
    issued(cast, an_invoice(cast, lines=[line("140", both)]))
    told = report(cast, "taxSummary")
    assert rows(told, "part", "percent", "net", "tax") == [
        {"part": "GST", "percent": "5.00", "net": "140.00", "tax": "7.00"},
        {"part": "QST", "percent": "9.975", "net": "140.00", "tax": "13.97"},
    ]
    assert totals(told, "invoicedNet", "net", "tax") == {"invoicedNet": "140.00", "net": "140.00", "tax": "20.97"}
    assert told["notes"][-1].startswith("A rate with several parts")


def test_what_is_not_taxed_is_told_too(cast: Cast) -> None:
    cast = at(cast)
    issued(cast, an_invoice(cast, lines=[line("7")]))
    assert rows(report(cast, "taxSummary"), "rate", "category", "part", "net", "tax") == [
        {"rate": "Not taxed", "category": None, "part": None, "net": "7.00", "tax": "0.00"}
    ]


def test_it_can_be_told_by_month_with_voids_where_they_were_made(cast: Cast) -> None:
    october, november = at(cast, "2026-10-10T12:00:00Z"), at(cast)
    usual_tax(cast)
    voided(november, issued(october))
    issued(november, an_invoice(november, lines=[line("5")]))
    told = report(november, "taxSummary", by="month")
    assert rows(told, "month", "net", "tax") == [
        {"month": "2026-10", "net": "1000.00", "tax": "200.00"},
        {"month": "2026-11", "net": "-995.00", "tax": "-199.00"},
    ]


def test_more_documents_than_are_read_at_once_all_count(cast: Cast) -> None:
    cast = at(cast)
    usual_tax(cast)
    invoice = issued(cast, an_invoice(cast, lines=[line("1")]))
    copied = (
        "customer_id, kind, currency, prices_include_tax, issued_on, due_on, lines, status, standing, net, tax, total"
    )
    copied += ", taxes, due, created_at, created_by, updated_at, updated_by, version"
    with cast.stage.database.changing(cast.organisation) as handle:
        for number in range(1000):
            handle.run(
                f"INSERT INTO invoice (organisation_id, id, number, {copied}) SELECT organisation_id, id || :more,"
                f" number || :more, {copied} FROM invoice WHERE organisation_id = :organisation AND id = :id",
                id=invoice["id"],
                more=f"{number:04d}",
            )
    assert totals(report(cast, "taxSummary"), "net", "tax") == {"net": "1001.00", "tax": "200.20"}


def _row(rate: str, percent: str, *amounts: str, category: str = "Standard") -> dict[str, object]:
    names = ("invoicedNet", "invoicedTax", "creditedNet", "creditedTax", "net", "tax")
    part: dict[str, object] = {"rate": rate, "category": category, "part": "VAT", "percent": percent}
    return part | dict(zip(names, amounts, strict=True))
