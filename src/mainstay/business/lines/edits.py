"""What is sent of lines: new ones, and changes of those there are, each by its id."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import MOST_CHARACTERS, MOST_LINES, Kind, Line
from mainstay.terms.refusal import Fault, Invalid
from mainstay.values.fields import Line as Text
from mainstay.values.fields import (
    Paragraph,
    Percent,
    Price,
    Reference,
    SignedPrice,
    SignedQuantity,
    WholeNumber,
    omittable,
)
from mainstay.values.models import GIVEN


class LineFields(BaseModel):
    """What can be said of a line of any document."""

    model_config = GIVEN

    kind: Kind = omittable(description="An `item` if not said, a `text` or a `heading`.")
    item_id: Annotated[Text | None, Reference(to="item")] = Field(
        None, description="An item of the price list, by id or code: fills in the rest."
    )
    description: Paragraph = omittable(description="What it is. Needed without itemId.")
    quantity: SignedQuantity = omittable(description='How many, such as "2.5"; else "1".')
    unit: Text | None = Field(None, description="What one counts it in, such as h.")
    unit_price: SignedPrice = omittable(description='Such as "85.50". Needed without itemId.')
    discount_percent: Percent = omittable(description='What is taken off it, such as "5".')
    tax_rate_id: Text | None = Field(None, description="Where not the usual one; null for no tax.")

    @property
    def sent(self) -> dict[str, Any]:
        """The fields of a line that were sent, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set if name not in _OF_EDITS}

    @property
    def bills(self) -> bool:
        """Whether it is more than words."""
        return "kind" not in self.model_fields_set or self.kind == "item"


_OF_EDITS = frozenset({"edit", "line_id", "position"})


class EditFields(LineFields):
    """What can be said of one change of the lines."""

    edit: Literal["add", "set", "remove", "move"] = Field(
        description="`add` a line, `set` fields of one, `remove` or `move` one."
    )
    line_id: str | None = Field(None, description="Which line; not to add one.")
    position: WholeNumber | None = Field(
        None, ge=1, le=MOST_LINES, description="Where it goes, from 1; else an added line is last."
    )


class SoldFields(BaseModel):
    """What can be said besides of a line of what is sold."""

    optional: bool = omittable(description="Whether the customer may choose it; quotes only.")
    cost: Price | None = Field(None, description="What one unit costs you; never shown to customers.")


class NewLine(LineFields, SoldFields):
    """A line of a new document."""


class LineEdit(EditFields, SoldFields):
    """One change of the lines."""


class Making(Protocol):
    """What knows how lines are made here: prices, and what is taxed how."""

    def line(self, sent: dict[str, Any], at: str) -> Line:
        """A new line of what was sent, at this place of the input."""
        ...

    def check(self, sent: dict[str, Any], at: str) -> None:
        """Refuse what a line cannot have."""
        ...


def made(given: Sequence[LineFields], making: Making) -> list[Line]:
    """The lines of a new document."""
    lines: list[Line] = []
    faults: list[Fault] = []
    for place, one in enumerate(given):
        try:
            lines.append(making.line(one.sent, f"lines.{place}"))
        except Invalid as invalid:
            faults += invalid.faults
    if faults:
        raise Invalid(faults)
    return within_bounds(lines, "lines")


def edited(lines: Sequence[Line], edits: Sequence[EditFields], making: Making) -> list[Line]:
    """The lines as they are after these changes, one after the other; those that no change names stay as they are."""
    after = list(lines)
    for place, one in enumerate(edits):
        at = f"edits.{place}"
        _check(one, at)
        if one.edit == "add":
            after.insert((one.position or len(after) + 1) - 1, making.line(one.sent, at))
            continue
        index = _find(after, one, at)
        line = after.pop(index)
        if one.edit == "set":
            line = _set(line, one.sent, at, making)
        if one.edit != "remove":
            after.insert(one.position - 1 if one.position else index, line)
    return within_bounds(after, "edits", before=lines)


def within_bounds(lines: list[Line], field: str, instead: str = "", before: Sequence[Line] = ()) -> list[Line]:
    """Refuse more lines or longer texts than a document may have, and say what to do instead, if there is something.

    Texts may be as long as they were before: what was written before there was a bound can be shortened step by step.
    """
    if len(lines) > MOST_LINES:
        told = f"would make more than {MOST_LINES} lines"
        raise Invalid([Fault(field, f"{told}; {instead}" if instead else told)])
    if (characters := _count_characters(lines)) > max(MOST_CHARACTERS, _count_characters(before)):
        told = (
            f"would have {characters:,} characters in all lines together, counting {_BREAK} for a line break;"
            f" at most {MOST_CHARACTERS:,} are possible"
        )
        raise Invalid([Fault(field, f"{told}; {instead or 'shorten the descriptions'}")])
    return lines


# A line takes up the paper, and the memory to print it, however short it is.
_BREAK = 20


def _count_characters(lines: Sequence[Line]) -> int:
    texts = [text for line in lines for text in (line.description, line.unit or "")]
    return sum(len(text) + (_BREAK - 1) * text.count("\n") for text in texts)


def _check(one: EditFields, at: str) -> None:
    """Refuse what says something that its change does not do."""
    faults = []
    if one.edit == "add" and one.line_id:
        faults.append(Fault(f"{at}.lineId", "is not sent to add a line: it gets one"))
    if one.edit == "move" and one.position is None:
        faults.append(Fault(f"{at}.position", "is required to move a line"))
    if one.edit == "remove" and one.position is not None:
        faults.append(Fault(f"{at}.position", "is not sent to remove a line"))
    if one.edit in {"remove", "move"}:
        faults += [
            Fault(f"{at}.{to_camel(name)}", f"is not sent to {one.edit} a line: use set") for name in sorted(one.sent)
        ]
    if faults:
        raise Invalid(faults)


def _find(lines: Sequence[Line], edit: EditFields, at: str) -> int:
    for index, line in enumerate(lines):
        if line.id == edit.line_id:
            return index
    known = ", ".join(line.id for line in lines) or "none"
    problem = f"is no line of it; there are: {known}" if edit.line_id else "is required: which line"
    raise Invalid([Fault(f"{at}.lineId", problem)])


def _set(line: Line, sent: dict[str, Any], at: str, making: Making) -> Line:
    if line.deducts and (other := sorted(sent.keys() - {"description"})):
        told = "stays: what was invoiced before is taken off as it was; remove the line where it is not to be"
        raise Invalid([Fault(f"{at}.{to_camel(name)}", told) for name in other])
    becomes = sent.get("kind", line.kind)
    if line.source and becomes != "item":
        told = "stays: the line bills something; remove it where that is not to be billed"
        raise Invalid([Fault(f"{at}.kind", told)])
    if sent.get("item_id") or becomes != line.kind:
        # Made anew, of the item or as what it becomes; what is not said of it stays where it can.
        stays = {"quantity": line.quantity, "discount_percent": line.discount_percent, "optional": line.optional}
        words = {} if sent.get("item_id") else {"description": line.description}
        return replace(making.line(stays | words | sent, at), id=line.id, source=line.source)
    if becomes != "item":
        sent = {name: value for name, value in sent.items() if name in {"kind", "description"}}
    making.check(sent, at)
    if "optional" in sent and sent["optional"] != line.optional:
        sent = sent | {"chosen": not sent["optional"]}
    return replace(line, **sent)
