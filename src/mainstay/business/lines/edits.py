"""What is sent of lines: new ones, and changes of those there are, each by its id."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from mainstay.business.lines.model import MOST_LINES, Kind, Line
from mainstay.terms.refusal import Fault, Invalid
from mainstay.values.fields import Line as Text
from mainstay.values.fields import Paragraph, Percent, Price, SignedPrice, SignedQuantity, WholeNumber, omittable

Make = Callable[["LineFields", str], Line]


class LineFields(BaseModel):
    """What can be said of a line."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    kind: Kind = omittable(description="`item`, `text` or `heading`; `item` where nothing is said.")
    item_id: str | None = Field(None, description="An item of the price list, by id or code: fills in the rest.")
    description: Paragraph = omittable(description="What it is. Needed without itemId.")
    quantity: SignedQuantity = omittable(description='How many, such as "2.5"; "1" where nothing is said.')
    unit: Text | None = Field(None, description="What one counts it in, such as h.")
    unit_price: SignedPrice = omittable(description='Such as "85.50". Needed without itemId.')
    discount_percent: Percent = omittable(description='What is taken off it, such as "5".')
    tax_rate_id: str | None = Field(None, description="Where not the usual one; null for no tax.")
    optional: bool = omittable(description="Whether the customer may leave it out; quotes only.")
    cost: Price | None = Field(None, description="What one unit costs you; never shown to customers.")

    @property
    def sent(self) -> dict[str, Any]:
        """The fields that were sent, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class NewLine(LineFields):
    """A line of a new document."""


class LineEdit(LineFields):
    """One change of the lines."""

    edit: Literal["add", "set", "remove", "move"] = Field(
        description="`add` a line, `set` fields of one, `remove` or `move` one."
    )
    line_id: str | None = Field(None, description="Which line; not to add one.")
    position: WholeNumber | None = Field(
        None, ge=1, le=MOST_LINES, description="Where it goes, from 1; an added line otherwise goes to the end."
    )

    @property
    def sent(self) -> dict[str, Any]:
        """The fields of a line that were sent, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set if name in LineFields.model_fields}


def made(given: Sequence[LineFields], make: Make) -> list[Line]:
    """The lines of a new document."""
    return _within_bounds([make(one, f"lines.{place}") for place, one in enumerate(given)])


def edited(lines: Sequence[Line], edits: Sequence[LineEdit], make: Make) -> list[Line]:
    """The lines as they are after these changes, one after the other; those that no change names stay as they are."""
    after = list(lines)
    for place, one in enumerate(edits):
        at = f"edits.{place}"
        if one.edit == "add":
            if one.line_id:
                raise Invalid([Fault(f"{at}.lineId", "is not sent to add a line: it gets one")])
            after.insert((one.position or len(after) + 1) - 1, make(one, at))
            continue
        index = _find(after, one, at)
        if one.edit == "set":
            after[index] = _set(after[index], one, at, make)
        line = after.pop(index)
        if one.edit == "move" and one.position is None:
            raise Invalid([Fault(f"{at}.position", "is required to move a line")])
        if one.edit != "remove":
            after.insert(one.position - 1 if one.position else index, line)
    return _within_bounds(after)


def _find(lines: Sequence[Line], edit: LineEdit, at: str) -> int:
    for index, line in enumerate(lines):
        if line.id == edit.line_id:
            return index
    known = ", ".join(line.id for line in lines) or "none"
    problem = f"is no line of it; there are: {known}" if edit.line_id else "is required: which line"
    raise Invalid([Fault(f"{at}.lineId", problem)])


def _set(line: Line, edit: LineEdit, at: str, make: Make) -> Line:
    sent = edit.sent
    if sent.get("item_id"):
        # Made anew of the item, as far as nothing else is said.
        fresh = make(edit, at)
        return replace(fresh, id=line.id, quantity=sent.get("quantity", line.quantity), source=line.source)
    faults = [Fault(f"{at}.{to_camel(name)}", "cannot be null") for name in _NEEDED if sent.get(name, ...) is None]
    if faults:
        raise Invalid(faults)
    return replace(line, **sent)


_NEEDED = ("kind", "description", "quantity", "unit_price", "discount_percent", "optional")


def _within_bounds(lines: list[Line]) -> list[Line]:
    if len(lines) > MOST_LINES:
        raise Invalid([Fault("lines", f"are more than {MOST_LINES}")])
    return lines
