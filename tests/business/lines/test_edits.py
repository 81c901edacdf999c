from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from mainstay.business.lines.edits import LineEdit, NewLine, apply_edits, make_lines
from mainstay.business.lines.model import MAX_LINE_CHARACTERS, MAX_LINES, Line
from mainstay.values.message import Message
from mainstay.values.money import UNIT
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.validation import faults_of


@dataclass
class FakeLineMaker:
    """Makes lines without a price list: `boiler` is the only item."""

    made: int = 0
    restores_lines: bool = False

    def make_line(self, fields: dict[str, Any], path: str) -> Line:
        if fields.get("item_id") == "boiler":
            fields = {"description": "Boiler", "unit_price": 890 * UNIT, "unit": "pcs"} | fields
        if fields.get("description") is None:
            raise Invalid([Fault(f"{path}.description", Message("is required"))])
        self.check_fields(fields, path)
        self.made += 1
        return Line(**{"id": f"new{self.made}"} | fields | {"chosen": not fields.get("optional")})

    def check_fields(self, fields: dict[str, Any], path: str) -> None:
        if fields.get("tax_rate_id") == "gone":
            raise Invalid([Fault(f"{path}.taxRateId", Message("is archived"))])


LINES = [
    Line("a", "Survey", unit_price=80 * UNIT),
    Line("b", "Boiler", item_id="old", quantity=2 * UNIT, unit_price=700 * UNIT, discount_percent=5 * UNIT),
    Line("c", "Warranty", unit_price=60 * UNIT, optional=True, chosen=False),
    Line("d", "Thank you", "text"),
]


def make_edit(**given: object) -> LineEdit:
    return LineEdit.model_validate(given)


def lines_after(*edits: LineEdit) -> list[Line]:
    return apply_edits(LINES, edits, FakeLineMaker())


def refusal_text(*edits: LineEdit) -> str:
    with pytest.raises(Invalid) as refusal:
        lines_after(*edits)
    return refusal.value.text


def join_ids(lines: list[Line]) -> str:
    return "".join(line.id[0] for line in lines)


def test_one_line_is_changed_and_the_others_are_the_very_same() -> None:
    lines = lines_after(make_edit(edit="set", lineId="b", quantity="3"))
    assert lines[1].quantity == 3 * UNIT
    assert (lines[1].unit_price, lines[1].discount_percent, lines[1].item_id) == (700 * UNIT, 5 * UNIT, "old")
    assert [lines[0], lines[2], lines[3]] == [LINES[0], LINES[2], LINES[3]]


def test_a_line_is_added_at_the_end_or_where_it_is_said() -> None:
    assert join_ids(lines_after(make_edit(edit="add", description="X"))) == "abcdn"
    assert join_ids(lines_after(make_edit(edit="add", description="X", position=1))) == "nabcd"
    assert join_ids(lines_after(make_edit(edit="add", description="X", position=200))) == "abcdn"


@pytest.mark.parametrize(
    ("line", "to", "order"), [("a", 1, "abcd"), ("a", 4, "bcda"), ("a", 99, "bcda"), ("d", 1, "dabc"), ("b", 3, "acbd")]
)
def test_a_line_is_moved_to_its_new_place(line: str, to: int, order: str) -> None:
    moved = lines_after(make_edit(edit="move", lineId=line, position=to))
    assert join_ids(moved) == order
    assert sorted(moved, key=lambda one: one.id) == LINES


def test_a_line_is_removed_and_the_others_stay() -> None:
    assert lines_after(make_edit(edit="remove", lineId="b")) == [LINES[0], LINES[2], LINES[3]]


def test_changes_are_made_one_after_the_other() -> None:
    changes = [
        make_edit(edit="remove", lineId="a"),
        make_edit(edit="add", description="X", position=1),
        make_edit(edit="set", lineId="c", description="Warranty, 5 years", position=1),
    ]
    assert join_ids(lines_after(*changes)) == "cnbd"


def test_nothing_changes_the_lines_that_were_given() -> None:
    before = list(LINES)
    lines_after(make_edit(edit="remove", lineId="a"), make_edit(edit="move", lineId="d", position=1))
    assert before == LINES


def test_a_line_becomes_another_item_and_keeps_how_many_there_are() -> None:
    line = lines_after(make_edit(edit="set", lineId="b", itemId="boiler"))[1]
    assert (line.id, line.description, line.unit_price, line.unit) == ("b", "Boiler", 890 * UNIT, "pcs")
    assert (line.quantity, line.discount_percent) == (2 * UNIT, 5 * UNIT)
    line = lines_after(make_edit(edit="set", lineId="b", itemId="boiler", quantity="1", unitPrice="900"))[1]
    assert (line.quantity, line.unit_price) == (UNIT, 900 * UNIT)


def test_a_line_keeps_what_it_bills_when_it_is_made_of_another_item() -> None:
    billed = Line("e", "Hours", source={"kind": "timeEntry", "id": "entry_1"})
    assert (
        apply_edits([billed], [make_edit(edit="set", lineId="e", itemId="boiler")], FakeLineMaker())[0].source
        == billed.source
    )


def test_a_line_without_its_item_is_otherwise_as_it_was() -> None:
    line = lines_after(make_edit(edit="set", lineId="b", itemId=None))[1]
    assert (line.item_id, line.description, line.unit_price) == (None, "Boiler", 700 * UNIT)


def test_what_one_may_choose_is_not_chosen_until_someone_does() -> None:
    assert lines_after(make_edit(edit="add", description="X", optional=True))[4].chosen is False
    assert lines_after(make_edit(edit="set", lineId="a", optional=True))[0].is_counted is False
    line = lines_after(make_edit(edit="set", lineId="c", optional=False))[2]
    assert (line.chosen, line.is_counted) == (True, True)


def test_what_was_chosen_stays_chosen_when_something_else_of_it_changes() -> None:
    chosen = [Line("c", "Warranty", optional=True, chosen=True)]
    assert apply_edits(chosen, [make_edit(edit="set", lineId="c", optional=True, quantity="2")], FakeLineMaker())[
        0
    ].chosen


def test_words_cost_nothing_whatever_is_sent_beside_them() -> None:
    line = lines_after(make_edit(edit="set", lineId="d", unitPrice="10", description="Thanks"))[3]
    assert (line.description, line.unit_price, line.is_counted) == ("Thanks", 0, False)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"edit": "set", "lineId": "x", "quantity": "1"},
            "edits.0.lineId: is not a line of this document, its lines are a, b, c and d",
        ),
        ({"edit": "set", "quantity": "1"}, "edits.0.lineId: is required"),
        ({"edit": "remove"}, "edits.0.lineId: is required"),
        (
            {"edit": "add", "lineId": "a", "description": "X"},
            "edits.0.lineId: can't be sent for a new line, which gets its own ID",
        ),
        ({"edit": "move", "lineId": "a"}, "edits.0.position: is required to move a line"),
        ({"edit": "remove", "lineId": "a", "position": 2}, "edits.0.position: can't be sent to remove a line"),
        (
            {"edit": "move", "lineId": "a", "position": 2, "unitPrice": "1"},
            "edits.0.unitPrice: can't be sent to move or remove a line, use set",
        ),
        ({"edit": "add"}, "edits.0.description: is required"),
        ({"edit": "set", "lineId": "a", "taxRateId": "gone"}, "edits.0.taxRateId: is archived"),
    ],
)
def test_what_is_wrong_is_told_by_edit_and_field(given: dict[str, object], text: str) -> None:
    assert refusal_text(make_edit(**given)) == text


def test_the_second_edit_is_the_one_that_is_named() -> None:
    fine = make_edit(edit="remove", lineId="a")
    assert refusal_text(fine, make_edit(edit="remove", lineId="a")).startswith(
        "edits.1.lineId: is not a line of this document"
    )


def test_all_faults_of_new_lines_are_told_at_once() -> None:
    lines = [NewLine.model_validate(one) for one in ({}, {"description": "X"}, {"quantity": "1"})]
    with pytest.raises(Invalid, match=r"^lines\.0\.description: is required; lines\.2\.description: is required$"):
        make_lines(lines, FakeLineMaker())


def test_there_are_no_more_lines_than_a_document_can_have() -> None:
    full = [Line(f"l{number}", "X") for number in range(MAX_LINES)]
    with pytest.raises(Invalid, match=r"^edits: would be more than 200: remove some lines$"):
        apply_edits(full, [make_edit(edit="add", description="X")], FakeLineMaker())
    swapped = [make_edit(edit="remove", lineId="l0"), make_edit(edit="add", description="X")]
    assert len(apply_edits(full, swapped, FakeLineMaker())) == MAX_LINES


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"kind": None}, "kind: is not one of 'item', 'text' or 'heading'"),
        ({"description": None}, "description: is not text"),
        ({"description": "x" * 2001}, "description: is longer than 2000 characters"),
        ({"quantity": None}, "quantity: is not a quantity such as 2, 0.5 or -1"),
        ({"quantity": "10000000.0001"}, "quantity: is too large, the maximum is 10000000"),
        ({"quantity": "1e3"}, "quantity: is not a quantity such as 2, 0.5 or -1"),
        ({"unitPrice": None}, "unitPrice: is not a number such as 85.50 or -20"),
        ({"unitPrice": "0.00001"}, "unitPrice: is not a number such as 85.50 or -20"),
        ({"unitPrice": "-1234567890123"}, "unitPrice: is too large, the maximum is 900719925474"),
        ({"discountPercent": "100.1"}, "discountPercent: is too large, the maximum is 100"),
        ({"discountPercent": "-1"}, "discountPercent: is not a percentage such as 19 or 5.5"),
        ({"cost": "-1"}, "cost: is not a number such as 85.50, from 0"),
        ({"chosen": True}, "chosen: is not known here"),
        ({"itemId": ""}, "itemId: is empty"),
    ],
)
def test_what_no_line_can_have_is_refused(given: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        NewLine.model_validate(given, strict=True)
    assert str(faults_of(refusal.value)[0]).startswith(problem)


@pytest.mark.parametrize(("quantity", "price"), [("0", "0"), ("-1", "0.005"), ("10000000", "900000000000")])
def test_what_lies_at_the_border_is_taken(quantity: str, price: str) -> None:
    line = NewLine.model_validate({"quantity": quantity, "unitPrice": price}, strict=True)
    assert line.sent_fields.keys() == {"quantity", "unit_price"}


def test_the_texts_of_all_lines_have_no_more_characters_than_can_be_printed() -> None:
    one = {"description": "x" * 2_000, "unitPrice": "1"}
    assert len(make_lines([NewLine.model_validate(one)] * 50, FakeLineMaker())) == 50
    too_long = (
        r"^lines: would have 102000 characters in total \(a line break counts as 20\)\."
        r" The limit is 100000: shorten the descriptions$"
    )
    with pytest.raises(Invalid, match=too_long):
        make_lines([NewLine.model_validate(one)] * 51, FakeLineMaker())
    broken = {"description": "x" + "\nx" * 500, "unitPrice": "1"}
    assert len(make_lines([NewLine.model_validate(broken)] * 9, FakeLineMaker())) == 9
    with pytest.raises(Invalid, match="would have 105010 characters"):
        make_lines([NewLine.model_validate(broken)] * 10, FakeLineMaker())


def test_texts_that_were_longer_before_are_changed_as_long_as_they_grow_no_further() -> None:
    long = [Line(f"l{number}", "x" * (MAX_LINE_CHARACTERS // 50)) for number in range(MAX_LINES)]
    assert len(apply_edits(long, [], FakeLineMaker())) == MAX_LINES
    assert (
        len(apply_edits(long, [make_edit(edit="set", lineId="l0", description="y" * 2_000)], FakeLineMaker()))
        == MAX_LINES
    )
    assert len(apply_edits(long, [make_edit(edit="remove", lineId="l0")], FakeLineMaker())) == MAX_LINES - 1
    short = [*long[1:], Line("l0", "x")]
    with pytest.raises(Invalid, match=r"^edits: would have 398002 characters"):
        apply_edits(short, [make_edit(edit="set", lineId="l0", description="xx")], FakeLineMaker())
