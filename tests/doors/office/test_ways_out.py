"""What was refused comes with the ways to clear what stands against it, for those who may go them."""

import ast
import re
from pathlib import Path

import pytest

import mainstay
from doors.office.test_quotes import fields_of
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, get_customer
from mainstay.business.hours.timers import start_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.roles import remove_person
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.schedule.job_cancellation import cancel_job
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.kit.unblocking_actions import has_office_page
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.hours import make_assigned_job
from support.invoices import issue_invoice, make_invoice, pay_invoice
from support.prices import make_kit_item, make_price_item, make_supplier
from support.purchases import make_order
from support.quotes import accept_quote, issue_quote, make_quote
from support.servers import RunningServer


def list_unblocking_actions(page: str) -> dict[str, str]:
    """What is offered below a refusal: the words and where each leads."""
    below = re.search(r'class="notice bad".*?<div class="buttons">(.*?)</div>', page, re.DOTALL)
    assert below, page
    return {
        visible_text(found[3]): found[1] or found[2]
        for found in re.finditer(
            r'<(?:form method="post" action="([^"]+)"|a [^>]*href="([^"]+)")[^>]*>(.*?)</', below[1]
        )
        if visible_text(found[3]) != "Back"
    }


@pytest.fixture
def session(server: RunningServer, cast: Cast) -> BrowserSession:
    return sign_in_cast(server, cast, Role.OWNER)


def check_all_open(session: BrowserSession, offered: dict[str, str]) -> None:
    assert {session.get(path).status_code for path in offered.values()} == {200}


def test_what_is_done_to_the_record_instead_or_to_those_that_belong_to_it(session: BrowserSession, cast: Cast) -> None:
    invoice = issue_invoice(cast)
    pay_invoice(cast, invoice, "400")
    path = f"/invoices/{invoice['id']}"
    offered = list_unblocking_actions(session.get(f"{path}/void").text)
    assert offered == {"Credit": f"{path}/credit", "See payments": f"/payments?invoiceId={invoice['id']}"}
    check_all_open(session, offered)


def test_a_document_without_lines_leads_to_them(session: BrowserSession, cast: Cast) -> None:
    path = f"/invoices/{make_invoice(cast, lines=[])['id']}"
    page = session.get(f"{path}/send").text
    assert list(list_unblocking_actions(page).items()) == [("Edit lines", f"{path}/lines"), ("Edit", f"{path}/edit")]


def test_the_record_that_it_names_is_changed_where_that_can_be(server: RunningServer, cast: Cast) -> None:
    quote = make_quote(cast)
    customer = quote["customerId"]
    cast.perform(archive_customer, customerId=customer)
    path = f"/quotes/{quote['id']}/send"
    session = sign_in_cast(server, cast, Role.OFFICE)
    page = session.get(path).text
    assert "is archived. Restore the customer first." in visible_text(page)
    offered = list_unblocking_actions(page)
    assert offered == {"Restore customer": f"/customers/{customer}/restore"}
    # A press of the button does it.
    session.follow_redirect(session.submit_page(page, offered["Restore customer"]))
    assert cast.perform(get_customer, customerId=customer)["status"] == "active"


def test_what_changes_another_record_is_called_by_what_it_leads_to(session: BrowserSession, cast: Cast) -> None:
    supplier = make_supplier(cast)
    path = f"/purchasing/orders/{make_order(cast, supplierId=supplier)['id']}/send"
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    page = session.get(path).text
    assert "is archived. Restore them first." in visible_text(page)
    assert list_unblocking_actions(page) == {"Edit supplier": f"/suppliers/{supplier}/edit"}
    check_all_open(session, list_unblocking_actions(page))


def test_what_another_one_of_the_kind_stands_for_is_done_there(session: BrowserSession, cast: Cast) -> None:
    item = make_price_item(cast)
    kit, path = make_kit_item(cast, {item: "1"}), f"/price-list/{item}/edit"
    page = session.post(path, fields_of(session.get(path).text) | {"status": "archived"}).text
    assert "is part of the kit New heating. Remove it there first." in visible_text(page)
    assert list_unblocking_actions(page) == {"Edit New heating": f"/price-list/{kit}/edit"}
    check_all_open(session, list_unblocking_actions(page))


def test_who_was_merged_leads_to_who_took_over(session: BrowserSession, cast: Cast) -> None:
    ended, stays = make_customer(cast), make_customer(cast, "Ryburn")
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    forms = {f"/customers/{ended}/edit": {"name": "Calder"}, "/jobs/new": {"customerId": ended, "title": "Roof"}}
    for (path, given), way in zip(forms.items(), ("Open Ryburn", "See customer"), strict=True):
        page = session.post(path, fields_of(session.get(path).text) | given).text
        assert list_unblocking_actions(page) == {way: f"/customers/{stays}"}
        # Programs are told the id of who took over; people are led there.
        assert "was merged into Ryburn. Use that customer instead." in visible_text(page)


def test_another_one_of_the_kind_is_found_in_the_list(session: BrowserSession, cast: Cast) -> None:
    page = session.get(f"/people/{cast.people[Role.OWNER]}/remove").text
    assert "Make someone else an owner first" in visible_text(page)
    assert list_unblocking_actions(page) == {"See people": "/people"}


def test_what_is_done_to_no_record_in_particular_has_its_page(session: BrowserSession, cast: Cast) -> None:
    job = make_assigned_job(cast)["id"]
    cast.perform(start_timer, Role.OWNER, jobId=job)
    page = session.get(f"/jobs/{job}/cancel").text
    assert list_unblocking_actions(page) == {"See hours": f"/hours?jobId={job}"}
    check_all_open(session, list_unblocking_actions(page))


def test_a_form_that_was_refused_has_them_too_and_one_more_is_begun_with_what_is_known(
    session: BrowserSession, cast: Cast
) -> None:
    job = make_assigned_job(cast)
    cast.perform(cancel_job, jobId=job["id"], reason="Called off", confirmed=True)
    form = session.get(f"/jobs/{job['id']}/edit").text
    refused = session.post(f"/jobs/{job['id']}/edit", fields_of(form) | {"title": "Another"})
    assert refused.status_code == 409
    assert list_unblocking_actions(refused.text) == {"Change status": f"/jobs/{job['id']}/change-status"}

    person = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=person, confirmed=True)
    path = f"/people/{person}/edit"
    offered = list_unblocking_actions(session.post(path, fields_of(session.get(path).text) | {"phone": "1"}).text)
    assert offered == {"Invite person": "/people/invite"}

    quote = accept_quote(cast, issue_quote(cast))
    path = f"/quotes/{quote['id']}/revise"
    offered = list_unblocking_actions(session.post(path, fields_of(session.get(path).text)).text)
    assert offered == {"Create quote": f"/quotes/new?customerId={quote['customerId']}&amp;jobId={quote['jobId']}"}


def test_only_what_whoever_asked_may_do_is_offered(server: RunningServer, cast: Cast) -> None:
    path = f"/invoices/{make_invoice(cast)['id']}/send"
    cast.perform(update_settings, booksClosedUntil="2099-12-31")
    offered = {}
    for role in (Role.OWNER, Role.OFFICE):
        session = sign_in_cast(server, cast, role)
        page = session.get(path).text
        assert "The books are closed up to" in visible_text(page)
        offered[role] = list_unblocking_actions(page)
    assert offered == {Role.OWNER: {"Update settings": "/settings/documents/edit"}, Role.OFFICE: {}}
    check_all_open(sign_in_cast(server, cast, Role.OWNER), offered[Role.OWNER])


# Of these a rule says only that they show a record, whose page one goes back to, or it is no rule that names them.
PLACES_OF_NAMES = {"declare_inverse": 0, "Inverse": 0}
READ_OPERATIONS = {"get_customer", "get_invoice", "get_quote", "get_report"}


def test_whatever_a_rule_names_is_done_somewhere_in_the_office() -> None:
    operations = {operation.name: operation for operation in CATALOGUE.operations}
    source = Path(mainstay.__file__).parent
    code = [path for areas in ("business", "webhooks", "identity") for path in (source / areas).rglob("*.py")]
    nodes = [node for path in code for node in ast.walk(ast.parse(path.read_text()))]
    calls = [(ast.unparse(node.func), node.args) for node in nodes if isinstance(node, ast.Call)]
    # What undoes a change is done by undoing it.
    others = [arguments[place] for name, arguments in calls if (place := PLACES_OF_NAMES.get(name)) is not None]
    texts = [node for node in nodes if isinstance(node, ast.Constant) and node not in others]
    named = {node.value for node in texts if node.value in operations}
    assert {"credit_invoice", "stop_timer", "find_free_time", "invite_person", "list_jobs"} <= named
    assert {name for name in named if not has_office_page(operations[name])} == READ_OPERATIONS
