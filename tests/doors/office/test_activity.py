"""Settings → Activity: all that happened, for owners and admins; and the ways to it from home, apps, keys, people."""

import csv
import io
import re
from html import unescape

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import update_customer
from mainstay.business.hours.approval import submit_hours
from mainstay.business.invoices.drafting.operations import delete_draft_invoice
from mainstay.business.jobs.operations import update_job
from mainstay.business.records.activity import DoneBy, list_activity
from mainstay.doors.pages.formatting import format_date
from mainstay.values.moments import local_date
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job
from support.hours import make_assigned_job, make_time_entry, make_visit
from support.invoices import make_invoice
from support.servers import RunningServer
from support.stored_state import actor_through_app, actor_with_key

# Of this door, the smoke set on both engines; what is decided before the database is asked on one.
pytestmark = pytest.mark.engines("sqlite", "postgresql")
PATH = "/settings/activity"


def read_acts(page: str) -> list[str]:
    """The acts on a page, each in words."""
    [timeline] = re.findall(r'<ol class="timeline">(.*?)</ol>', page, re.DOTALL) or [""]
    return [visible_text(one) for one in re.findall(r"<li>(.*?)</li>", timeline, re.DOTALL)]


def today(cast: Cast) -> str:
    return local_date(cast.performer.clock(), "Europe/London").isoformat()


def test_it_tells_who_did_what_in_the_words_of_a_record_s_page_and_leads_to_the_record(
    server: RunningServer, cast: Cast
) -> None:
    customer = make_customer(cast, "Calder & <Sons>")
    job = make_job(cast, customer)["id"]
    cast.perform(update_job, Role.ADMIN, jobId=job, priority="high", dueOn="2038-03-01")
    page = sign_in_new_person(server, cast).get(PATH).text
    newest, made, first = read_acts(page)[1:4]
    assert newest.startswith("Details edited: priority, due date Adam Admin , ")
    assert newest.endswith("J-0001 Replace the boiler")
    assert made.startswith("Job created Orla Office , ")
    assert first.endswith("Calder & <Sons>")
    assert f'<a href="/jobs/{job}"><bdi>J-0001 Replace the boiler</bdi></a>' in page
    assert f'<a href="/customers/{customer}"><bdi>Calder &amp; &lt;Sons&gt;</bdi></a>' in page
    # Nobody reads what we call things.
    assert "update_job" not in page


def test_what_is_gone_is_told_and_leads_nowhere(server: RunningServer, cast: Cast) -> None:
    invoice = make_invoice(cast)["id"]
    cast.perform(delete_draft_invoice, invoiceId=invoice, confirmed=True)
    page = sign_in_new_person(server, cast).get(PATH).text
    assert "Draft deleted" in page
    assert invoice not in page


def test_only_those_who_rule_over_the_organisation_are_led_there_and_let_in(server: RunningServer, cast: Cast) -> None:
    key, app = actor_with_key(cast, cast.make_key()).credential, actor_through_app(cast, Role.OFFICE)
    cast.perform(update_customer, app, customerId=make_customer(cast), phone="1")
    for role in (Role.OWNER, Role.ADMIN):
        someone = sign_in_new_person(server, cast, role)
        assert someone.get(PATH).status_code == 200
        assert f'href="{PATH}"' in someone.get("/settings").text
        assert (
            f'href="{PATH}?personId={cast.people[Role.MEMBER]}"'
            in someone.get(f"/people/{cast.people[Role.MEMBER]}").text
        )
        assert f'href="{PATH}?clientId={key}"' in someone.get(f"/settings/developer/keys/{key}").text
    office = sign_in_new_person(server, cast, Role.OFFICE)
    assert (office.get(PATH).status_code, office.get(f"{PATH}/export.csv").status_code) == (403, 403)
    for path in ("/", "/settings", f"/people/{cast.people[Role.MEMBER]}", f"/settings/developer/mcp/{app.credential}"):
        assert PATH not in office.get(path).text
    assert '<a href="/settings/developer/mcp">See apps</a>' in office.get("/").text


def test_home_leads_to_exactly_what_apps_changed(server: RunningServer, cast: Cast) -> None:
    customer, app = make_customer(cast), actor_through_app(cast, Role.OFFICE)
    admin = sign_in_new_person(server, cast, Role.ADMIN)
    for phone in ("1", "2", "3"):
        cast.perform(update_customer, app, customerId=customer, phone=phone)
    cast.perform(update_customer, customerId=customer, phone="4")
    home = admin.get("/").text
    [way] = re.findall(r'<a href="([^"]*)">All changes by apps</a>', home)
    page = admin.get(unescape(way)).text
    assert [one.partition(" ,")[0] for one in read_acts(page)] == ["Details edited: phone Orla Office"] * 3
    assert '<option value="app" selected>' in page


def test_what_agents_did_is_chosen_from_the_list(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(update_customer, actor_with_key(cast, cast.make_key()), customerId=customer, phone="1")
    cast.perform(update_customer, actor_through_app(cast, Role.OFFICE), customerId=customer, phone="2")
    cast.perform(update_customer, customerId=customer, email="x@x.example")
    page = sign_in_new_person(server, cast).get(f"{PATH}?actedBy=agent").text
    assert '<option value="agent" selected>Assistant, apps and API keys</option>' in page
    changed = [one.partition(" ,")[0] for one in read_acts(page) if one.startswith("Details edited")]
    assert changed == ["Details edited: phone Orla Office", "Details edited: phone Olivia Owner"]


def test_an_app_leads_to_what_was_done_through_it_and_its_name_is_the_way_back(
    server: RunningServer, cast: Cast
) -> None:
    customer = make_customer(cast)
    app, other = actor_through_app(cast, Role.OFFICE), actor_through_app(cast, Role.OFFICE, "Cursor")
    cast.perform(update_customer, app, customerId=customer, phone="1")
    cast.perform(update_customer, other, customerId=customer, email="x@x.example")
    admin = sign_in_new_person(server, cast, Role.ADMIN)
    [way] = re.findall(rf'<a href="({PATH}[^"]*)"', admin.get(f"/settings/developer/mcp/{app.credential}").text)[-1:]
    page = admin.get(unescape(way)).text
    assert [one.partition(" ,")[0] for one in read_acts(page)] == ["Details edited: phone Orla Office"]
    chip = re.search(r'<a class="chip" href="([^"]*)">(.*?)</a>', page, re.DOTALL)
    assert chip
    assert visible_text(chip[2]).startswith("App or key: Claude")
    assert len(read_acts(admin.get(unescape(chip[1])).text)) > 2


def test_a_person_leads_to_what_they_did(server: RunningServer, cast: Cast) -> None:
    make_customer(cast)
    person = cast.people[Role.OFFICE]
    page = sign_in_new_person(server, cast).get(f"{PATH}?personId={person}").text
    assert [one.partition(" ,")[0] for one in read_acts(page)] == ["Customer created Orla Office"]
    assert f'<option value="{person}" selected>Orla Office' in page


def test_records_are_told_apart_and_dates_are_in_words_on_the_page_and_in_the_file(
    server: RunningServer, cast: Cast
) -> None:
    member = cast.people[Role.MEMBER]
    make_visit(cast, make_assigned_job(cast)["id"], member)
    day = today(cast)
    make_time_entry(cast, on=day, minutes=60)
    session = sign_in_new_person(server, cast)
    entry, planned = read_acts(session.get(f"{PATH}?actedBy=person").text)[:2]
    assert entry.endswith(f"1:00 hours of Mia Member on {format_date(day)}")
    assert planned.endswith("J-0001 Replace the boiler (visit) · J-0001 Replace the boiler (job)")
    rows = csv.reader(io.StringIO(session.get(f"{PATH}/export.csv").content.decode("utf-8-sig")))
    assert {
        f"1:00 hours of Mia Member on {format_date(day)}",
        "J-0001 Replace the boiler (visit); J-0001 Replace the boiler (job)",
    } <= {row[4] for row in rows}


def test_a_merge_is_told_by_its_customers_before_what_moved_with_them(server: RunningServer, cast: Cast) -> None:
    ended, stays = make_customer(cast, "Keith Eastwood"), make_customer(cast, "Derek Kershaw")
    make_contact(cast, ended, "Keith Eastwood")
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    [merged] = [
        one for one in read_acts(sign_in_new_person(server, cast).get(PATH).text) if one.startswith("Customers merged")
    ]
    assert merged.endswith("Keith Eastwood (customer) · Derek Kershaw · Keith Eastwood (contact)")


def test_the_file_says_how_many_records_it_does_not_name(server: RunningServer, cast: Cast) -> None:
    ids = [make_time_entry(cast, on=today(cast), minutes=60 + number)["id"] for number in range(5)]
    cast.perform(submit_hours, Role.MEMBER, timeEntryIds=ids)
    rows = csv.reader(
        io.StringIO(sign_in_new_person(server, cast).get(f"{PATH}/export.csv").content.decode("utf-8-sig"))
    )
    [submitted] = [row[4] for row in rows if row[3] == "Hours submitted"]
    assert submitted.count("Mia Member") == 3
    assert submitted.endswith("; 2 more")


def test_pages_and_the_file_keep_what_it_is_narrowed_to(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, "=Calder")
    for number in range(30):
        cast.perform(update_customer, Role.OFFICE, customerId=customer, phone=f"={number}")
    session = sign_in_new_person(server, cast)
    page = session.get(f"{PATH}?personId={cast.people[Role.OFFICE]}").text
    assert len(read_acts(page)) == 25
    [following] = re.findall(r'id="next-page" href="([^"]*)"', page)
    assert len(read_acts(session.get(unescape(following)).text)) == 6
    [export] = re.findall(r'<a href="([^"]*)" download>Download CSV</a>', page)
    rows = list(csv.reader(io.StringIO(session.get(unescape(export)).content.decode("utf-8-sig"))))
    assert rows[0] == ["When", "Who", "App or key", "What", "Records"]
    assert [row[1:] for row in rows[1:]] == [["Orla Office", "", "Details edited: phone", "'=Calder"]] * 30 + [
        ["Orla Office", "", "Customer created", "'=Calder"]
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", row[0]) for row in rows[1:])


@pytest.mark.engines("sqlite")
def test_dates_that_cannot_be_are_told_beside_them(server: RunningServer, cast: Cast) -> None:
    answer = sign_in_new_person(server, cast).get(f"{PATH}?from=2038-01-02&until=2038-01-01")
    assert answer.status_code == 422
    assert "To is before the first date." in visible_text(answer.text)
    nothing = sign_in_new_person(server, cast).get(f"{PATH}?from=2038-01-02")
    assert "No matches. Show all" in visible_text(nothing.text)


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ("personId=nobody", "Person was not found. Choose one from the list."),
        ("clientId=zzz", "App or key was not found. Choose one from the list."),
        ("actedBy=zzz", "Choose Agent, Person, Assistant, App"),
        ("from=zzz", "From must be a date, such as dd/mm/yyyy."),
        ("startingAfter=zzz", "Starting after"),
    ],
)
def test_what_it_cannot_be_narrowed_to_is_told_by_its_name(
    server: RunningServer, cast: Cast, asked: str, fault: str
) -> None:
    answer = sign_in_new_person(server, cast).get(f"{PATH}?{asked}")
    assert answer.status_code == 422
    assert fault in visible_text(answer.text)
    name = asked.partition("=")[0]
    if name in {"personId", "actedBy", "from"}:
        assert re.search(rf'name="{name}"[^>]* aria-invalid="true" aria-describedby="{name}-fault"', answer.text)


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("name", ["personId", "clientId", "actedBy", "from"])
def test_what_is_no_text_is_refused_and_does_not_widen_what_is_shown(
    server: RunningServer, cast: Cast, name: str
) -> None:
    make_customer(cast)
    session = sign_in_new_person(server, cast)
    for path in (PATH, f"{PATH}/export.csv"):
        answer = session.get(f"{path}?{name}=%ff")
        assert (answer.status_code, "Customer created" in answer.text) == (422, False)


@pytest.mark.engines("sqlite")
def test_an_address_that_asks_for_too_much_is_refused(server: RunningServer, cast: Cast) -> None:
    query = "&".join(["actedBy=person", *(f"x{number}=1" for number in range(20))])
    answer = sign_in_new_person(server, cast).get(f"{PATH}?{query}")
    assert (answer.status_code, "has too many parameters" in answer.text) == (400, True)


@pytest.mark.engines("sqlite")
def test_everything_that_acts_is_called_in_words(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get(PATH).text
    for one in DoneBy:
        assert f'<option value="{one}">{one.label}</option>' in page
    assert list_activity.name not in page
