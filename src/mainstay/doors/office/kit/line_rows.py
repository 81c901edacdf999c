"""The lines of a document as rows of a form, and what was typed there as edits of the lines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mainstay.business.lines.model import ShownLine
from mainstay.business.purchasing.lines import PurchaseLine
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.edit_conflicts import (
    MARKS_FIELD,
    EditConflict,
    FormFields,
    Parts,
    ShownMarks,
    build_marks,
    form_field_labels,
    group_fields,
)
from mainstay.doors.pages.form_fields import FormField
from mainstay.doors.pages.message_format import problem_sentence
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.values.choices import to_label
from mainstay.values.ids import is_id
from mainstay.values.message import RenderedText
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.typed_records import RecordFields

# A line of a sales document or of a purchase.
DocumentLine = ShownLine | PurchaseLine

# The id of the first row for a new line; those of others are numbered.
NEW_LINE = "new"
_NEW_FIELD = re.compile(rf"{NEW_LINE}([1-9][0-9]{{0,2}})? [a-zA-Z]+")
# The hidden field of a new row for what was picked: the id of a price list item, or `free`, and its title. It counts as
# long as the description is that title.
ITEM_FIELD = "item"
TEXT_FIELDS = ("description", "unit")
_PRICE_FIELDS = ("unitPrice", "cost")
DECIMAL_FIELDS = ("quantity", "unitPrice", "discountPercent", "cost")
_TEXT_LINE_FIELDS = ("description",)
_ITEM_LINE_FIELDS = (*TEXT_FIELDS, *DECIMAL_FIELDS, "taxRateId")
# The labels of the fields, in display order. A heading or a text is labelled by its kind.
LINE_LABELS = {
    "description": "Description",
    "quantity": "Quantity",
    "unit": "Unit",
    "unitPrice": "Price",
    "discountPercent": "Discount",
    "taxRateId": "Tax",
    "cost": "Cost",
}
# The kind of a line that has a price, and the labels of the others.
ITEM_KIND = "item"
_KIND_LABELS = {"heading": "Heading", "text": "Text"}


@dataclass(frozen=True)
class LineRow:
    """A line as the form shows it."""

    id: str
    kind: str
    fields: Mapping[str, str]
    optional: bool = False
    amount: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)

    def label(self, name: str) -> str:
        """Return the label of a field, also of one that the row has no input for."""
        if name == "description" and self.kind in _KIND_LABELS:
            return _KIND_LABELS[self.kind]
        return LINE_LABELS.get(name) or to_label(name)

    def fault_links(self) -> list[tuple[str, str]]:
        """Return the faults of the row in the order of its fields, each with the id of the input to link to."""
        order = [*(name for name in LINE_LABELS if name in self.faults), *(self.faults.keys() - LINE_LABELS.keys())]
        inputs = [(name if name in self.fields else "description", name) for name in order]
        return [
            (f"{self.id}-{target}", problem_sentence(self.label(name), self.faults[name])) for target, name in inputs
        ]


@dataclass(frozen=True)
class LineEdits:
    """The edits of lines that an operation takes, and the row of each edit."""

    edits: list[dict[str, Any]]
    rows: list[str]

    def place_faults(self, refusal: Invalid) -> Invalid:
        """Return the refusal with the faults of edits at the form fields of their rows."""
        return Invalid([self._place_fault(fault) for fault in refusal.faults], RenderedText(refusal.text))

    def _place_fault(self, fault: Fault) -> Fault:
        name, _, rest = fault.field.partition(".")
        position, _, field_name = rest.partition(".")
        if name != "edits" or not position.isdecimal() or int(position) >= len(self.rows):
            return fault
        return replace(fault, field=f"{self.rows[int(position)]} {field_name or 'description'}")


def split_faults(faults: Mapping[str, str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the faults by row and field, and as sentences those that belong to no row."""
    by_row: dict[str, dict[str, str]] = {}
    others = []
    for form_field, problem in faults.items():
        row, _, name = form_field.partition(" ")
        if name:
            by_row.setdefault(row, {})[name] = problem
        else:
            others.append(problem_sentence(to_label(form_field), problem))
    return by_row, others


def build_line_rows(
    lines: Sequence[DocumentLine],
    typed: Mapping[str, str],
    faults: Mapping[str, Mapping[str, str]],
    display: DisplaySettings,
) -> list[LineRow]:
    """Return the rows of the existing lines, with what was typed into them."""
    return [_build_row(line, typed, faults.get(line.id, {}), display) for line in lines]


def new_line_ids(typed: Mapping[str, str], spare_rows: int) -> list[str]:
    """Return the ids of the rows for new lines: up to the last one that is filled in, and spare ones after it."""
    matches = [_NEW_FIELD.fullmatch(name) for name, text in typed.items() if text.strip()]
    last = max((int(matched[1] or 0) for matched in matches if matched), default=-1)
    return [f"{NEW_LINE}{number or ''}" for number in range(last + 1 + spare_rows)]


def build_new_row(row: str, typed: Mapping[str, str], faults: Mapping[str, Mapping[str, str]]) -> LineRow:
    """Return the row for a new line, with what was typed there."""
    kind = typed.get(f"{row} kind", "")
    values = {name: typed.get(f"{row} {name}", "") for name in (ITEM_FIELD, *_ITEM_LINE_FIELDS)}
    is_text = kind in _KIND_LABELS
    return LineRow(row, kind if is_text else ITEM_KIND, values, f"{row} optional" in typed, faults=faults.get(row, {}))


def line_edits_of(
    lines: Sequence[DocumentLine], typed: Mapping[str, str], item_ids: Mapping[str, str], display: DisplaySettings
) -> LineEdits:
    """Return the edits that turn the lines into what was typed. Only changed fields are sent.

    An item whose description and price were cleared is removed. New lines have the items of their rows, whose
    descriptions are those of the price list.
    """
    edits: list[tuple[str, dict[str, Any]]] = []
    for line in lines:
        changes = _find_changes(line, typed, display)
        if changes and line.kind == ITEM_KIND and not _has_content(line.id, typed):
            edits.append((line.id, {"edit": "remove", "lineId": line.id}))
        elif changes:
            edits.append((line.id, {"edit": "set", "lineId": line.id, **changes}))
    edits += [
        (row, {"edit": "add", **new_line})
        for row in new_line_ids(typed, spare_rows=0)
        if (new_line := _build_new_line(row, typed, item_ids.get(row), display))
    ]
    if move := _build_move(lines, typed.get("do", "")):
        edits.append((move["lineId"], move))
    return LineEdits([edit for _, edit in edits], [row for row, _ in edits])


def line_marks_of(lines: Sequence[DocumentLine], other_parts: Parts, display: DisplaySettings) -> str:
    """Return the marks of what the form shows of the lines, and of its other parts."""
    return build_marks({**_group_line_fields(lines, display), **other_parts})


def merge_line_changes(
    lines: Sequence[DocumentLine],
    typed: Mapping[str, str],
    form_fields: Sequence[FormField],
    current: FormFields,
    display: DisplaySettings,
) -> tuple[dict[str, str], EditConflict]:
    """Merge typed lines, and the other fields of their form, with what someone changed meanwhile.

    Return the fields, and the conflict to show.
    """
    current_parts = {**_group_line_fields(lines, display), **group_fields(form_fields, current)}
    sent_lines = {line.id for line in lines if _was_sent(line, typed, display)}
    # Browsers do not send a box that is not ticked.
    typed_parts = {
        name: {name: typed[name]} if name in typed else {}
        for name in current_parts
        if name in typed or (name.endswith(_OPTIONAL_SUFFIX) and name.removesuffix(_OPTIONAL_SUFFIX) in sent_lines)
    }
    merged = ShownMarks(typed).merge(typed_parts | group_fields(form_fields, typed), current_parts)
    new_fields = {name: text for name, text in typed.items() if _NEW_FIELD.fullmatch(name)}
    changed_lines = [_describe_field(lines, name) for name in merged.changed_by_both if " " in name]
    conflict = EditConflict(
        [*form_field_labels(form_fields, merged.changed_by_both), *changed_lines], find_removed_edits(lines, typed)
    )
    return new_fields | merged.fields | {MARKS_FIELD: build_marks(current_parts)}, conflict


def find_removed_edits(lines: Sequence[DocumentLine], typed: Mapping[str, str]) -> list[str]:
    """Return the typed descriptions of lines that were edited in the form but removed meanwhile."""
    shown, present = ShownMarks(typed), {line.id for line in lines}
    # A line that this form removes is already gone if the form is sent a second time.
    present.add(typed.get("do", "").removeprefix("remove "))
    changed = {name.partition(" ")[0] for name, text in typed.items() if not shown.has_shown(name, {name: text})}
    return [typed.get(f"{line} description", "") for line in sorted(changed - present) if is_id(line, "line")]


_OPTIONAL_SUFFIX = " optional"


def _group_line_fields(lines: Sequence[DocumentLine], display: DisplaySettings) -> dict[str, FormFields]:
    """Return what the form shows of the lines, by field."""
    parts: dict[str, FormFields] = {}
    for line in lines:
        parts |= {
            f"{line.id} {name}": {f"{line.id} {name}": text} for name, text in _line_values(line, display).items()
        }
        optional = f"{line.id}{_OPTIONAL_SUFFIX}"
        parts[optional] = {optional: "on"} if _is_optional(line) else {}
    return parts


def _describe_field(lines: Sequence[DocumentLine], part: str) -> str:
    """Return the label of a field with the number of its line."""
    record_id, _, name = part.partition(" ")
    number, line = next((number, line) for number, line in enumerate(lines, start=1) if line.id == record_id)
    label = current_language().translate(LineRow(record_id, line.kind, {}).label(name))
    return translate_text("{label} in line {number}", label=label, number=str(number))


def _is_optional(line: DocumentLine) -> bool:
    return isinstance(line, ShownLine) and line.optional


def _was_sent(line: DocumentLine, typed: Mapping[str, str], display: DisplaySettings) -> bool:
    """Return whether a line was on the sent form."""
    return any(f"{line.id} {name}" in typed for name in _line_values(line, display))


def _build_row(
    line: DocumentLine, typed: Mapping[str, str], faults: Mapping[str, str], display: DisplaySettings
) -> LineRow:
    values = _line_values(line, display)
    typed_values = {name: typed.get(f"{line.id} {name}", text) for name, text in values.items()}
    optional = f"{line.id} optional" in typed if _was_sent(line, typed, display) else _is_optional(line)
    return LineRow(line.id, line.kind, typed_values, optional, line.amount, faults)


def _line_values(line: DocumentLine, display: DisplaySettings) -> dict[str, str]:
    """Return the form values of a line."""
    names = _ITEM_LINE_FIELDS if line.kind == ITEM_KIND else _TEXT_LINE_FIELDS
    # Purchase lines have no cost in addition to their price.
    fields = RecordFields(line)
    values = {name: "" if fields[name] is None else str(fields[name]) for name in names if name in fields}
    if "quantity" in values:
        values["quantity"] = values["quantity"].removesuffix(".00")
        percent = values["discountPercent"].rstrip("0").rstrip(".")
        values["discountPercent"] = "" if percent == "0" else percent
    return {name: _to_field(name, text, display) for name, text in values.items()}


def _to_field(name: str, text: str, display: DisplaySettings) -> str:
    if name in _PRICE_FIELDS and text:
        return display.price_to_field(text)
    return display.number_to_field(text) if name in DECIMAL_FIELDS else text


def _find_changes(line: DocumentLine, typed: Mapping[str, str], display: DisplaySettings) -> dict[str, Any]:
    if not _was_sent(line, typed, display):
        return {}
    changes: dict[str, Any] = {}
    for name, text in _line_values(line, display).items():
        new_text = typed.get(f"{line.id} {name}", text).strip()
        if new_text != text:
            changes[name] = _parse_field(name, new_text, display)
    optional = f"{line.id} optional" in typed
    if line.kind == ITEM_KIND and optional != _is_optional(line):
        changes["optional"] = optional
    return changes


def _parse_field(name: str, typed_text: str, display: DisplaySettings) -> Any:
    """Return the value of a typed field. An empty field is None or the field's default."""
    if not typed_text:
        return _DEFAULTS.get(name)
    return display.parse_number(typed_text) if name in DECIMAL_FIELDS else typed_text


_DEFAULTS: dict[str, Any] = {"description": "", "quantity": "1", "unitPrice": "0", "discountPercent": "0"}


def _has_content(row: str, typed: Mapping[str, str]) -> bool:
    return any(typed.get(f"{row} {name}", "").strip() for name in ("description", "unitPrice"))


def _build_new_line(
    row: str, typed: Mapping[str, str], item_id: str | None, display: DisplaySettings
) -> dict[str, Any]:
    kind = typed.get(f"{row} kind", ITEM_KIND)
    values = {name: typed.get(f"{row} {name}", "").strip() for name in _ITEM_LINE_FIELDS}
    if not values["description"]:
        return {}
    if kind != ITEM_KIND:
        return {"kind": kind, "description": values["description"]}
    new_line = {name: _parse_field(name, text, display) for name, text in values.items() if text}
    if item_id:
        new_line |= {"itemId": item_id}
        del new_line["description"]
    return new_line | ({"optional": True} if f"{row} optional" in typed else {})


def _build_move(lines: Sequence[DocumentLine], button: str) -> dict[str, Any] | None:
    """Return the edit of a button beside a line: move it up or down, or remove it."""
    verb, _, record_id = button.partition(" ")
    positions = {line.id: position for position, line in enumerate(lines, start=1)}
    if record_id not in positions or verb not in {"up", "down", "remove"}:
        return None
    if verb == "remove":
        return {"edit": "remove", "lineId": record_id}
    position = positions[record_id] + (1 if verb == "down" else -1)
    return {"edit": "move", "lineId": record_id, "position": min(max(position, 1), len(lines))}
