"""A part of a record, such as an address, is changed field by field, through every door alike."""

from typing import Any

import pytest

from mainstay.business.customers.operations import get_customer
from mainstay.business.organisation.settings import get_settings, update_settings
from mainstay.business.organisation.working_hours import WorkingHours
from mainstay.catalogue import CATALOGUE
from mainstay.doors.mcp.tool_schema import describe_tool
from mainstay.kernel.operation import Operation
from mainstay.values.part_changes import MERGE_NOTE
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person
from support.cast import Cast
from support.customers import ADDRESS, make_contact, make_customer, make_site
from support.mcp_client import call_tool
from support.raw_http import check_refusal
from support.servers import RunningServer

BILLING = {**ADDRESS, "line2": "Unit 4"}
MORNING = [{"from": "08:00", "until": "12:00"}]
WEEK: dict[str, Any] = {day: [] for day in WorkingHours.model_fields}
# Every part of a record that a change takes.
PART_FIELDS = [
    (operation, str(field.alias))
    for operation in CATALOGUE.operations
    if operation.on and operation.changes
    for field in operation.input.model_fields.values()
    if field.description and field.description.endswith(MERGE_NOTE)
]


def change_record(server: RunningServer, cast: Cast, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool that changes something answered."""
    result = call_tool(server, cast.make_key(), tool, **given)
    assert result["isError"] is False, result
    return dict(result["structuredContent"])


def test_another_friday_leaves_the_other_days(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, workingHours={**WEEK, "monday": MORNING, "friday": MORNING})
    other = [{"from": "09:00", "until": "13:00"}]
    answer = change_record(server, cast, "update_organisation", workingHours={"friday": other})
    merged = {**WEEK, "monday": MORNING, "friday": other}
    assert answer["settings"]["workingHours"] == merged
    assert cast.perform(get_settings)["workingHours"] == merged
    change_record(server, cast, "update_organisation", workingHours={"monday": None})
    assert cast.perform(get_settings)["workingHours"] == {**WEEK, "friday": other}


def test_a_person_s_own_hours_begin_with_the_usual_ones(server: RunningServer, cast: Cast) -> None:
    cast.perform(update_settings, workingHours={**WEEK, "monday": MORNING, "friday": MORNING})
    person = cast.people[Role.MEMBER]
    answer = change_record(server, cast, "update_person", personId=person, workingHours={"friday": []})
    assert answer["workingHours"] == {**WEEK, "monday": MORNING}
    answer = change_record(server, cast, "update_person", personId=person, workingHours={"tuesday": MORNING})
    assert answer["workingHours"] == {**WEEK, "monday": MORNING, "tuesday": MORNING}
    assert change_record(server, cast, "update_person", personId=person, workingHours=None)["workingHours"] is None
    assert change_record(server, cast, "update_person", personId=person, workingHours={})["workingHours"] is None


def test_another_line_leaves_the_rest_of_an_address(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, billingAddress=ADDRESS)
    answer = change_record(server, cast, "update_customer", customerId=customer, billingAddress={"line2": "Unit 4"})
    assert answer["billingAddress"] == BILLING
    assert "warnings" not in answer
    answer = change_record(server, cast, "update_customer", customerId=customer, billingAddress={"line2": None})
    assert answer["billingAddress"] == ADDRESS
    empty = dict.fromkeys(ADDRESS)
    answer = change_record(server, cast, "update_customer", customerId=customer, billingAddress=empty)
    assert answer["billingAddress"] is None


def test_another_street_with_the_flat_of_the_old_one_is_warned_of(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, billingAddress=BILLING)
    path, key = f"/api/v1/customers/{customer}", cast.make_key()
    moved = server.request("PATCH", path, key, json={"billingAddress": {"line1": "3 Weir Lane"}}).json()
    assert moved["billingAddress"] == {**BILLING, "line1": "3 Weir Lane"}
    warning = 'billingAddress.line2 is still "Unit 4", although billingAddress.line1 changed.'
    advice = "Check whether it is still right. If not, send it as well, or as null."
    assert moved["warnings"] == [f"{warning} {advice}"]
    for whole in ({"line1": "4 Weir Lane", "line2": None}, {"line1": "5 Weir Lane", "line2": "Unit 5"}, {"city": "X"}):
        assert "warnings" not in server.request("PATCH", path, key, json={"billingAddress": whole}).json()


def test_one_kind_of_mail_leaves_the_other(server: RunningServer, cast: Cast) -> None:
    contact = make_contact(cast, make_customer(cast), receives={"quotes": True})
    answer = change_record(server, cast, "save_contact", contactId=contact, receives={"invoices": True})
    assert answer["receives"] == {"quotes": True, "invoices": True}
    answer = change_record(server, cast, "save_contact", contactId=contact, receives={"quotes": None})
    assert answer["receives"] == {"quotes": False, "invoices": True}


def test_a_site_that_is_called_by_its_address_is_called_by_the_merged_one(server: RunningServer, cast: Cast) -> None:
    site = make_site(cast, make_customer(cast))
    answer = change_record(server, cast, "save_site", siteId=site, address={"line1": "3 Weir Lane"})
    assert (answer["name"], answer["address"]) == ("3 Weir Lane", {**ADDRESS, "line1": "3 Weir Lane"})


def test_what_must_be_there_need_not_be_sent_again_but_cannot_be_missing(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    customer = make_customer(cast, eInvoiceAddress={"scheme": "0088", "id": "1"})
    answer = change_record(server, cast, "update_customer", customerId=customer, eInvoiceAddress={"id": "2"})
    assert answer["eInvoiceAddress"] == {"scheme": "0088", "id": "2"}
    path = f"/api/v1/customers/{make_customer(cast, 'Other')}"
    wrong = server.request("PATCH", path, key, json={"eInvoiceAddress": {"id": "2"}, "billingAddress": {"city": ""}})
    assert check_refusal(wrong, 422) == "billingAddress.city: is empty"
    wrong = server.request("PATCH", path, key, json={"eInvoiceAddress": {"id": "2"}})
    assert check_refusal(wrong, 422) == "eInvoiceAddress.scheme: is required"


def test_accounts_numbers_and_mails_are_merged_too(server: RunningServer, cast: Cast) -> None:
    bank = {"name": "Calder Bank", "account": "12345678", "sortCode": "20-00-00"}
    change_record(server, cast, "update_organisation", bank=bank)
    answer = change_record(server, cast, "update_organisation", bank={"account": "87654321"})
    assert {name: answer["bank"][name] for name in bank} == {**bank, "account": "87654321"}
    own = {"subject": "Ours", "text": "Pay {due}."}
    change_record(server, cast, "update_organisation", mailTexts={"invoice": own}, jobNumbers={"prefix": "A-"})
    answer = change_record(
        server, cast, "update_organisation", mailTexts={"invoice": {"subject": "Yours"}}, jobNumbers={"digits": 6}
    )["settings"]
    assert answer["mailTexts"]["invoice"] == {**own, "subject": "Yours"}
    assert answer["jobNumbers"] == {"prefix": "A-", "digits": 6, "next": 1}


def test_a_form_still_clears_what_is_emptied_in_it(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, billingAddress=BILLING, eInvoiceAddress={"scheme": "0088", "id": "1"})
    session = sign_in_new_person(server, cast, Role.OFFICE)
    typed = {"name": "Calder Property", "kind": "company", "billingAddress.line1": "3 Weir Lane"}
    answer = session.submit_form(f"/customers/{customer}/edit", **typed)
    assert answer.status_code == 303, answer.text
    after = cast.perform(get_customer, customerId=customer)
    assert after["billingAddress"] == {**dict.fromkeys(ADDRESS), "line1": "3 Weir Lane"}
    assert after["eInvoiceAddress"] is None


def test_every_part_is_said_to_be_merged() -> None:
    part_names = {f"{operation.name}.{name}" for operation, name in PART_FIELDS}
    assert {
        "update_customer.billingAddress",
        "update_organisation.workingHours",
        "update_person.workingHours",
        "save_contact.receives",
        "save_site.address",
        "save_supplier.address",
        "update_settings.invoiceNumbers",
    } <= part_names


@pytest.mark.parametrize(("operation", "name"), PART_FIELDS, ids=lambda one: getattr(one, "name", one))
def test_tools_say_so_as_well(operation: Operation, name: str) -> None:
    if Door.AGENT in operation.doors:
        assert describe_tool(operation)["inputSchema"]["properties"][name]["description"].endswith(
            "Its parts are merged."
        )
