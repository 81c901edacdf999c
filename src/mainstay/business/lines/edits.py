"""The inputs for lines: new lines, and edits of existing lines by id."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import MAX_LINE_CHARACTERS, MAX_LINES, Line
from mainstay.documents.snapshot import LineKind
from mainstay.values.descriptions import describe
from mainstay.values.fields import (
    Paragraph,
    Percent,
    Price,
    RecordReference,
    SignedPrice,
    SignedQuantity,
    WholeNumber,
    omittable_field,
)
from mainstay.values.fields import TextLine as Text
from mainstay.values.message import DecimalNumber, Message
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.vocabulary.refusal import Fault, Invalid


class LineFields(BaseModel):
    """The fields of a line of any document."""

    model_config = INPUT_CONFIG

    kind: LineKind = omittable_field(description=describe("[[Default: `item`.]]"))
    item_id: Annotated[Text | None, RecordReference(prefix="item")] = Field(
        None, description=describe("[[A price list item's ID or code; fills in the rest.]]")
    )
    description: Paragraph = omittable_field(description=describe("[[Required without itemId.]]"))
    quantity: SignedQuantity = omittable_field(description='E.g. "2.5". Default: "1".')
    unit: Text | None = Field(None, description="E.g. h.")
    unit_price: SignedPrice = omittable_field(description=describe('E.g. "85.50". [[Required without itemId.]]'))
    discount_percent: Percent = omittable_field(description='Discount on this line, e.g. "5".')
    tax_rate_id: Text | None = Field(None, description=describe("[[Default: your usual rate; null for no tax.]]"))

    @property
    def sent_fields(self) -> dict[str, Any]:
        """The values of the fields that were sent, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set if name not in _EDIT_FIELDS}

    @property
    def has_price(self) -> bool:
        """Whether the line has a price, which texts and headings do not have."""
        return "kind" not in self.model_fields_set or self.kind == "item"


_EDIT_FIELDS = frozenset({"edit", "line_id", "position"})


class EditFields(LineFields):
    """The fields of one edit of the lines."""

    edit: Literal["add", "set", "remove", "move"] = Field(
        description=describe("[[`add` a line, or `set` fields of, `remove` or `move` an existing one.]]")
    )
    line_id: str | None = Field(None, description=describe("[[The existing line; leave out for `add`.]]"))
    position: WholeNumber | None = Field(
        None, ge=1, le=MAX_LINES, description="New position, from 1. Default: an added line goes last."
    )


class SalesFields(BaseModel):
    """The additional fields of a line on quotes and invoices."""

    optional: bool = omittable_field(description="The customer can choose it. Quotes only.")
    cost: Price | None = Field(None, description="What one unit costs you. Never shown to customers.")


class NewLine(LineFields, SalesFields):
    """A line of a new document."""


class LineEdit(EditFields, SalesFields):
    """One change of the lines."""


class LineMaker(Protocol):
    """Creates lines from inputs: knows the prices and the taxes of one kind of document."""

    @property
    def restores_lines(self) -> bool:
        """Whether lines that were removed are added again, each with the id that it had."""
        ...

    def make_line(self, fields: dict[str, Any], path: str) -> Line:
        """Create a line from the fields that were sent; `path` locates it in the input."""
        ...

    def check_fields(self, fields: dict[str, Any], path: str) -> None:
        """Refuse fields that a line cannot have."""
        ...


def make_lines(given: Sequence[LineFields], maker: LineMaker) -> list[Line]:
    """Create the lines of a new document."""
    lines: list[Line] = []
    faults: list[Fault] = []
    for index, new_line in enumerate(given):
        try:
            lines.append(maker.make_line(new_line.sent_fields, f"lines.{index}"))
        except Invalid as invalid:
            faults += invalid.faults
    if faults:
        raise Invalid(faults)
    return check_limits(lines, "lines")


def apply_edits(lines: Sequence[Line], edits: Sequence[EditFields], maker: LineMaker) -> list[Line]:
    """Apply edits to lines, one after the other; lines that no edit names stay as they are."""
    changed = list(lines)
    for number, edit in enumerate(edits):
        path = f"edits.{number}"
        _check_edit(edit, path, restores_lines=maker.restores_lines)
        if edit.edit == "add":
            kept_id = {"id": edit.line_id} if edit.line_id else {}
            changed.insert((edit.position or len(changed) + 1) - 1, maker.make_line(edit.sent_fields | kept_id, path))
            continue
        index = _find_line(changed, edit, path)
        line = changed.pop(index)
        if edit.edit == "set":
            line = _change_line(line, edit.sent_fields, path, maker)
        if edit.edit != "remove":
            changed.insert(edit.position - 1 if edit.position else index, line)
    return check_limits(changed, "edits", lines_before=lines)


def check_limits(
    lines: list[Line], field: str, advice: Message | None = None, lines_before: Sequence[Line] = ()
) -> list[Line]:
    """Return the lines; refuse more lines or longer texts than a document may have, and give the advice.

    Texts may stay as long as they are in `before`, so that texts older than the limit can be shortened step by step.
    """
    if len(lines) > MAX_LINES:
        advice = advice or Message("remove some lines")
        raise Invalid([Fault(field, Message("would be more than {limit}: {advice}", limit=MAX_LINES, advice=advice))])
    if (characters := _count_characters(lines)) > max(MAX_LINE_CHARACTERS, _count_characters(lines_before)):
        message = Message(
            "would have {characters} characters in total (a line break counts as {break_characters}). The limit is"
            " {limit}: {advice}",
            characters=DecimalNumber(str(characters)),
            break_characters=_BREAK_CHARACTERS,
            limit=DecimalNumber(str(MAX_LINE_CHARACTERS)),
            advice=advice or Message("shorten the descriptions"),
        )
        raise Invalid([Fault(field, message)])
    return lines


# How many characters a line break counts as. Even a short line takes space on paper and memory to print.
_BREAK_CHARACTERS = 20


def _count_characters(lines: Sequence[Line]) -> int:
    texts = [text for line in lines for text in (line.description, line.unit or "")]
    return sum(len(text) + (_BREAK_CHARACTERS - 1) * text.count("\n") for text in texts)


def _check_edit(edit: EditFields, path: str, *, restores_lines: bool) -> None:
    """Refuse an edit with fields that do not belong to its kind of edit."""
    faults = []
    if edit.edit == "add" and edit.line_id and not restores_lines:
        faults.append(Fault(f"{path}.lineId", Message("can't be sent for a new line, which gets its own ID")))
    if edit.edit == "move" and edit.position is None:
        faults.append(Fault(f"{path}.position", Message("is required to move a line")))
    if edit.edit == "remove" and edit.position is not None:
        faults.append(Fault(f"{path}.position", Message("can't be sent to remove a line")))
    if edit.edit in {"remove", "move"}:
        faults += [
            Fault(
                f"{path}.{to_camel(name)}",
                Message("can't be sent to move or remove a line", for_programs=Message("use set")),
            )
            for name in sorted(edit.sent_fields)
        ]
    if faults:
        raise Invalid(faults)


def _find_line(lines: Sequence[Line], edit: EditFields, path: str) -> int:
    for index, line in enumerate(lines):
        if line.id == edit.line_id:
            return index
    if not edit.line_id:
        raise Invalid([Fault(f"{path}.lineId", Message("is required"))])
    hint = Message("its lines are {line_ids}", line_ids=[line.id for line in lines]) if lines else None
    raise Invalid([Fault(f"{path}.lineId", Message("is not a line of this document", for_programs=hint))])


def _change_line(line: Line, fields: dict[str, Any], path: str, maker: LineMaker) -> Line:
    if line.is_deduction and (wrong := sorted(fields.keys() - {"description"})):
        message = Message("can't be changed, because the line deducts an earlier invoice: remove the line instead")
        raise Invalid([Fault(f"{path}.{to_camel(name)}", message) for name in wrong])
    new_kind = fields.get("kind", line.kind)
    if line.source and new_kind != "item":
        message = Message("can't be changed, because the line invoices work or a quote: remove the line instead")
        raise Invalid([Fault(f"{path}.kind", message)])
    if fields.get("item_id") or new_kind != line.kind:
        # Create the line again, from the item or as its new kind. Fields that were not sent keep their values.
        kept_values = {"quantity": line.quantity, "discount_percent": line.discount_percent, "optional": line.optional}
        kept_text = {} if fields.get("item_id") else {"description": line.description}
        return replace(maker.make_line(kept_values | kept_text | fields, path), id=line.id, source=line.source)
    if new_kind != "item":
        fields = {name: value for name, value in fields.items() if name in {"kind", "description"}}
    maker.check_fields(fields, path)
    if "optional" in fields and fields["optional"] != line.optional:
        fields = fields | {"chosen": not fields["optional"]}
    return replace(line, **fields)
