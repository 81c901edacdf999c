"""Records that forms name: which one it is stays known while its name is not touched, whatever else has that name."""

import re

import pytest

from mainstay.business.jobs.operations import get_job, list_jobs
from mainstay.business.people.operations import invite_person
from mainstay.business.people.roles import remove_person
from mainstay.business.pricelist.operations import get_price_item
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.doors.office.kit import reference_fields
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.form_fields import read_form
from support.prices import make_kit_item, make_price_item, make_supplier
from support.servers import RunningServer


def invite_member(cast: Cast, name: str) -> str:
    """Someone who may be planned; their id."""
    email = f"{name.replace(' ', '.').lower()}@several.example"
    return str(cast.perform(invite_person, name=name, email=email, role="member")["id"])


def test_what_is_archived_stays_where_it_is_named(server: RunningServer, cast: Cast) -> None:
    supplier = make_supplier(cast)
    item = make_price_item(cast, supplierId=supplier)
    cast.perform(save_supplier, supplierId=supplier, name="Pennine Supplies", status="archived")
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/price-list/{item}/edit"
    fields = read_form(session.get(path).text)
    assert fields["supplierId"] == "Pennine Supplies"
    session.follow_redirect(session.post(path, fields | {"sellPrice": "900"}))
    saved = cast.perform(get_price_item, itemId=item)
    assert (saved["sellPrice"], saved["supplierId"]) == ("900.00", supplier)


def test_another_name_is_looked_for_and_an_empty_one_clears(server: RunningServer, cast: Cast) -> None:
    before, after = make_supplier(cast), make_supplier(cast, "Aire Valley Trade")
    item = make_price_item(cast, supplierId=before)
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/price-list/{item}/edit"
    for typed, supplier in {" aire valley ": after, "": None}.items():
        fields = read_form(session.get(path).text)
        session.follow_redirect(session.post(path, fields | {"supplierId": typed}))
        assert cast.perform(get_price_item, itemId=item)["supplierId"] == supplier


def test_of_two_with_one_name_the_one_is_meant_from_whose_page_one_comes(server: RunningServer, cast: Cast) -> None:
    first, second = make_customer(cast, "John Smith"), make_customer(cast, "John Smith")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for customer in (first, second):
        fields = read_form(session.get(f"/jobs/new?customerId={customer}").text)
        assert fields["customerId"] == "John Smith"
        # Also where the form comes back first.
        again = session.post("/jobs/new", fields)
        assert again.status_code == 422
        assert "one of several" not in again.text
        session.follow_redirect(session.post("/jobs/new", read_form(again.text) | {"title": "Roof"}))
        assert cast.perform(list_jobs)["data"][0]["customerId"] == customer
    ambiguous = session.post("/jobs/new", {**read_form(session.get("/jobs/new").text), "customerId": "John Smith"})
    assert "could be one of several" in visible_text(ambiguous.text)


def fill_in_job(session: BrowserSession, **typed: str) -> dict[str, str]:
    """The form of a new job, with this filled in."""
    return read_form(session.get("/jobs/new").text) | {"title": "Roof"} | typed


def test_of_several_with_one_name_each_can_be_typed_with_what_tells_it_apart(server: RunningServer, cast: Cast) -> None:
    first, second = (make_customer(cast, "Anna Müller", phone=f"+44 20 7946 000{number}") for number in (1, 2))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    refused = visible_text(session.post("/jobs/new", fill_in_job(session, customerId="anna müller")).text)
    assert "Anna Müller · +44 20 7946 0002; Anna Müller · +44 20 7946 0001. Type more of it" in refused
    for number, customer in enumerate((first, second), 1):
        typed = f"anna müller · +44 20 7946 000{number}"
        session.follow_redirect(session.post("/jobs/new", fill_in_job(session, customerId=typed)))
        assert cast.perform(list_jobs)["data"][0]["customerId"] == customer


def test_a_site_is_one_of_the_customer_s_who_is_named_beside_it(server: RunningServer, cast: Cast) -> None:
    sites = {
        name: make_site(cast, make_customer(cast, name), name="Head office") for name in ("Lorna Patel", "Jo Bloggs")
    }
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for name, site in sites.items():
        session.follow_redirect(session.post("/jobs/new", fill_in_job(session, customerId=name, siteId="Head office")))
        assert cast.perform(list_jobs)["data"][0]["siteId"] == site
    # Another's is refused by what takes it, which says why.
    make_site(cast, make_customer(cast, "Al Beck"), name="The mill")
    refused = session.post("/jobs/new", fill_in_job(session, customerId="Jo Bloggs", siteId="The mill"))
    assert "Site belongs to another customer" in visible_text(refused.text), visible_text(refused.text)


@pytest.mark.parametrize("name", ["李", f"{'Gesellschaft ' * 6}mbH", "Gesellschaftsbaugenossenschaftsverband " * 4])
def test_a_short_name_and_a_long_one_can_be_typed(server: RunningServer, cast: Cast, name: str) -> None:
    customer = make_customer(cast, name)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    session.follow_redirect(session.post("/jobs/new", fill_in_job(session, customerId=name)))
    assert cast.perform(list_jobs)["data"][0]["customerId"] == customer


def test_the_parts_of_a_kit_stay_where_two_of_them_have_one_name(server: RunningServer, cast: Cast) -> None:
    long, short = make_price_item(cast, "Pipe"), make_price_item(cast, "Pipe")
    kit = make_kit_item(cast, {long: "1", short: "2"})
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/price-list/{kit}/edit"
    fields = read_form(session.get(path).text)
    session.follow_redirect(session.post(path, fields | {"components.1.quantity": "3"}))
    parts = cast.perform(get_price_item, itemId=kit)["components"]
    assert [(part["itemId"], part["quantity"]) for part in parts] == [(long, "1.00"), (short, "3.00")]
    # A row that is emptied is gone, whatever stood there.
    fields = read_form(session.get(path).text)
    session.follow_redirect(session.post(path, fields | {"components.0.itemId": "", "components.0.quantity": ""}))
    assert [part["itemId"] for part in cast.perform(get_price_item, itemId=kit)["components"]] == [short]


def test_of_many_people_those_who_work_on_a_job_stay_and_can_be_picked(server: RunningServer, cast: Cast) -> None:
    several = [invite_member(cast, f"Person {number:03}") for number in range(101)]
    job = make_job(cast, make_customer(cast), assigned=several[:2], leadPersonId=several[0])["id"]
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/jobs/{job}/edit"
    page = session.get(path).text
    fields = read_form(page)
    assert all(f'name="assigned {person}"' in page for person in several)
    # Of so many, one is typed.
    assert fields["leadPersonId"] == "Person 000"
    session.follow_redirect(session.post(path, fields | {"title": "Roof", f"assigned {several[100]}": "on"}))
    saved = cast.perform(get_job, jobId=job)
    assert (saved["title"], saved["leadPersonId"]) == ("Roof", several[0])
    assert {*saved["assigned"]} == {*several[:2], several[100]}
    kept = {name: text for name, text in read_form(session.get(path).text).items() if not name.startswith("assigned")}
    session.follow_redirect(session.post(path, kept))
    assert cast.perform(get_job, jobId=job)["assigned"] == []


def test_who_has_left_is_called_by_name_and_stays_until_taken_off(server: RunningServer, cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    job = make_job(cast, make_customer(cast), Role.MEMBER, leadPersonId=member)["id"]
    cast.perform(remove_person, personId=member, confirmed=True)
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/jobs/{job}/edit"
    page = session.get(path).text
    fields = read_form(page)
    assert f'<option value="{member}" selected>Mia Member</option>' in page
    assert (fields["leadPersonId"], fields[f"assigned {member}"]) == (member, "on")
    # Also on a form that comes back.
    again = session.post(path, fields | {"title": ""})
    assert again.status_code == 422
    session.follow_redirect(session.post(path, read_form(again.text) | {"title": "Roof"}))
    saved = cast.perform(get_job, jobId=job)
    assert (saved["title"], saved["leadPersonId"], saved["assigned"]) == ("Roof", member, [member])
    fields = read_form(session.get(path).text)
    del fields[f"assigned {member}"]
    session.follow_redirect(session.post(path, fields | {"leadPersonId": ""}))
    saved = cast.perform(get_job, jobId=job)
    assert (saved["leadPersonId"], saved["assigned"]) == (None, [])


def test_a_list_says_that_it_is_narrowed_to_someone_who_has_left(server: RunningServer, cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    make_job(cast, make_customer(cast), leadPersonId=member)
    cast.perform(remove_person, personId=member, confirmed=True)
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs?leadPersonId={member}").text
    assert f'<option value="{member}" selected>Mia Member</option>' in page


def test_a_list_says_what_it_is_narrowed_to_beside_its_customer(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer, name="The mill")
    make_job(cast, customer, siteId=site)
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs?customerId={customer}&siteId={site}").text
    assert re.findall(r'class="chip"[^>]*>(.*?) <span', page) == [
        "Customer: <bdi>Calder Property</bdi>",
        "Site: <bdi>The mill</bdi>",
    ]


def test_of_too_many_to_be_listed_nobody_is_asked_and_nobody_is_taken_off(
    server: RunningServer, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    monkeypatch.setattr(reference_fields, "_MAX_LISTED", 2)
    monkeypatch.setattr(reference_fields, "_MAX_TICKED", 4)
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/jobs/{job}/edit"
    page = session.get(path).text
    assert "<legend>Assigned" not in page
    session.follow_redirect(session.post(path, read_form(page) | {"title": "Roof"}))
    saved = cast.perform(get_job, jobId=job)
    assert (saved["title"], saved["assigned"]) == ("Roof", [cast.people[Role.MEMBER]])


def test_too_many_rows_are_refused_with_no_more_of_them_looked_for(server: RunningServer, cast: Cast) -> None:
    pipe = make_price_item(cast, "Pipe")
    kit = make_kit_item(cast, {pipe: "2"})
    session, path = sign_in_new_person(server, cast, Role.OFFICE), f"/price-list/{kit}/edit"
    rows = {f"components.{number}.itemId": pipe for number in range(60)}
    rows |= {f"components.{number}.quantity": "1" for number in range(60)}
    rows |= {f"components.{number}.itemId": "Nothing like it" for number in range(60, 900)}
    answer = session.post(path, read_form(session.get(path).text) | rows)
    assert answer.status_code == 422
    assert "was not found" not in answer.text
    assert "Parts has more than 50 entries" in visible_text(answer.text)


@pytest.mark.parametrize("path", ["/hours/to-bill", "/reports/revenue"])
def test_what_narrows_a_page_stays_when_it_is_asked_for_again(server: RunningServer, cast: Cast, path: str) -> None:
    customer = make_customer(cast, "John Smith")
    make_customer(cast, "John Smith")
    make_job(cast, customer)
    session = sign_in_new_person(server, cast)
    page = session.get(f"{path}?customerId={customer}")
    fields = read_form(page.text)
    assert fields["customerId"] == "John Smith"
    query = "&".join(f"{name}={value}" for name, value in fields.items())
    again = session.get(f"{path}?{query.replace(' ', '+')}")
    assert again.status_code == 200
    assert read_form(again.text) == fields


def test_a_record_that_one_is_not_shown_has_no_identifier_for_a_name(server: RunningServer, cast: Cast) -> None:
    unknown = "customer_01JCDZ8Q4X0V9M2T6W3B7K5N1R"
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs/new?customerId={unknown}").text
    assert read_form(page)["customerId"] == "(no access)"
    assert unknown not in visible_text(page)


def test_the_record_that_stood_there_is_one_of_the_kind(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    make_customer(cast, "Smith")
    fields = read_form(session.get("/jobs/new").text) | {"customerId": "Jones", "title": "Roof"}
    for stood in ("person_01JCDZ8Q4X0V9M2T6W3B7K5N1R Jones", "Jones", " Jones", "customer_1 Jones"):
        answer = session.post("/jobs/new", fields | {"customerId as shown": stood})
        assert answer.status_code == 422
        assert "was not found" in answer.text
