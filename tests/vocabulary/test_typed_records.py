"""A typed record says exactly what the answer says that it was made of."""

from dataclasses import asdict, is_dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from mainstay.business.customers.model import CustomerOut
from mainstay.business.customers.operations import list_customers
from mainstay.vocabulary.schemas import Output
from mainstay.vocabulary.typed_records import RecordFields, extend_record, to_record
from vocabulary.test_wire import EMPTY_OR_FULL, EVERY_OUTPUT, sample_record


class CountedCustomerOut(CustomerOut):
    """A customer with a number of visits."""

    visits: int


def read_plain(value: Any) -> Any:
    """Return what the fields of a record contain, as plain JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if isinstance(value, (RecordFields, dict)):
        return {name: read_plain(part) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [read_plain(part) for part in value] if isinstance(value, list) else value


@EVERY_OUTPUT
@EMPTY_OR_FULL
def test_a_record_is_what_validation_would_make_of_the_answer(model: type[Output], *, empty: bool) -> None:
    _, shown = sample_record(model, empty=empty)
    record = to_record(model, shown)
    validated = model.model_validate(shown)
    assert record == validated
    assert type(record) is model
    assert record.model_dump(by_alias=True, mode="json") == validated.model_dump(by_alias=True, mode="json")


@EVERY_OUTPUT
@EMPTY_OR_FULL
def test_its_fields_are_found_by_their_names_in_json(model: type[Output], *, empty: bool) -> None:
    _, shown = sample_record(model, empty=empty)
    fields = RecordFields(to_record(model, shown))
    assert list(fields) == list(shown)
    assert len(fields) == len(shown)
    for name, value in shown.items():
        assert read_plain(fields[name]) == value


def test_what_an_answer_says_beyond_the_record_is_kept_with_it() -> None:
    _, shown = sample_record(CustomerOut, empty=False)
    customer = to_record(CustomerOut, shown | {"availableActions": ["edit_customer"], "warnings": ["Check it."]})
    assert (customer.available_actions, customer.change_warnings) == (["edit_customer"], ["Check it."])
    fields = RecordFields(customer)
    assert (fields["availableActions"], fields.get("name"), fields.get("visits", 0)) == (
        ["edit_customer"],
        shown["name"],
        0,
    )
    assert "visits" not in fields
    with pytest.raises(KeyError):
        fields["visits"]
    assert to_record(CustomerOut, shown).available_actions == ()


def test_a_record_can_be_extended_by_what_a_page_knows_of_it() -> None:
    _, shown = sample_record(CustomerOut, empty=False)
    customer = to_record(CustomerOut, shown | {"availableActions": ["edit_customer"]})
    counted = extend_record(CountedCustomerOut, customer, visits=3)
    assert (counted.visits, counted.name, counted.available_actions) == (3, customer.name, ["edit_customer"])


def test_a_page_of_a_list_is_read_with_what_it_says_of_the_whole_list() -> None:
    page = list_customers.read_answer(b'{"object":"list","data":[],"hasMore":true,"count":7}')
    assert (page.data, page.has_more, page.count, page.totals) == ([], True, 7, None)
