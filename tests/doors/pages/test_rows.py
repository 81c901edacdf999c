"""Short lists within a form: rows that are filled in, rows that are empty, and whatever else someone may send."""

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.taxes import save_tax_rate
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.form_fields import FormField, form_fields_of, form_values_of, order_faults, to_operation_input
from mainstay.doors.pages.form_rows import lay_out_rows, remove_empty_rows
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.permissions import Permission


def row_fields_of(operation: Operation) -> list[FormField]:
    return [one for one in form_fields_of(operation, frozenset(Permission)) if one.name == "components"]


PARTS, TAXES = row_fields_of(save_price_item), row_fields_of(save_tax_rate)


def read_components(fields: dict[str, str], form_fields: list[FormField] = PARTS) -> object:
    """What an operation is given of what was sent."""
    sent = remove_empty_rows(form_fields, fields)
    return to_operation_input(lay_out_rows(form_fields, sent), sent, DisplaySettings("UTC"))["components"]


def names_in_rows(form_fields: list[FormField], fields: dict[str, str]) -> list[list[str]]:
    return [[part.name for part in row] for row in lay_out_rows(form_fields, fields)[0].rows]


def test_a_list_of_a_small_model_is_asked_for_row_by_row() -> None:
    [one] = PARTS
    assert (one.kind, one.label, one.max_items, one.required) == ("rows", "Parts", 50, False)
    assert [(part.name, part.kind, part.refers_to) for part in one.parts] == [
        ("itemId", "reference", "item"),
        ("quantity", "decimal", None),
    ]


def test_some_rows_are_empty_for_more_but_never_more_than_there_may_be() -> None:
    assert [row[0] for row in names_in_rows(PARTS, {})] == [f"components.{number}.itemId" for number in range(3)]
    two = {"components.0.name": "GST", "components.1.name": "QST"}
    assert len(names_in_rows(PARTS, two)) == 2 + 3
    assert len(names_in_rows(TAXES, two)) == 4
    five = {f"components.{number}.name": "x" for number in range(5)}
    assert len(names_in_rows(TAXES, five)) == 5


def test_rows_that_were_left_empty_are_dropped_and_the_others_close_up() -> None:
    sent = {
        "name": "Kit",
        "components.0.itemId": " ",
        "components.0.quantity": "",
        "components.7.itemId": "BLR",
        "components.7.quantity": "1,5",
        "components.10.itemId": "",
        "components.10.quantity": "2",
    }
    assert remove_empty_rows(PARTS, sent) == {
        "name": "Kit",
        "components.0.itemId": "BLR",
        "components.0.quantity": "1,5",
        "components.1.itemId": "",
        "components.1.quantity": "2",
    }
    assert read_components(sent) == [{"itemId": "BLR", "quantity": "1.5"}, {"itemId": "", "quantity": "2"}]
    assert read_components({}) == []
    # What stood in a row is nothing that anyone has typed.
    emptied = {"components.0.itemId": "", "components.0.quantity": "", "components.0.itemId as shown": "item_1 Boiler"}
    assert remove_empty_rows(PARTS, emptied | {"components.1.quantity": "2"}) == {"components.0.quantity": "2"}


def test_of_too_many_rows_one_more_than_there_may_be_is_read() -> None:
    [one] = PARTS
    sent = {f"components.{number}.itemId": f"Part {number}" for number in range(1000)}
    kept = remove_empty_rows(PARTS, sent | {"name": "Kit"})
    assert kept == {"name": "Kit"} | {f"components.{number}.itemId": f"Part {number}" for number in range(51)}
    assert len(lay_out_rows(PARTS, sent)[0].rows) == 51 == (one.max_items or 0) + 1


def test_what_is_no_row_is_left_alone() -> None:
    odd = {"components": "x", "components.": "x", "components.x.itemId": "x", "components.99999.itemId": "x",
           "components.-1.itemId": "x", "others.0.itemId": "x"}  # fmt: skip
    assert remove_empty_rows(PARTS, odd) == odd
    assert read_components(odd) == []
    assert read_components({"components.01.itemId": "A", "components.1.itemId": "B"}) == [
        {"itemId": "A", "quantity": ""},
        {"itemId": "B", "quantity": ""},
    ]


def test_a_form_begins_with_the_rows_of_its_record() -> None:
    record = {"components": [{"name": "GST", "percent": "5.00"}, {"name": "QST", "percent": "9.975"}]}
    shown = form_values_of(TAXES, record, DisplaySettings("UTC"))
    assert shown == {
        "components.0.name": "GST",
        "components.0.percent": "5.00",
        "components.1.name": "QST",
        "components.1.percent": "9.975",
    }
    assert read_components(shown, TAXES) == record["components"]


def test_what_is_wrong_is_told_by_row_with_the_way_to_its_field() -> None:
    form_fields = lay_out_rows(PARTS, {"components.0.itemId": "x", "components.1.itemId": "y"})
    faults = {"components.1.quantity": "is not a quantity", "components": "are too many"}
    assert order_faults(form_fields, faults) == [
        ("components", "Parts are too many."),
        ("components.1.quantity", "Parts, row 2: Quantity is not a quantity."),
    ]
