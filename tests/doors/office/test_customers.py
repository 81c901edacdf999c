"""Customers, sites and contacts in the office: lists with tabs, pages with what belongs to them, and forms."""

import re
from html import unescape

import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, create_customer, list_customers
from mainstay.business.customers.sites_and_contacts import list_contacts, list_sites
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.jobs.operations import list_jobs
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import ADDRESS, make_contact, make_customer, make_job, make_site
from support.hours import cast_at
from support.invoices import issue_invoice, make_invoice
from support.servers import RunningServer


def extract_main(page: str) -> str:
    """What is on a page, without the frame around it."""
    return page.partition("<main")[2].partition("</main>")[0]


def find_tab(page: str, name: str) -> tuple[str, str]:
    """Where a tab leads, and how many it says there are."""
    found = re.search(rf'href="([^"]+)"[^>]*>{name} <span class="count">([^<]*)</span>', page)
    assert found, page
    return unescape(found[1]), found[2]


def test_the_list_has_tabs_that_say_how_many(server: RunningServer, cast: Cast) -> None:
    for name in ("Calder", "Ryburn", "Colne"):
        make_customer(cast, name)
    cast.perform(archive_customer, customerId=make_customer(cast, "Irwell"))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get("/customers").text
    assert [find_tab(page, name)[1] for name in ("Active", "Archived")] == ["3", "1"]
    # By name, as people look for them.
    assert re.findall(r'<th scope="row"><a href="/customers/[^"]+" dir="auto">(\w+)</a>', page) == [
        "Calder",
        "Colne",
        "Ryburn",
    ]
    archived = extract_main(session.get(find_tab(page, "Archived")[0]).text)
    assert "Irwell" in archived
    assert "Calder" not in archived
    # What else is chosen stays, and is counted.
    looked_for = session.get("/customers?text=calder").text
    assert [find_tab(looked_for, name)[1] for name in ("Active", "Archived")] == ["1", "0"]


def test_a_customer_s_page_tells_what_they_owe_with_the_ways_to_it(server: RunningServer, cast: Cast) -> None:
    then = cast_at(cast, "2026-01-05T12:00:00Z")
    customer = make_customer(cast)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    draft = make_invoice(cast, customerId=customer)
    assert "Balance" not in visible_text(extract_main(session.get(f"/customers/{customer}").text))
    issue_invoice(cast, draft)
    page = extract_main(session.get(f"/customers/{customer}").text)
    assert "Balance £1,000.00 Overdue £0.00" in visible_text(page)
    assert "status=overdue" not in page
    issue_invoice(then, make_invoice(then, customerId=customer, lines=[{"description": "Work", "unitPrice": "234.50"}]))
    cast.perform(record_payment, Role.OFFICE, customerId=customer, amount="34.50", allocations=[])
    page = extract_main(session.get(f"/customers/{customer}").text)
    assert "Balance £1,200.00 Overdue £234.50" in visible_text(page)
    ways = {
        name: unescape(way)
        for way, name in re.findall(r'href="(/(?:reports|invoices)\?[^"]+|/reports/[^"]+)"[^>]*>([^<]+)<', page)
    }
    ways["Statement"] += "&from=2026-01-01"
    statement, open_, late = (session.get(ways[name]) for name in ("Statement", "Unpaid invoices", "£234.50"))
    assert "Total £1,234.50 £34.50 £1,200.00" in visible_text(statement.text)
    assert [len(re.findall('<th scope="row"><a href="/invoices/', one.text)) for one in (open_, late)] == [2, 1]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_nobody_in_the_field_is_told_what_a_customer_owes(server: RunningServer, cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, role)
    issue_invoice(cast, make_invoice(cast, jobId=job["id"]))
    session = sign_in_cast(server, cast, role)
    page = session.get(f"/customers/{customer}")
    assert page.status_code == (200 if role is Role.MEMBER else 403)
    for secrets in ("Balance", "Overdue", "1,000.00", "/reports", "/invoices"):
        assert secrets not in page.text
    assert session.get(f"/reports/statement?customerId={customer}").status_code == 403


def test_a_customer_s_page_shows_what_belongs_to_them_and_adds_to_it(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, phone="01422 555010", billingAddress=ADDRESS)
    make_site(cast, customer, name="The mill")
    make_contact(cast, customer)
    make_job(cast, customer)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = extract_main(session.get(f"/customers/{customer}").text)
    shown = visible_text(page)
    for text in (
        "Calder Property",
        "01422 555010",
        "2 Weir Lane",
        "J-0001 Replace the boiler",
        "The mill",
        "Ann Boyle",
    ):
        assert text in shown
    for title, path in (("Jobs", "/jobs/new"), ("Sites", "/sites/new"), ("Contacts", "/contacts/new")):
        assert re.search(rf'>{title} <span class="count">1</span></h2><a href="{path}\?customerId={customer}"', page)
        form = extract_main(session.get(f"{path}?customerId={customer}").text)
        assert 'value="Calder Property"' in form


def test_of_much_that_belongs_to_them_a_page_shows_a_little_and_the_way_to_all(
    server: RunningServer, cast: Cast
) -> None:
    customer, other = make_customer(cast), make_customer(cast, "Ryburn")
    for number in range(8):
        make_job(cast, customer, title=f"Job number {number}")
    make_job(cast, other, title="Another")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = extract_main(session.get(f"/customers/{customer}").text)
    assert len(re.findall(r">J-000\d Job number", page)) == 6
    everything = extract_main(session.get(f"/jobs?customerId={customer}").text)
    assert f'href="/jobs?customerId={customer}"' in page
    assert len(re.findall(r">J-000\d Job number", everything)) == 8
    assert "Another" not in everything
    # It says what it is narrowed to by name, keeps that while one narrows further, and leads back.
    assert "Customer: Calder Property" in visible_text(everything)
    assert f'<input type="hidden" name="customerId" value="{customer}">' in everything
    assert re.search(r'<a class="chip" href="/jobs">', everything)


def test_a_customer_is_made_changed_archived_and_restored(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/customers/new").text
    # What is usual is chosen already.
    assert '<option value="company" selected>Company</option>' in form
    answer = session.submit_page(
        form, "/customers/new", name="Calder Property", kind="individual", paymentTermsDays="30"
    )
    page = session.follow_redirect(answer)
    assert "Calder Property created." in visible_text(page.text)
    (made,) = cast.perform(list_customers)["data"]
    assert (made["kind"], made["paymentTermsDays"]) == ("individual", 30)
    path = f"/customers/{made['id']}"
    edited = session.submit_form(
        f"{path}/edit", **{"name": "Ryburn", "kind": "company", "billingAddress.city": "Hebden"}
    )
    shown = visible_text(session.follow_redirect(edited).text)
    assert "Ryburn" in shown
    assert "Hebden" in shown
    archived = session.submit_page(session.get(path).text, f"{path}/archive")
    assert "Ryburn archived." in visible_text(session.follow_redirect(archived).text)
    restored = session.submit_page(session.get(path).text, f"{path}/restore")
    assert "Ryburn restored." in visible_text(session.follow_redirect(restored).text)


def test_of_a_form_that_is_sent_whole_the_timeline_names_what_is_different_since(
    server: RunningServer, cast: Cast
) -> None:
    path = f"/customers/{make_customer(cast, 'Calder', kind='company', phone='1', notes='By the canal')}"
    session = sign_in_new_person(server, cast, Role.OFFICE)
    session.submit_form(f"{path}/edit", name="Ryburn", kind="company", phone="2", notes="By the canal")
    timeline = re.search(r'<ol class="timeline">.*?</ol>', session.get(path).text, re.DOTALL)
    assert timeline
    assert re.findall("<strong>(.*?)</strong>", timeline[0]) == ["Details edited: name, phone", "Customer created"]


def test_of_what_may_be_left_out_no_part_must_be_filled_in(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/customers/new").text
    assert re.findall(r'name="([^"]+)"[^>]* required', extract_main(form)) == ["name", "kind"]
    # But half of it is not enough.
    half = session.submit_page(
        form, "/customers/new", name="Calder", kind="company", **{"eInvoiceAddress.scheme": "0088"}
    )
    assert half.status_code == 422
    assert "Enter an identifier." in visible_text(half.text)
    assert session.submit_page(form, "/customers/new", name="Calder", kind="company").status_code == 303


def test_what_a_contact_is_sent_is_ticked_and_unticked(server: RunningServer, cast: Cast) -> None:
    contact = make_contact(cast, make_customer(cast))
    session = sign_in_new_person(server, cast, Role.OFFICE)
    path = f"/contacts/{contact}/edit"
    fields = {"customerId": "Calder Property", "name": "Ann", "status": "active"}
    for ticked in ({"receives.quotes": "on"}, {}):
        assert session.submit_form(path, **fields, **ticked).status_code == 303
        (kept,) = cast.perform(list_contacts)["data"]
        assert kept["receives"] == {"quotes": bool(ticked), "invoices": False}


def test_merging_asks_for_the_other_by_name_and_shows_what_would_happen(server: RunningServer, cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn Estates")
    make_job(cast, ended)
    session = sign_in_new_person(server, cast, Role.ADMIN)
    path = f"/customers/{ended}/merge-customers"
    form_page = session.get(path).text
    assert 'data-find="customer"' in form_page
    preview = session.submit_page(form_page, path, intoCustomerId="ryburn")
    assert preview.status_code == 200
    shown = visible_text(preview.text)
    for text in ("Calder Property will be merged into Ryburn Estates.", "1 job will move to Ryburn Estates."):
        assert text in shown
    assert cast.perform(list_jobs, customerId=stays)["data"] == []
    fields = {"intoCustomerId": stays, "confirmed": "yes"}
    done = session.submit_page(preview.text, path, **fields)
    # One goes on with the customer that is left.
    assert done.headers["Location"].startswith(f"/customers/{stays}?")
    assert "Customers merged." in visible_text(session.follow_redirect(done).text)
    assert len(cast.perform(list_jobs, customerId=stays)["data"]) == 1


def test_the_page_of_one_that_was_merged_leads_on_and_offers_nothing(server: RunningServer, cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn Estates")
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    session = sign_in_new_person(server, cast, Role.OWNER)
    page = extract_main(session.get(f"/customers/{ended}").text)
    assert f'href="/customers/{stays}"' in page
    assert not re.search(r"<form|<button|class=\"button", page)
    assert f'action="/customers/{stays}/notes"' in session.get(f"/customers/{stays}").text


def test_a_reference_that_the_import_made_up_is_shown_to_nobody(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for reference, shown in (("import d76c390254a816e2043a", False), ("XERO-17", True)):
        customer = cast.perform(create_customer, name="Calder", externalRef=reference)
        page = visible_text(session.get(f"/customers/{customer['id']}").text)
        assert (reference in page, "External ID" in page) == (shown, shown)


def test_a_site_is_made_for_a_customer_that_is_typed(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    make_customer(cast, "Calder Valley Trust")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    where = {"address.line1": "2 Weir Lane", "status": "active"}
    unclear = session.submit_form("/sites/new", customerId="calder", **where)
    assert unclear.status_code == 422
    text = visible_text(unclear.text)
    assert "could be one of several: " in text
    assert "Calder Property" in text
    assert "Calder Valley Trust" in text
    # What was typed is kept.
    assert 'value="calder"' in unclear.text
    assert 'value="2 Weir Lane"' in unclear.text
    unknown = session.submit_form("/sites/new", customerId="nobody", **where)
    assert unknown.status_code == 422
    assert "was not found. Check the spelling, or type more of it" in visible_text(unknown.text)
    made = session.submit_page(unclear.text, "/sites/new", customerId="calder prop", **where)
    assert "2 Weir Lane saved." in visible_text(session.follow_redirect(made).text)
    (site,) = cast.perform(list_sites)["data"]
    assert (site["customerId"], site["name"]) == (customer, "2 Weir Lane")


@pytest.mark.parametrize("name", ["Studio 5", "Plan B", "Müller & Söhne", "O'Brien"])
def test_a_customer_is_taken_by_the_whole_name_whatever_it_looks_like(
    server: RunningServer, cast: Cast, name: str
) -> None:
    customer = make_customer(cast, name)
    make_customer(cast, f"{name} Two")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/contacts/new").text
    assert '<option value="active" selected>Active</option>' in form
    made = session.submit_page(form, "/contacts/new", customerId=name, name="Ann", status="active")
    assert made.status_code == 303, visible_text(made.text)
    assert [contact["customerId"] for contact in cast.perform(list_contacts)["data"]] == [customer]


def test_a_member_sees_the_customers_of_their_jobs_without_what_the_office_knows(
    server: RunningServer, cast: Cast
) -> None:
    customer = make_customer(cast, notes="Pays late.", taxNumber="GB 123", phone="01422 555010")
    other = make_customer(cast, "Ryburn")
    session = sign_in_new_person(server, cast, Role.MEMBER)
    me = re.search(r'<a href="/people/([^"]+)">Your details</a>', session.get("/").text)
    assert me
    make_job(cast, customer, assigned=[me[1]])
    listed = visible_text(extract_main(session.get("/customers").text))
    assert "Calder Property" in listed
    assert "Ryburn" not in listed
    shown = visible_text(extract_main(session.get(f"/customers/{customer}").text))
    assert "01422 555010" in shown
    assert "Pays late." not in shown
    assert "GB 123" not in shown
    assert session.get(f"/customers/{other}").status_code == 404
    assert session.get("/customers/new").status_code == 403


def test_a_subcontractor_has_no_area_for_customers(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    home = session.get("/").text
    assert 'href="/customers"' not in home
    assert 'href="/jobs"' in home
    assert session.get("/customers").status_code == 403


def test_help_below_a_field_speaks_to_people(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for path in ("/customers/new", "/sites/new", "/contacts/new", "/jobs/new"):
        help_texts = re.findall(r'<p class="help"[^>]*>([^<]*)</p>', session.get(path).text)
        assert help_texts
        for text in help_texts:
            assert "`" not in text
            assert not re.search(r"\b(null|id|siteId|customerId|[a-z]+_[a-z]+)\b", unescape(text)), text
