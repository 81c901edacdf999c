"""What a form says of fields that were left empty."""

import pytest

from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.jobs.operations import create_job
from mainstay.business.purchasing.bills import record_bill
from mainstay.doors.pages.form_fields import explain_faults, form_fields_of
from mainstay.doors.pages.message_format import problem_sentence
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Permission


@pytest.mark.parametrize(
    ("operation", "name", "typed", "sentence"),
    [
        (record_payment, "amount", "", "Enter an amount."),
        (record_payment, "amount", " ", "Enter an amount."),
        (record_payment, "amount", "much", "Amount is wrong."),
        (record_bill, "on", "", "Enter a bill date."),
        (create_job, "customerId", "", "Choose a customer."),
        (create_job, "customerId", "Somebody", "Customer is wrong."),
        # What may be left empty, and what is chosen from a list, has another reason.
        (create_job, "budget", "", "Agreed price is wrong."),
        (create_job, "priority", "", "Priority is wrong."),
    ],
)
def test_a_required_field_left_empty_says_what_to_enter(
    operation: Operation, name: str, typed: str, sentence: str
) -> None:
    form_fields = form_fields_of(operation, frozenset(Permission))
    problem = explain_faults(form_fields, {name: typed}, {name: "is wrong"})[name]
    [label] = [field.label for field in form_fields if field.name == name]
    assert problem_sentence(label, problem) == sentence
