from urllib.parse import parse_qs, urlsplit

from mainstay.doors.pages.formatting import route_links
from mainstay.values.address import Address


def make_address(line: str) -> Address:
    return Address(line1=line, city="Halifax", country="GB")


def read_stops(link: str) -> list[str]:
    query = parse_qs(urlsplit(link).query)
    assert urlsplit(link).hostname == "www.google.com"
    return [*query.get("waypoints", [""])[0].split("|"), *query["destination"]]


def test_a_day_is_one_route_through_its_addresses_in_order() -> None:
    # Two visits in a row at one place are one stop, and a visit without an address is none.
    lines = ["1 Mill Fold", "1 Mill Fold", None, "2 Weir Lane", "1 Mill Fold"]
    (part,) = route_links([make_address(line) if line else None for line in lines])
    assert read_stops(part.link) == ["1 Mill Fold, Halifax", "2 Weir Lane, Halifax", "1 Mill Fold, Halifax"]
    assert (part.first, part.last) == (1, 3)


def test_no_route_leads_to_one_place() -> None:
    assert route_links([]) == []
    assert route_links([None, make_address("1 Mill Fold")]) == []


def test_a_link_takes_ten_stops_and_another_the_rest() -> None:
    parts = route_links([make_address(f"{number} Mill Fold") for number in range(21)])
    assert [len([stop for stop in read_stops(part.link) if stop]) for part in parts] == [10, 10, 1]
    assert [(part.first, part.last) for part in parts] == [(1, 10), (11, 20), (21, 21)]
