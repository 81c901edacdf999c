"""What was refused comes with the ways to clear what stands against it, for those who may go them."""

import ast
import re
from pathlib import Path

import pytest

import mainstay
from billing import an_invoice, issued, paid
from cast import Cast
from doors.office.test_quotes import fields_of
from labour import new_job
from mainstay.business.customers.merging import merge_customers
from mainstay.business.customers.operations import archive_customer, get_customer
from mainstay.business.hours.timers import start_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.people.standing import remove_person
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.business.schedule.cancelling import cancel_job
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.ways_out import is_done_somewhere
from mainstay.terms.rights import Role
from ordering import an_order
from quoting import a_draft, accepted, sent
from running import RunningServer
from trade import a_customer
from visiting import Visit, visit_as, words
from wares import a_kit, a_supplier, an_item


def ways(page: str) -> dict[str, str]:
    """What is offered below a refusal: the words and where each leads."""
    below = re.search(r'class="notice bad".*?<div class="buttons">(.*?)</div>', page, re.DOTALL)
    assert below, page
    return {
        words(found[3]): found[1] or found[2]
        for found in re.finditer(
            r'<(?:form method="post" action="([^"]+)"|a [^>]*href="([^"]+)")[^>]*>(.*?)</', below[1]
        )
        if words(found[3]) != "Back"
    }


@pytest.fixture
def visiting(server: RunningServer, cast: Cast) -> Visit:
    return visit_as(server, cast, Role.OWNER)


def every_one_opens(visiting: Visit, offered: dict[str, str]) -> None:
    assert {visiting.get(path).status_code for path in offered.values()} == {200}


def test_what_is_done_to_the_record_instead_or_to_those_that_belong_to_it(visiting: Visit, cast: Cast) -> None:
    invoice = issued(cast)
    paid(cast, invoice, "400")
    path = f"/invoices/{invoice['id']}"
    offered = ways(visiting.get(f"{path}/void").text)
    assert offered == {"Credit": f"{path}/credit", "See payments": f"/payments?invoiceId={invoice['id']}"}
    every_one_opens(visiting, offered)


def test_a_document_without_lines_leads_to_them(visiting: Visit, cast: Cast) -> None:
    path = f"/invoices/{an_invoice(cast, lines=[])['id']}"
    page = visiting.answer(visiting.get(f"{path}/send").text, f"{path}/send", deliver="none").text
    assert list(ways(page).items()) == [("Edit lines", f"{path}/lines"), ("Edit", f"{path}/edit")]


def test_the_record_that_it_names_is_changed_where_that_can_be(server: RunningServer, cast: Cast) -> None:
    quote = a_draft(cast)
    customer = quote["customerId"]
    cast.perform(archive_customer, customerId=customer)
    path = f"/quotes/{quote['id']}/send"
    visiting = visit_as(server, cast, Role.OFFICE)
    page = visiting.answer(visiting.get(path).text, path, deliver="none").text
    assert "is archived. Restore the customer first." in words(page)
    offered = ways(page)
    assert offered == {"Restore customer": f"/customers/{customer}/restore"}
    # A press of the button does it.
    visiting.follow(visiting.answer(page, offered["Restore customer"]))
    assert cast.perform(get_customer, customerId=customer)["status"] == "active"


def test_what_changes_another_record_is_called_by_what_it_leads_to(visiting: Visit, cast: Cast) -> None:
    supplier = a_supplier(cast)
    path = f"/purchasing/orders/{an_order(cast, supplierId=supplier)['id']}/send"
    cast.perform(save_supplier, supplierId=supplier, status="archived")
    page = visiting.answer(visiting.get(path).text, path, deliver="none").text
    assert "is archived. Restore them first." in words(page)
    assert ways(page) == {"Edit supplier": f"/suppliers/{supplier}/edit"}
    every_one_opens(visiting, ways(page))


def test_what_another_one_of_the_kind_stands_for_is_done_there(visiting: Visit, cast: Cast) -> None:
    item = an_item(cast)
    kit, path = a_kit(cast, {item: "1"}), f"/price-list/{item}/edit"
    page = visiting.post(path, fields_of(visiting.get(path).text) | {"status": "archived"}).text
    assert "is part of the kit New heating. Take it out of there first." in words(page)
    assert ways(page) == {"Edit New heating": f"/price-list/{kit}/edit"}
    every_one_opens(visiting, ways(page))


def test_who_was_merged_leads_to_who_took_over(visiting: Visit, cast: Cast) -> None:
    ended, stays = a_customer(cast), a_customer(cast, "Ryburn")
    cast.perform(merge_customers, customerId=ended, intoCustomerId=stays, confirmed=True)
    asked = {f"/customers/{ended}/edit": {"name": "Calder"}, "/jobs/new": {"customerId": ended, "title": "Roof"}}
    for (path, given), way in zip(asked.items(), ("See Ryburn", "See customer"), strict=True):
        page = visiting.post(path, fields_of(visiting.get(path).text) | given).text
        assert ways(page) == {way: f"/customers/{stays}"}
        # Programs are told the id of who took over; people are led there.
        assert "was merged into Ryburn. Use that customer instead." in words(page)


def test_another_one_of_the_kind_is_found_in_the_list(visiting: Visit, cast: Cast) -> None:
    page = visiting.get(f"/people/{cast.people[Role.OWNER]}/remove").text
    assert "Name another owner first" in words(page)
    assert ways(page) == {"See people": "/people"}


def test_what_is_done_to_no_record_in_particular_has_its_page(visiting: Visit, cast: Cast) -> None:
    job = new_job(cast)["id"]
    cast.perform(start_timer, Role.OWNER, jobId=job)
    page = visiting.get(f"/jobs/{job}/cancel").text
    assert ways(page) == {"See hours": f"/hours?jobId={job}"}
    every_one_opens(visiting, ways(page))


def test_a_form_that_was_refused_has_them_too_and_one_more_is_begun_with_what_is_known(
    visiting: Visit, cast: Cast
) -> None:
    job = new_job(cast)
    cast.perform(cancel_job, jobId=job["id"], reason="Called off", confirmed=True)
    form = visiting.get(f"/jobs/{job['id']}/edit").text
    refused = visiting.post(f"/jobs/{job['id']}/edit", fields_of(form) | {"title": "Another"})
    assert refused.status_code == 409
    assert ways(refused.text) == {"Change status": f"/jobs/{job['id']}/change-status"}

    person = cast.people[Role.MEMBER]
    cast.perform(remove_person, personId=person, confirmed=True)
    path = f"/people/{person}/edit"
    offered = ways(visiting.post(path, fields_of(visiting.get(path).text) | {"phone": "1"}).text)
    assert offered == {"Invite person": "/people/invite"}

    quote = accepted(cast, sent(cast))
    path = f"/quotes/{quote['id']}/revise"
    offered = ways(visiting.post(path, fields_of(visiting.get(path).text)).text)
    assert offered == {"Draft quote": f"/quotes/new?customerId={quote['customerId']}&amp;jobId={quote['jobId']}"}


def test_only_what_whoever_asked_may_do_is_offered(server: RunningServer, cast: Cast) -> None:
    path = f"/invoices/{an_invoice(cast)['id']}/send"
    cast.perform(update_settings, booksClosedUntil="2099-12-31")
    offered = {}
    for role in (Role.OWNER, Role.OFFICE):
        visiting = visit_as(server, cast, role)
        page = visiting.answer(visiting.get(path).text, path, deliver="none").text
        assert "The books are closed until" in words(page)
        offered[role] = ways(page)
    assert offered == {Role.OWNER: {"Update settings": "/settings/documents/edit"}, Role.OFFICE: {}}
    every_one_opens(visit_as(server, cast, Role.OWNER), offered[Role.OWNER])


# Of these a rule says only that they show a record, whose page one goes back to, or it is no rule that names them.
SHOWS = {"get_customer", "get_invoice", "get_quote", "get_report"}


def test_whatever_a_rule_names_is_done_somewhere_in_the_office() -> None:
    operations = {operation.name: operation for operation in CATALOGUE.operations}
    source = Path(mainstay.__file__).parent
    code = [path for room in ("business", "webhooks", "identity") for path in (source / room).rglob("*.py")]
    texts = (node for path in code for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    named = {node.value for node in texts if node.value in operations}
    assert {"credit_invoice", "stop_timer", "find_free_time", "invite_person", "list_jobs"} <= named
    assert {name for name in named if not is_done_somewhere(operations[name])} == SHOWS
