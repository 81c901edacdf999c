"""The list of one kind of record: counted, ordered, narrowed and paged, all of it by its address."""

import re
from html import unescape
from urllib.parse import parse_qsl

import orjson
import pytest

from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.operations import list_people
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.pages.formatting import format_date
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import RequestDetails
from mainstay.values.ids import new_id
from mainstay.vocabulary.list_queries import COUNT_LIMIT
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import close_job, make_customer, make_job
from support.hours import cast_at, make_time_entry
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.purchases import make_order
from support.quotes import make_quote
from support.servers import RunningServer

QUERY_NAMES = frozenset({"status", "order"})


def add_many_people(cast: Cast, numbers: range) -> None:
    """Members who are called by their number, the oldest with the highest."""

    def put(db: DatabaseHandle, number: int) -> None:
        db.run(
            "INSERT INTO person (organisation_id, id, name, name_folded, email, email_folded, role, status, skills,"
            " created_at, created_by, updated_at, updated_by, version)"
            " SELECT organisation_id, :id, :name, :folded, :email, :email, 'member', 'invited', skills,"
            " created_at, created_by, updated_at, updated_by, version FROM person"
            " WHERE organisation_id = :organisation AND id = :like",
            id=new_id("person"),
            name=f"Number {number:03}",
            folded=f"number {number:03}",
            email=f"{number}@many.example",
            like=cast.people[Role.MEMBER],
        )

    with cast.performer.database.write_transaction(cast.organisation) as db:
        for number in reversed(numbers):
            put(db, number)


def list_shown_people(session: BrowserSession, path: str) -> list[str]:
    return re.findall(r"Number \d+", visible_text(session.get(path).text))


def find_page_link(session: BrowserSession, path: str, which: str) -> str | None:
    found = re.search(rf'id="{which}-page" href="([^"]+)"', session.get(path).text)
    return unescape(found[1]) if found else None


def read_count(session: BrowserSession, path: str) -> str:
    found = re.search(r'<h1>[^<]*<span class="count">([^<]*)<', session.get(path).text)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("path", "usual", "narrowed", "order"),
    [
        ("/invoices", "Newest", "status=overdue", "Due"),
        ("/invoices", "Newest", "from=2026-01-01&order=newest", "Issued"),
        ("/jobs", "Newest", "dueBefore=2026-01-01", "Due"),
        ("/quotes", "Newest", "until=2026-01-01", "Issued"),
        ("/payments", "Date", "from=2026-01-01&order=newest", "Date"),
        ("/credit-notes", "Newest", "from=2026-01-01", "Issued"),
        ("/purchasing/bills", "Newest", "from=2026-01-01", "Bill date"),
    ],
)
def test_a_list_says_in_which_order_it_really_is(
    server: RunningServer, cast: Cast, path: str, usual: str, narrowed: str, order: str
) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get(path).text
    [options] = re.findall(r'<select name="order">(.*?)</select>', page)
    shown = re.search(r"selected>(\w+)<", options) or re.search(r">(\w+)<", options)
    assert shown
    assert shown[1] == usual
    page = session.get(f"{path}?{narrowed}").text
    assert f"Sort by: {order}" in visible_text(page)
    assert 'name="order"' not in page
    # Nor does a column offer an order that the list cannot be in.
    assert "order=" not in page.partition("<thead>")[2].partition("</thead>")[0]


def test_what_is_overdue_longest_comes_first(server: RunningServer, cast: Cast) -> None:
    for due in ("2026-03-02", "2026-03-01", "2026-03-03"):
        then = cast_at(cast, "2026-02-20T12:00:00Z")
        issue_invoice(then, make_invoice(then, title=f"Due {due}", dueOn=due))
    text = visible_text(sign_in_new_person(server, cast).get("/invoices?status=overdue&order=newest").text)
    assert re.findall(r"Due (2026-\d\d-\d\d)", text) == ["2026-03-01", "2026-03-02", "2026-03-03"]


@pytest.mark.engines("sqlite", "postgresql")
def test_a_list_goes_on_and_back_page_by_page(server: RunningServer, cast: Cast) -> None:
    add_many_people(cast, range(60))
    session = sign_in_new_person(server, cast)
    first = "/people?status=invited"
    second = find_page_link(session, first, "next")
    assert second
    third = find_page_link(session, second, "next")
    assert third
    pages = [list_shown_people(session, path) for path in (first, second, third)]
    assert [len(page) for page in pages] == [25, 25, 10]
    assert [name for page in pages for name in page] == [f"Number {number:03}" for number in range(60)]
    assert [find_page_link(session, first, which) for which in ("first", "previous")] == [None, None]
    assert find_page_link(session, third, "next") is None
    for page, before in ((third, pages[1]), (second, pages[0])):
        back = find_page_link(session, page, "previous")
        assert back
        assert list_shown_people(session, back) == before
    # An address without its trail has no previous page.
    sent = re.sub(r"&trail=[^&]*", "", second)
    assert find_page_link(session, sent, "previous") is None
    assert list_shown_people(session, find_page_link(session, sent, "first") or "") == pages[0]


@pytest.mark.engines("sqlite", "postgresql")
def test_behind_the_title_stands_how_many_there_are(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert read_count(session, "/people") == "6"
    add_many_people(cast, range(30))
    assert (read_count(session, "/people"), read_count(session, "/people?role=office")) == ("36", "1")
    assert read_count(session, "/people?status=invited") == "30"
    second = find_page_link(session, "/people?status=invited", "next")
    assert second
    assert read_count(session, second) == "30", "only what lies behind the page before was counted"
    add_many_people(cast, range(30, 93))
    assert read_count(session, "/people") == "99"
    add_many_people(cast, range(93, 94))
    assert read_count(session, "/people") == "99+"
    add_many_people(cast, range(94, 120))
    listed = orjson.loads(
        cast.answer(list_people, Role.OWNER, request=RequestDetails("a page", with_actions=True)).body
    )
    assert listed["count"] == 100, "counting goes on behind what is told"
    assert "count" not in cast.perform(list_people), "a list that is for no page is not counted"


@pytest.mark.parametrize(
    ("path", "header"),
    [("/customers", "Name"), ("/jobs", "Job"), ("/invoices", "Invoice"), ("/hours", "Time entry")],
)
def test_the_first_column_says_what_the_records_are_if_they_have_no_name(
    server: RunningServer, cast: Cast, path: str, header: str
) -> None:
    make_job(cast, make_customer(cast))
    make_invoice(cast)
    make_time_entry(cast)
    page = sign_in_new_person(server, cast).get(path).text
    assert re.findall(r'<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]+)', page)[0] == header


def test_an_amount_is_no_order_though_it_is_called_like_one(server: RunningServer, cast: Cast) -> None:
    issue_invoice(cast)
    page = sign_in_new_person(server, cast).get("/invoices?order=due").text
    assert re.search(r'<th scope="col" aria-sort="ascending">Due', page)
    assert page.count("aria-sort") == 1
    newest = sign_in_new_person(server, cast).get("/invoices").text
    assert re.search(r'<th scope="col"><a href="[^"]*order=due">Due</a>', newest)


def test_jobs_begin_with_the_newest_that_is_live_and_leave_none_of_these_out(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, title="Mend the gate", dueOn="2038-03-01")
    close_job(cast, make_job(cast, customer, title="Sweep the yard")["id"])
    make_job(cast, customer, title="Paint the door")
    page = visible_text(sign_in_new_person(server, cast).get("/jobs").text)
    assert "Sweep the yard" not in page
    assert -1 < page.find("Paint the door") < page.find("Mend the gate")


def test_what_an_order_leaves_out_is_told(server: RunningServer, cast: Cast) -> None:
    session, customer = sign_in_new_person(server, cast), make_customer(cast)
    make_job(cast, customer, title="Mend the gate", dueOn="2038-03-01")
    assert "hidden when sorted" not in session.get("/jobs?order=due").text, "nothing is left out yet"
    make_job(cast, customer, title="Paint the door")
    page = session.get(f"/jobs?customerId={customer}&order=due").text
    assert "Paint the door" not in page
    assert "Jobs without a due date are hidden when sorted this way. Show all" in visible_text(page)
    way_back = re.search(r'hidden when sorted this way. <a href="([^"]+)">Show all', page)
    assert way_back
    assert unescape(way_back[1]) == f"/jobs?customerId={customer}"
    for path in (unescape(way_back[1]), "/jobs", "/jobs?order=due&text=gate"):
        assert "hidden when sorted" not in session.get(path).text
    # A search for too little text is refused in the same way.
    assert session.get("/jobs?order=due&text=a").status_code == session.get("/jobs?text=a").status_code


def test_where_counting_has_stopped_what_an_order_may_leave_out_is_told(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    for _ in range(COUNT_LIMIT):
        make_job(cast, customer, dueOn="2038-03-01")
    assert "Jobs without a due date are hidden when sorted this way." in visible_text(
        sign_in_new_person(server, cast).get("/jobs?order=due").text
    )


def test_the_order_is_chosen_by_a_column_or_from_a_list(server: RunningServer, cast: Cast) -> None:
    add_many_people(cast, range(3))
    session = sign_in_new_person(server, cast)
    page = session.get("/people").text
    assert re.search(r'<th scope="col" aria-sort="ascending">Name', page)
    assert '<option value="name" selected>' in page
    assert list_shown_people(session, "/people?order=newest") == list_shown_people(session, "/people"), (
        "the lowest number is the newest"
    )
    page = visible_text(session.get("/people?order=newest").text)
    assert page.index("Subcontractor · sam@") < page.index("Adam Admin")
    newest = session.get("/people?order=newest&role=member").text
    by_name = re.search(r'<th scope="col"><a href="([^"]+)">Name</a>', newest)
    assert by_name
    assert unescape(by_name[1]) == "/people?order=name&role=member"


def test_a_filter_is_a_plain_form_and_keeps_what_else_was_chosen(server: RunningServer, cast: Cast) -> None:
    add_many_people(cast, range(30))
    session = sign_in_new_person(server, cast)
    page = session.get("/people?status=invited&role=member").text
    form = re.search(r'<form method="get" action="/people">(.*?)</form>', page, re.DOTALL)
    assert form
    assert 'name="status" value="invited"' in form[1]
    assert '<option value="member" selected>Field staff</option>' in form[1]
    tab = re.search(r'href="([^"]+)">Left <span class="count">0</span></a>', page)
    assert tab
    assert unescape(tab[1]) == "/people?status=left&role=member"
    behind = find_page_link(session, "/people?status=invited&role=member", "next")
    assert behind
    assert "role=member" in behind
    assert "Mia Member" not in session.get("/people?role=office").text
    assert "Orla Office" in session.get("/people?role=office").text


@pytest.mark.parametrize("query", ["status=asleep", "role=boss", "order=colour", "startingAfter=nobody"])
def test_what_cannot_be_chosen_is_refused(server: RunningServer, cast: Cast, query: str) -> None:
    assert sign_in_new_person(server, cast).get(f"/people?{query}").status_code == 422


@pytest.mark.parametrize(
    ("role", "path", "chosen"),
    [
        (Role.MEMBER, "/hours", False),
        (Role.OFFICE, "/hours", True),
        (Role.MEMBER, "/time-off", False),
        (Role.OFFICE, "/time-off", True),
        # Members see when their team is where.
        (Role.MEMBER, "/schedule/visits", True),
        (Role.SUBCONTRACTOR, "/schedule/visits", False),
        (Role.MEMBER, "/jobs", True),
    ],
)
def test_nobody_chooses_a_person_among_what_is_their_own(
    server: RunningServer, cast: Cast, role: Role, path: str, *, chosen: bool
) -> None:
    page = sign_in_new_person(server, cast, role).get(path).text
    assert bool(re.search(r'<select name="(p|leadP)ersonId">', page)) is chosen


def test_payments_of_one_amount_are_told_apart_by_their_date_on_a_phone(server: RunningServer, cast: Cast) -> None:
    payment = pay_invoice(cast, issue_invoice(cast, make_invoice(cast)))
    page = sign_in_new_person(server, cast).get("/payments").text
    assert f'<span class="phone-text">{format_date(payment["on"])} · </span>' in page


def test_members_who_see_no_team_schedule_choose_nobody_there(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, membersSeeTeamSchedule=False)
    page = sign_in_new_person(server, cast, Role.MEMBER).get("/schedule/visits").text
    assert 'name="personId"' not in page


def test_what_no_list_knows_is_left_out_of_its_addresses() -> None:
    at = ListAddress.parse("/people", {"status": "left", "done": "x", "limit": "3", "order": ""}, QUERY_NAMES)
    assert str(at) == "/people?status=left"
    assert at.list_input == {"status": "left"}
    assert at.with_filters(status="", order="name") == "/people?order=name"


def test_only_the_last_pages_are_remembered() -> None:
    at = ListAddress("/people", {})
    for number in range(30):
        at = read_address(at.next(f"p{number}"))
    assert at.previous
    steps = 0
    while at.previous:
        at, steps = read_address(at.previous), steps + 1
    assert (steps, at.starting_after, at.first) == (20, "p9", "/people")


def read_address(address: str) -> ListAddress:
    path, _, query = address.partition("?")
    return ListAddress.parse(path, dict(parse_qsl(query)), QUERY_NAMES)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/quotes?order=issued", "Quotes without an issue date are hidden when sorted this way. Show all"),
        ("/invoices?order=due", "Invoices without a due date are hidden when sorted this way. Show all"),
        (
            "/purchasing/orders?order=needed",
            "Orders without a needed-by date are hidden when sorted this way. Show all",
        ),
    ],
)
def test_what_is_left_out_is_told_of_documents_too(server: RunningServer, cast: Cast, path: str, told: str) -> None:
    make_quote(cast)
    make_invoice(cast)
    make_order(cast)
    assert told in visible_text(sign_in_new_person(server, cast).get(path).text)
