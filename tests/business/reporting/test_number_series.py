from billing import an_invoice, credited, issued, voided
from cast import Cast
from labour import at
from mainstay.business.organisation import numbering
from mainstay.business.organisation.numbering import Series
from reporting import report, rows, totals


def raise_to(cast: Cast, prefix: str, following: int) -> None:
    with cast.stage.database.changing(cast.organisation) as handle:
        handle.run(
            "UPDATE number_series SET prefix = :prefix, next = :next"
            " WHERE organisation_id = :organisation AND kind = 'invoice'",
            prefix=prefix,
            next=following,
        )


def test_each_series_is_told_from_its_first_number_to_its_last(cast: Cast) -> None:
    cast = at(cast)
    for _ in range(3):
        issued(cast)
    an_invoice(cast)
    credited(cast, issued(cast))
    told = report(cast, "numberSeries")
    assert rows(told) == [
        _row("Invoices", "INV-0001", "INV-0004", 4),
        _row("Credit notes", "CN-0001", "CN-0001", 1),
    ]
    assert totals(told, "count", "missing") == {"count": 5, "missing": 0}


def test_a_void_invoice_keeps_its_number_and_is_named(cast: Cast) -> None:
    cast = at(cast)
    first, *_ = (issued(cast) for _ in range(3))
    voided(cast, first)
    [row] = rows(report(cast, "numberSeries"))
    assert (row["count"], row["missing"], row["void"], row["voids"]) == (3, 0, 1, "INV-0001")


def test_a_gap_is_shown_whatever_the_prefix_becomes(cast: Cast) -> None:
    cast = at(cast)
    issued(cast)
    raise_to(cast, "R-", 2)
    issued(cast)
    [row] = rows(report(cast, "numberSeries"))
    assert (row["first"], row["last"], row["gaps"]) == ("INV-0001", "R-0002", "none")
    raise_to(cast, "R-", 4)
    issued(cast)
    raise_to(cast, "R-", 9)
    issued(cast)
    [row] = rows(report(cast, "numberSeries"))
    assert (row["last"], row["count"], row["missing"], row["gaps"]) == ("R-0009", 4, 5, "3, 5\N{EN DASH}8")


def test_more_gaps_than_are_named_are_counted(cast: Cast) -> None:
    cast = at(cast)
    for number in range(53):
        issued(cast)
        raise_to(cast, "INV-", 2 * number + 3)
    [row] = rows(report(cast, "numberSeries"))
    assert row["missing"] == 52
    assert row["gaps"].endswith("98, 100, and 2 more")


def test_only_numbers_given_between_the_dates_are_told(cast: Cast) -> None:
    for day in ("10", "11", "12"):
        issued(at(cast, f"2026-11-{day}T12:00:00Z"))
    [row] = rows(report(at(cast), "numberSeries", **{"from": "2026-11-11", "until": "2026-11-11"}))
    assert (row["first"], row["last"], row["count"]) == ("INV-0002", "INV-0002", 1)


def test_a_number_has_a_place_whatever_stands_before_it() -> None:
    for prefix in ("INV-", "2026/", ""):
        assert numbering.place_of(Series(prefix, 4, 12).number()) == 12
    assert numbering.place_of("none") is None


def _row(series: str, first: str, last: str, count: int) -> dict[str, object]:
    numbers = {"series": series, "first": first, "last": last, "count": count}
    return numbers | {"missing": 0, "gaps": "none", "void": 0, "voids": "none"}
