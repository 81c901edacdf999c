import pytest

from mainstay.business.customers.merging import merge_customers
from mainstay.business.reporting.statement_sending import (
    get_statement,
    get_statement_pdf,
    list_statements,
    send_statement,
)
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice


def send_one_statement(cast: Cast) -> tuple[str, str]:
    """Send a statement; return its id and its customer."""
    customer = issue_invoice(cast)["customerId"]
    made = cast.perform(send_statement, Role.OFFICE, customerId=customer, deliver="none", confirmed=True)
    return str(made["id"]), customer


def test_statements_are_listed_newest_first_and_by_customer(cast: Cast) -> None:
    first, customer = send_one_statement(cast)
    second, _ = send_one_statement(cast)
    assert [one["id"] for one in cast.perform(list_statements, Role.OFFICE)["data"]] == [second, first]
    [own] = cast.perform(list_statements, Role.OFFICE, customerId=customer)["data"]
    assert (own["id"], own["customerName"]) == (first, "Calder Property")


def test_they_go_over_to_the_customer_into_whom_another_is_merged(cast: Cast) -> None:
    statement, customer = send_one_statement(cast)
    other = make_customer(cast, "Ryburn")
    preview = cast.perform(merge_customers, customerId=customer, intoCustomerId=other)
    assert "1 statement will move to Ryburn." in preview["effects"]
    cast.perform(merge_customers, customerId=customer, intoCustomerId=other, confirmed=True)
    assert cast.perform(get_statement, Role.OFFICE, statementId=statement)["customerId"] == other


def test_the_pdf_is_named_by_what_it_is(cast: Cast) -> None:
    statement, _ = send_one_statement(cast)
    paper = cast.perform(get_statement_pdf, Role.OFFICE, statementId=statement)
    assert paper["name"].startswith("Statement of account 20")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_others_see_none(cast: Cast, role: Role) -> None:
    statement, _ = send_one_statement(cast)
    with pytest.raises(Forbidden):
        cast.perform(list_statements, role)
    with pytest.raises(Forbidden):
        cast.perform(get_statement, role, statementId=statement)


def test_another_organisation_s_are_not_found(cast: Cast, other_cast: Cast) -> None:
    statement, _ = send_one_statement(cast)
    assert other_cast.perform(list_statements)["data"] == []
    for operation in (get_statement, get_statement_pdf):
        with pytest.raises(NotFound):
            other_cast.perform(operation, statementId=statement)
