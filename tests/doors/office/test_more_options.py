"""The less usual fields of a form are behind a closed row, which is open if there is something to see in it."""

import re
from html import unescape

from mainstay.business.quotes.operations import get_quote
from mainstay.business.schedule.operations import list_visits
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.form_fields import read_form
from support.servers import RunningServer

CLOSED, OPEN = '<details class="more-fields">', '<details class="more-fields" open>'


def test_the_closed_row_names_what_is_inside(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get("/jobs/new").text
    assert CLOSED in page
    assert "Status, Priority, Billing, Customer&#39;s order number" in page
    first, _, more = page.partition(CLOSED)
    assert all(f'name="{name}"' in first for name in ("customerId", "siteId", "title", "dueOn", "leadPersonId"))
    assert all(f'name="{name}"' in more for name in ("status", "priority", "tags", "externalRef"))


def test_it_is_open_if_a_field_in_it_is_filled_in(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert OPEN in session.get("/jobs/new?priority=urgent").text
    assert CLOSED in session.get("/jobs/new?title=Boiler&priority=normal").text


def test_it_is_open_if_a_field_in_it_has_a_fault(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    assert CLOSED in session.get("/customers/new").text
    assert OPEN in session.submit_form("/customers/new", name="Calder", paymentTermsDays="soon").text


def test_the_form_of_a_record_is_closed_as_long_as_it_has_the_defaults(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    plain, special = make_customer(cast, "Calder"), make_customer(cast, "Beam", paymentTermsDays=3)
    assert CLOSED in session.get(f"/customers/{plain}/edit").text
    assert OPEN in session.get(f"/customers/{special}/edit").text


def test_part_of_an_address_is_first_and_the_rest_behind_the_row(server: RunningServer, cast: Cast) -> None:
    first, _, more = sign_in_new_person(server, cast).get("/sites/new").text.partition(CLOSED)
    assert 'name="address.line1"' in first
    assert 'name="address.country"' in more


def test_a_form_from_a_customer_has_their_only_site(server: RunningServer, cast: Cast) -> None:
    session, customer = sign_in_new_person(server, cast), make_customer(cast, "Calder")
    mill = make_site(cast, customer, name="The mill")
    assert f'<option value="{mill}" selected>' in session.get(f"/jobs/new?customerId={customer}").text
    make_site(cast, customer, name="The lock")
    assert f'<option value="{mill}">' in session.get(f"/jobs/new?customerId={customer}").text


def test_who_may_not_add_a_customer_has_no_link_to_add_one(server: RunningServer, cast: Cast) -> None:
    link = '<a class="new-record" href="/customers/new" target="_blank" rel="noopener" data-new="name">'
    assert link in sign_in_new_person(server, cast, Role.OFFICE).get("/jobs/new").text
    assert 'href="/jobs/new"' not in sign_in_new_person(server, cast, Role.MEMBER).get("/hours/new").text


def test_a_job_for_a_known_customer_has_the_site_and_lead_of_their_last_one(server: RunningServer, cast: Cast) -> None:
    session, customer = sign_in_new_person(server, cast), make_customer(cast, "Calder")
    make_site(cast, customer, name="The mill")
    lock, lead = make_site(cast, customer, name="The lock"), cast.people[Role.MEMBER]
    make_job(cast, customer, siteId=lock, leadPersonId=lead)
    page = session.get(f"/jobs/new?customerId={customer}").text
    assert all(f'<option value="{one}" selected>' in page for one in (lock, lead))


def test_a_person_who_leads_jobs_is_the_lead_of_a_new_one(server: RunningServer, cast: Cast) -> None:
    session, me = sign_in_cast(server, cast, Role.OFFICE), cast.people[Role.OFFICE]
    selected = f'<option value="{me}" selected>'
    assert selected not in session.get("/jobs/new").text
    first, other = make_customer(cast, "Calder"), make_customer(cast, "Ryburn")
    make_job(cast, first, leadPersonId=me)
    assert selected in session.get("/jobs/new").text
    # The lead of the customer's last job comes first.
    make_job(cast, other, leadPersonId=cast.people[Role.MEMBER])
    assert selected not in session.get(f"/jobs/new?customerId={other}").text


def test_a_button_on_a_job_makes_a_quote_for_its_customer_site_and_title(server: RunningServer, cast: Cast) -> None:
    session, customer = sign_in_new_person(server, cast), make_customer(cast, "Calder")
    site = make_site(cast, customer, name="The mill")
    job = make_job(cast, customer, siteId=site, title="Mend the roof")
    for number in ("Q-0001", "Q-0002"):
        # The second time, the button stands beside the list of quotes.
        page = session.get(f"/jobs/{job['id']}").text
        [form] = re.findall(r'(?s)<form method="post" action="/quotes/new">.*?</form>', page)
        answer = session.post("/quotes/new", read_form(f"<main>{form}"))
        quote = cast.perform(get_quote, quoteId=number)
        # Its lines are what comes next.
        assert answer.headers["Location"] == f"/quotes/{quote['id']}/lines?done=draft_quote"
        assert (quote["jobId"], quote["customerId"], quote["siteId"], quote["title"]) == (
            *(job["id"], customer, site, "Mend the roof"),
        )


def test_a_visit_from_a_job_is_for_its_lead_and_as_long_as_is_chosen(server: RunningServer, cast: Cast) -> None:
    session, lead = sign_in_new_person(server, cast), cast.people[Role.MEMBER]
    job = make_job(cast, make_customer(cast, "Calder"), leadPersonId=lead)
    path, *_ = re.findall(r'href="(/schedule/new\?[^"]*)"', session.get(f"/jobs/{job['id']}").text)
    page = session.get(unescape(path)).text
    assert f'<option value="{lead}" selected>' in page
    # The full form starts with the same.
    [full] = re.findall(r'href="(/schedule/visits/plan\?[^"]*)"', page)
    assert f'name="personIds {lead}" checked' in session.get(unescape(full)).text
    fields = read_form(page) | {"day": "11/01/2038", "start": "10:00", "minutes": "90", "person": lead}
    refused = session.post("/schedule/new", fields | {"day": "soon"})
    assert (refused.status_code, "Date must be a date" in visible_text(refused.text)) == (422, True)
    answer = session.post("/schedule/new", fields)
    assert answer.headers["Location"] == f"/jobs/{job['id']}?done=plan_visit"
    assert "Visit planned." in visible_text(session.follow_redirect(answer).text)
    (visit,) = cast.perform(list_visits)["data"]
    assert (visit["personId"], visit["startsAt"], visit["endsAt"]) == (
        lead,
        "2038-01-11T10:00:00.000Z",
        "2038-01-11T11:30:00.000Z",
    )
