"""The search of the office: its page, and what is offered while one types."""

import re

import pytest

from doors.office.test_customers import extract_main
from mainstay.business.records.search import search
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.layouts import LAYOUTS
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import ADDRESS, make_contact, make_customer, make_job, make_site
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.servers import RunningServer


def create_records(cast: Cast) -> dict[str, str]:
    customer = make_customer(cast, phone="01422 555010")
    site = make_site(cast, customer, name="The mill")
    contact = make_contact(cast, customer)
    return {"customer": customer, "site": site, "contact": contact, "job": make_job(cast, customer, siteId=site)["id"]}


def find_hits(session: BrowserSession, query: str) -> list[dict[str, str]]:
    answer = session.get(f"/find?{query}")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    found: list[dict[str, str]] = answer.json()["hits"]
    return found


def test_every_page_has_the_search_a_key_away(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for path in ("/", "/jobs", "/customers/new", "/settings/account"):
        page = session.get(path).text
        assert '<form class="search" method="get" action="/search" role="search"' in page
        assert 'aria-keyshortcuts="/ Control+K"' in page


@pytest.mark.parametrize("role", list(Role))
def test_on_a_phone_the_search_has_a_way_of_its_own(server: RunningServer, cast: Cast, role: Role) -> None:
    page = sign_in_new_person(server, cast, role).get("/").text
    assert re.search(r'<a class="seek" href="/search"><span class="unseen">Search</span>', page)
    # And stands on top of what else there is.
    assert '<div class="sheet"><a href="/search">Search</a><a href="/">Home</a>' in page


def test_what_is_found_stands_by_kind_with_its_page(server: RunningServer, cast: Cast) -> None:
    made = create_records(cast)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = extract_main(session.get("/search?text=calder").text)
    assert re.findall(r"<h2[^>]*>(\w+)</h2>", page) == ["Customers", "Sites", "Contacts", "Jobs"]
    for kind, record_id in made.items():
        assert f"/{kind}s/{record_id}" in page
    assert 'value="calder"' in page
    page = extract_main(session.get("/search?text=boiler").text)
    assert re.findall(r"<h2[^>]*>(\w+)</h2>", page) == ["Jobs"]


def test_the_kind_stands_first_in_which_something_is_called_so(server: RunningServer, cast: Cast) -> None:
    make_site(cast, make_customer(cast, "Calder Property", billingAddress=ADDRESS), name="Weir mill")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    assert re.findall(r"<h2[^>]*>(\w+)</h2>", extract_main(session.get("/search?text=weir").text)) == [
        "Sites",
        "Customers",
    ]
    assert [hit["kind"] for hit in find_hits(session, "text=weir")] == ["Sites", "Customers"]


def test_every_kind_that_is_searched_is_told_by_the_name_of_its_list() -> None:
    searched = {listing.output.noun for listing, _ in CATALOGUE.record_stores.values() if listing.search_fields}
    assert searched <= {layout.kind.output.noun for layout in LAYOUTS if layout.list_operation}


def test_a_payment_is_called_as_pages_write_it_and_programs_get_it_plainly(server: RunningServer, cast: Cast) -> None:
    invoice = issue_invoice(cast, make_invoice(cast, lines=[{"description": "Boiler", "unitPrice": "1440"}]))
    payment = pay_invoice(cast, invoice, on="2026-11-03")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    found = {hit["object"]: hit["title"] for hit in find_hits(session, "text=1440.00")}
    assert found == {"payment": "£1,440.00 of 3 Nov 2026", "invoice": f"{invoice['number']} New heating"}
    assert f'/payments/{payment["id"]}">£1,440.00 of 3 Nov 2026</a>' in session.get("/search?text=1440.00").text
    api_hits = cast.perform(search, text="1440.00")["hits"]
    assert "1440.00 GBP of 2026-11-03" in [hit["title"] for hit in api_hits]


def test_while_one_types_a_few_are_offered_and_told_that_there_is_more(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    for _ in range(9):
        make_job(cast, customer)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    answer = session.get("/find?text=boiler")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    found = answer.json()
    assert ([hit["kind"] for hit in found["hits"]], found["hasMore"]) == (["Jobs"] * 8, True)
    assert len(find_hits(session, "kind=job&text=boiler")) == 8
    assert session.get("/find?text=J-0009").json()["hasMore"] is False


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nothing-like-it", "Nothing found for “nothing-like-it”. Try fewer letters or another word."),
        ("x", "Search is too short; enter a word of at least two letters or digits."),
        ("<b>bold</b>", "Nothing found for “<b>bold</b>”."),
    ],
)
def test_where_nothing_is_found_it_says_what_to_do(server: RunningServer, cast: Cast, text: str, told: str) -> None:
    answer = sign_in_new_person(server, cast, Role.OFFICE).get(f"/search?text={text}")
    assert answer.status_code == 200
    assert "<b>bold" not in answer.text
    assert told in visible_text(extract_main(answer.text))


def test_an_empty_search_asks_what_to_look_for(server: RunningServer, cast: Cast) -> None:
    for query in ("", "?text=", "?text=%20"):
        shown = extract_main(sign_in_new_person(server, cast).get(f"/search{query}").text)
        assert "Nothing found" not in shown
        assert 'name="text"' in shown


def test_while_one_types_the_records_of_a_kind_are_offered(server: RunningServer, cast: Cast) -> None:
    made = create_records(cast)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    assert [hit["id"] for hit in find_hits(session, "kind=customer&text=cald")] == [made["customer"]]
    assert [hit["id"] for hit in find_hits(session, "kind=site&text=cald")] == [made["site"]]
    assert {hit["object"] for hit in find_hits(session, "text=cald")} == {"customer", "site", "contact", "job"}
    assert (
        find_hits(session, "kind=customer&text=c")
        == find_hits(session, "kind=customer")
        == find_hits(session, "")
        == []
    )
    (hit,) = find_hits(session, "kind=job&text=J-0001")
    assert (hit["title"], hit["detail"]) == ("J-0001 Replace the boiler", "Calder Property")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_finds_nothing_of_others(server: RunningServer, cast: Cast, role: Role) -> None:
    create_records(cast)
    session = sign_in_new_person(server, cast, role)
    for text in ("calder", "J-0001", "01422 555010", "weir"):
        assert find_hits(session, f"text={text}") == []
        assert "Calder" not in visible_text(extract_main(session.get(f"/search?text={text}").text)).replace(
            f"“{text}”", ""
        )


def test_nothing_is_told_to_whoever_is_not_signed_in(server: RunningServer) -> None:
    for path in ("/find?text=calder", "/search?text=calder"):
        assert BrowserSession(server).get(path).status_code in {303, 401}


def test_a_text_of_any_length_and_kind_is_taken(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    for text in ("x" * 3000, "%F0%9F%98%80%F0%9F%98%80", "%00", "%FF", "a%20b%20c%20d%20e%20f%20g%20hh"):
        for path in ("/search", "/find"):
            assert session.get(f"{path}?text={text}").status_code < 500


def test_of_one_customer_all_sites_are_offered_before_anyone_types(server: RunningServer, cast: Cast) -> None:
    mine, other = make_customer(cast), make_customer(cast, "Beam")
    make_site(cast, mine, name="The mill")
    make_site(cast, other, name="The lock")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    (hit,) = find_hits(session, f"kind=site&customerId={mine}")
    assert (hit["title"], "Calder Property" in hit["detail"]) == ("The mill", True)
    assert find_hits(session, f"kind=site&customerId={mine}&text=lock") == []
    # Kinds without a customer are not limited to one.
    assert find_hits(session, f"kind=supplier&customerId={mine}") == []
