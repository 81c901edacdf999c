from mainstay.business.pricelist.taxes import save_tax_rate
from support.cast import Cast
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, void_issued
from support.quotes import make_default_tax_rate
from support.reports import make_rate_with_parts, name_rows, name_totals, perform_report


def build_line(price: str, rate: str | None = None) -> dict[str, object]:
    work: dict[str, object] = {"description": "Work", "unitPrice": price}
    return work | ({"taxRateId": rate} if rate else {})


def rename_rate(cast: Cast, rate: str, name: str, part: str) -> None:
    cast.perform(save_tax_rate, taxRateId=rate, name=name, components=[{"name": part, "percent": "12"}])


def test_what_was_taxed_is_told_by_rate(cast: Cast) -> None:
    cast = cast_at(cast)
    full, low = make_rate_with_parts(cast, "Full", VAT="20"), make_rate_with_parts(cast, "Low", VAT="5")
    turned = make_rate_with_parts(cast, "Turned", "reverseCharge", VAT="0")
    first = issue_invoice(cast, make_invoice(cast, lines=[build_line("100", full), build_line("50.10", low)]))
    issue_invoice(cast, make_invoice(cast, lines=[build_line("33.33", full), build_line("10", turned)]))
    credit_issued(cast, first, amount="120")
    result = perform_report(cast, "taxSummary")
    # 120.00 of 172.61 is shared out: 83.43 of full (net 69.53) and 36.57 of low (net 34.83).
    assert name_rows(result) == [
        _build_row("Full", "20.00", "133.33", "26.67", "69.53", "13.90", "63.80", "12.77"),
        _build_row("Low", "5.00", "50.10", "2.51", "34.83", "1.74", "15.27", "0.77"),
        _build_row("Turned", "0.00", "10.00", "0.00", "0.00", "0.00", "10.00", "0.00", category="Reverse charge"),
    ]
    assert name_totals(result, "net", "tax") == {"net": "89.07", "tax": "13.54"}


def test_a_rate_that_is_called_otherwise_stays_one(cast: Cast) -> None:
    cast = cast_at(cast)
    rate = make_rate_with_parts(cast, "Old", VAT="12")
    draft = make_invoice(cast, lines=[build_line("100", rate)])
    rename_rate(cast, rate, "New", "MwSt")
    sent = issue_invoice(cast, draft)
    assert [(tax["name"], tax["components"][0]["name"]) for tax in sent["taxes"]] == [("New", "MwSt")]
    rename_rate(cast, rate, "Newer", "TVA")
    credit_issued(cast, sent)
    (row,) = name_rows(perform_report(cast, "taxSummary"), "rate", "part", "invoicedTax", "creditedTax")
    assert row == {"rate": "Newer", "part": "TVA", "invoicedTax": "12.00", "creditedTax": "12.00"}


def test_it_comes_to_what_the_revenue_does(cast: Cast) -> None:
    october, november = cast_at(cast, "2026-10-10T12:00:00Z"), cast_at(cast)
    make_default_tax_rate(cast, "19")
    first = issue_invoice(october, make_invoice(october, lines=[build_line("99.99"), build_line("0.07")]))
    void_issued(november, issue_invoice(october))
    credit_issued(november, first, amount="33.33")
    for day in (october, november):
        tax, revenue = perform_report(day, "taxSummary"), perform_report(day, "revenue")
        assert name_totals(tax)["net"] == name_totals(revenue)["revenue"]
        assert name_totals(tax)["tax"] == name_totals(revenue)["tax"]


def test_the_parts_of_a_rate_stand_apart_and_their_net_counts_once(cast: Cast) -> None:
    cast = cast_at(cast)
    both = make_rate_with_parts(cast, "Quebec", GST="5", QST="9.975")
    issue_invoice(cast, make_invoice(cast, lines=[build_line("140", both)]))
    result = perform_report(cast, "taxSummary")
    assert name_rows(result, "part", "percent", "net", "tax") == [
        {"part": "GST", "percent": "5.00", "net": "140.00", "tax": "7.00"},
        {"part": "QST", "percent": "9.975", "net": "140.00", "tax": "13.97"},
    ]
    assert name_totals(result, "invoicedNet", "net", "tax") == {
        "invoicedNet": "140.00",
        "net": "140.00",
        "tax": "20.97",
    }
    assert result["notes"][-1].startswith("A rate with several taxes")


def test_what_is_not_taxed_is_told_too(cast: Cast) -> None:
    cast = cast_at(cast)
    issue_invoice(cast, make_invoice(cast, lines=[build_line("7")]))
    assert name_rows(perform_report(cast, "taxSummary"), "rate", "category", "part", "net", "tax") == [
        {"rate": "Not taxed", "category": None, "part": None, "net": "7.00", "tax": "0.00"}
    ]


def test_it_can_be_told_by_month_with_voids_where_they_were_made(cast: Cast) -> None:
    october, november = cast_at(cast, "2026-10-10T12:00:00Z"), cast_at(cast)
    make_default_tax_rate(cast)
    void_issued(november, issue_invoice(october))
    issue_invoice(november, make_invoice(november, lines=[build_line("5")]))
    result = perform_report(november, "taxSummary", by="month")
    assert name_rows(result, "month", "net", "tax") == [
        {"month": "2026-10", "net": "1000.00", "tax": "200.00"},
        {"month": "2026-11", "net": "-995.00", "tax": "-199.00"},
    ]


def test_more_documents_than_are_read_at_once_all_count(cast: Cast) -> None:
    cast = cast_at(cast)
    make_default_tax_rate(cast)
    invoice = issue_invoice(cast, make_invoice(cast, lines=[build_line("1")]))
    copied = (
        "customer_id, kind, currency, prices_include_tax, issued_on, due_on, lines, status, standing, net, tax, total"
    )
    copied += ", taxes, due, created_at, created_by, updated_at, updated_by, version"
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for number in range(1000):
            db.run(
                f"INSERT INTO invoice (organisation_id, id, number, {copied}) SELECT organisation_id, id || :more,"
                f" number || :more, {copied} FROM invoice WHERE organisation_id = :organisation AND id = :id",
                id=invoice["id"],
                more=f"{number:04d}",
            )
    assert name_totals(perform_report(cast, "taxSummary"), "net", "tax") == {"net": "1001.00", "tax": "200.20"}


def _build_row(rate: str, percent: str, *amounts: str, category: str = "Standard") -> dict[str, object]:
    names = ("invoicedNet", "invoicedTax", "creditedNet", "creditedTax", "net", "tax")
    part: dict[str, object] = {"rate": rate, "category": category, "part": "VAT", "percent": percent}
    return part | dict(zip(names, amounts, strict=True))
