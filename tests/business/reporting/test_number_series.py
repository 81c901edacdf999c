from mainstay.business.organisation import numbering
from mainstay.business.organisation.numbering import NumberSeries
from support.cast import Cast
from support.hours import cast_at
from support.invoices import credit_issued, issue_invoice, make_invoice, void_issued
from support.reports import name_rows, name_totals, perform_report


def set_next_number(cast: Cast, prefix: str, following: int) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run(
            "UPDATE number_series SET prefix = :prefix, next = :next"
            " WHERE organisation_id = :organisation AND kind = 'invoice'",
            prefix=prefix,
            next=following,
        )


def test_each_series_is_told_from_its_first_number_to_its_last(cast: Cast) -> None:
    cast = cast_at(cast)
    for _ in range(3):
        issue_invoice(cast)
    make_invoice(cast)
    credit_issued(cast, issue_invoice(cast))
    result = perform_report(cast, "numberSeries")
    assert name_rows(result) == [
        _build_row("Invoices", "INV-0001", "INV-0004", 4),
        _build_row("Credit notes", "CN-0001", "CN-0001", 1),
    ]
    assert name_totals(result, "count", "missing") == {"count": 5, "missing": 0}


def test_a_void_invoice_keeps_its_number_and_is_named(cast: Cast) -> None:
    cast = cast_at(cast)
    first, *_ = (issue_invoice(cast) for _ in range(3))
    void_issued(cast, first)
    [row] = name_rows(perform_report(cast, "numberSeries"))
    assert (row["count"], row["missing"], row["void"], row["voids"]) == (3, 0, 1, "INV-0001")


def test_a_gap_is_shown_whatever_the_prefix_becomes(cast: Cast) -> None:
    cast = cast_at(cast)
    issue_invoice(cast)
    set_next_number(cast, "R-", 2)
    issue_invoice(cast)
    [row] = name_rows(perform_report(cast, "numberSeries"))
    assert (row["first"], row["last"], row["gaps"]) == ("INV-0001", "R-0002", "none")
    set_next_number(cast, "R-", 4)
    issue_invoice(cast)
    set_next_number(cast, "R-", 9)
    issue_invoice(cast)
    [row] = name_rows(perform_report(cast, "numberSeries"))
    assert (row["last"], row["count"], row["missing"], row["gaps"]) == ("R-0009", 4, 5, "3, 5\N{EN DASH}8")


def test_more_gaps_than_are_named_are_counted(cast: Cast) -> None:
    cast = cast_at(cast)
    for number in range(53):
        issue_invoice(cast)
        set_next_number(cast, "INV-", 2 * number + 3)
    [row] = name_rows(perform_report(cast, "numberSeries"))
    assert row["missing"] == 52
    assert row["gaps"].endswith("98, 100, and 2 more")


def test_only_numbers_given_between_the_dates_are_told(cast: Cast) -> None:
    for day in ("10", "11", "12"):
        issue_invoice(cast_at(cast, f"2026-11-{day}T12:00:00Z"))
    [row] = name_rows(perform_report(cast_at(cast), "numberSeries", **{"from": "2026-11-11", "until": "2026-11-11"}))
    assert (row["first"], row["last"], row["count"]) == ("INV-0002", "INV-0002", 1)


def test_a_number_has_a_place_whatever_stands_before_it() -> None:
    for prefix in ("INV-", "2026/", ""):
        assert numbering.position_of(NumberSeries(prefix, 4, 12).format_next()) == 12
    assert numbering.position_of("none") is None


def _build_row(series: str, first: str, last: str, count: int) -> dict[str, object]:
    numbers = {"series": series, "first": first, "last": last, "count": count}
    return numbers | {"missing": 0, "gaps": "none", "void": 0, "voids": "none"}
