"""The inputs for lines: new lines, and edits of existing lines by id."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import MAX_LINE_CHARACTERS, MAX_LINES, Line
from mainstay.documents.snapshot import LineKind
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
from mainstay.values.model_config import INPUT_CONFIG
from mainstay.vocabulary.refusal import Fault, Invalid


class LineFields(BaseModel):
    """The fields of a line of any document."""

    model_config = INPUT_CONFIG

    kind: LineKind = omittable_field(description="An `item` if not said, a `text` or a `heading`.")
    item_id: Annotated[Text | None, RecordReference(prefix="item")] = Field(
        None, description="An item of the price list, by id or code: fills in the rest."
    )
    description: Paragraph = omittable_field(description="What it is. Needed without itemId.")
    quantity: SignedQuantity = omittable_field(description='How many, such as "2.5"; else "1".')
    unit: Text | None = Field(None, description="What one counts it in, such as h.")
    unit_price: SignedPrice = omittable_field(description='Such as "85.50". Needed without itemId.')
    discount_percent: Percent = omittable_field(description='What is taken off it, such as "5".')
    tax_rate_id: Text | None = Field(None, description="Where not the usual one; null for no tax.")

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
        description="`add` a line, `set` fields of one, `remove` or `move` one."
    )
    line_id: str | None = Field(None, description="Which line; not to add one.")
    position: WholeNumber | None = Field(
        None, ge=1, le=MAX_LINES, description="Where it goes, from 1; else an added line is last."
    )


class SalesFields(BaseModel):
    """The additional fields of a line on quotes and invoices."""

    optional: bool = omittable_field(description="Whether the customer may choose it; quotes only.")
    cost: Price | None = Field(None, description="What one unit costs you; never shown to customers.")


class NewLine(LineFields, SalesFields):
    """A line of a new document."""


class LineEdit(EditFields, SalesFields):
    """One change of the lines."""


class LineMaker(Protocol):
    """Creates lines from inputs: knows the prices and the taxes of one kind of document."""

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
        _check_edit(edit, path)
        if edit.edit == "add":
            changed.insert((edit.position or len(changed) + 1) - 1, maker.make_line(edit.sent_fields, path))
            continue
        index = _find_line(changed, edit, path)
        line = changed.pop(index)
        if edit.edit == "set":
            line = _change_line(line, edit.sent_fields, path, maker)
        if edit.edit != "remove":
            changed.insert(edit.position - 1 if edit.position else index, line)
    return check_limits(changed, "edits", lines_before=lines)


def check_limits(lines: list[Line], field: str, instead: str = "", lines_before: Sequence[Line] = ()) -> list[Line]:
    """Return the lines; refuse more lines or longer texts than a document may have, and say what to do `instead`.

    Texts may stay as long as they are in `before`, so that texts older than the limit can be shortened step by step.
    """
    if len(lines) > MAX_LINES:
        problem = f"would make more than {MAX_LINES} lines"
        raise Invalid([Fault(field, f"{problem}; {instead}" if instead else problem)])
    if (characters := _count_characters(lines)) > max(MAX_LINE_CHARACTERS, _count_characters(lines_before)):
        problem = (
            f"would have {characters:,} characters in all lines together, counting {_BREAK_CHARACTERS}"
            " for a line break;"
            f" at most {MAX_LINE_CHARACTERS:,} are possible"
        )
        raise Invalid([Fault(field, f"{problem}; {instead or 'shorten the descriptions'}")])
    return lines


# How many characters a line break counts as. Even a short line takes space on paper and memory to print.
_BREAK_CHARACTERS = 20


def _count_characters(lines: Sequence[Line]) -> int:
    texts = [text for line in lines for text in (line.description, line.unit or "")]
    return sum(len(text) + (_BREAK_CHARACTERS - 1) * text.count("\n") for text in texts)


def _check_edit(edit: EditFields, path: str) -> None:
    """Refuse an edit with fields that do not belong to its kind of edit."""
    faults = []
    if edit.edit == "add" and edit.line_id:
        faults.append(Fault(f"{path}.lineId", "is not sent to add a line: it gets one"))
    if edit.edit == "move" and edit.position is None:
        faults.append(Fault(f"{path}.position", "is required to move a line"))
    if edit.edit == "remove" and edit.position is not None:
        faults.append(Fault(f"{path}.position", "is not sent to remove a line"))
    if edit.edit in {"remove", "move"}:
        faults += [
            Fault(f"{path}.{to_camel(name)}", f"is not sent to {edit.edit} a line: use set")
            for name in sorted(edit.sent_fields)
        ]
    if faults:
        raise Invalid(faults)


def _find_line(lines: Sequence[Line], edit: EditFields, path: str) -> int:
    for index, line in enumerate(lines):
        if line.id == edit.line_id:
            return index
    known_ids = ", ".join(line.id for line in lines) or "none"
    problem = f"is no line of it; there are: {known_ids}" if edit.line_id else "is required: which line"
    raise Invalid([Fault(f"{path}.lineId", problem)])


def _change_line(line: Line, fields: dict[str, Any], path: str, maker: LineMaker) -> Line:
    if line.is_deduction and (wrong := sorted(fields.keys() - {"description"})):
        problem = "stays: what was invoiced before is taken off as it was; remove the line where it is not to be"
        raise Invalid([Fault(f"{path}.{to_camel(name)}", problem) for name in wrong])
    new_kind = fields.get("kind", line.kind)
    if line.source and new_kind != "item":
        problem = "stays: the line bills something; remove it where that is not to be billed"
        raise Invalid([Fault(f"{path}.kind", problem)])
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
