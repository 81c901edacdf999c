"""The lines of a document as a form: a row of fields for each, and what was typed there as edits of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mainstay.doors.pages.meanwhile import SHOWN, Fields, Overtaken, Seen, marks
from mainstay.doors.pages.showing import Here
from mainstay.terms.refusal import Invalid
from mainstay.values.ids import is_id
from mainstay.values.words import words_of

Line = Mapping[str, Any]

# The row in which a line is typed that is not there yet.
NEW = "new"
# What is picked from the price list there.
ITEM = "item"
WORDS = ("description", "unit")
_PRICES = ("unitPrice", "cost")
DECIMALS = ("quantity", "unitPrice", "discountPercent", "cost")
_TEXT = ("description",)
_ITEM = (*WORDS, *DECIMALS, "taxRateId")
# What the fields are called, in the order in which they stand; a heading or a text is called by its kind.
LABELS = {
    ITEM: "From the price list",
    "description": "What it is",
    "quantity": "Quantity",
    "unit": "Unit",
    "unitPrice": "Price",
    "discountPercent": "Discount",
    "taxRateId": "Tax",
    "cost": "Cost",
}
_KINDS = {"heading": "Heading", "text": "Text"}


@dataclass(frozen=True)
class Row:
    """One line, as it is shown in the form."""

    id: str
    kind: str
    fields: Mapping[str, str]
    optional: bool = False
    amount: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)

    def label(self, name: str) -> str:
        """What one of its fields is called; what is no field of its own is said of the row."""
        if name == "description" and self.kind in _KINDS and self.id != NEW:
            return _KINDS[self.kind]
        return LABELS.get(name) or words_of(name)

    def ways(self) -> list[tuple[str, str]]:
        """What is wrong in it, in the order of its fields, each with the field to go to."""
        order = [*(name for name in LABELS if name in self.faults), *(self.faults.keys() - LABELS.keys())]
        shown = [(name if name in self.fields else "description", name) for name in order]
        return [(f"{self.id}-{to}", f"{self.label(name)} {self.faults[name]}") for to, name in shown]


@dataclass(frozen=True)
class Edits:
    """What was typed, as an operation takes it; and the row that each edit is about."""

    edits: list[dict[str, Any]]
    rows: list[str]

    def faults(self, refusal: Invalid) -> tuple[dict[str, dict[str, str]], list[str]]:
        """What is wrong, by row and field; and what is wrong with none of them."""
        by_row: dict[str, dict[str, str]] = {}
        others = []
        for fault in refusal.faults:
            name, _, rest = fault.field.partition(".")
            place, _, of_line = rest.partition(".")
            if name == "edits" and place.isdecimal() and int(place) < len(self.rows):
                by_row.setdefault(self.rows[int(place)], {})[of_line or "description"] = fault.problem
            elif fault.field == ITEM:
                by_row.setdefault(NEW, {})[ITEM] = fault.problem
            else:
                others.append(f"{fault.field} {fault.problem}")
        return by_row, others


def rows(
    lines: Sequence[Line], typed: Mapping[str, str], faults: Mapping[str, Mapping[str, str]], here: Here
) -> list[Row]:
    """The lines that are there, with what was typed over them."""
    return [_row(line, typed, faults.get(line["id"], {}), here) for line in lines]


def new_row(typed: Mapping[str, str], faults: Mapping[str, Mapping[str, str]]) -> Row:
    """The row for one more, with what was typed there."""
    names = (ITEM, *_ITEM)
    kind = typed.get(f"{NEW} kind", "item")
    written = {name: typed.get(f"{NEW} {name}", "") for name in names}
    return Row(NEW, kind, written, f"{NEW} optional" in typed, faults=faults.get(NEW, {}))


def edits_of(lines: Sequence[Line], typed: Mapping[str, str], item: str | None, here: Here) -> Edits:
    """The edits that make the lines what was typed: only what differs from what was shown is sent."""
    found: list[tuple[str, dict[str, Any]]] = []
    for line in lines:
        changes = _changes(line, typed, here)
        if changes:
            found.append((line["id"], {"edit": "set", "lineId": line["id"], **changes}))
    if added := _added(typed, item, here):
        found.append((NEW, {"edit": "add", **added}))
    if moved := _moved(lines, typed.get("do", "")):
        found.append((moved["lineId"], moved))
    return Edits([edit for _, edit in found], [row for row, _ in found])


def marks_of(lines: Sequence[Line], here: Here) -> str:
    """The marks of what is shown of these lines."""
    return marks(_parts(lines, here))


def overtaken(lines: Sequence[Line], typed: Mapping[str, str], here: Here) -> tuple[dict[str, str], Overtaken]:
    """What was typed over lines that someone has changed meanwhile, with what they changed; and what is said of it."""
    now, sent = _parts(lines, here), {line["id"] for line in lines if _is_sent(line, typed, here)}
    # A box that is not ticked is not sent.
    own = {
        name: {name: typed[name]} if name in typed else {}
        for name in now
        if name in typed or (name.endswith(_OPTIONAL) and name.removesuffix(_OPTIONAL) in sent)
    }
    again = Seen(typed).merged(own, now)
    new = {name: text for name, text in typed.items() if name.startswith(f"{NEW} ")}
    told = Overtaken([_called(lines, name) for name in again.both], taken_out(lines, typed))
    return new | again.fields | {SHOWN: marks(now)}, told


def taken_out(lines: Sequence[Line], typed: Mapping[str, str]) -> list[str]:
    """What was typed as the texts of lines that were changed in the form and are there no more."""
    seen, there = Seen(typed), {line["id"] for line in lines}
    # What one takes out oneself is gone when the form is sent a second time.
    there.add(typed.get("do", "").removeprefix("remove "))
    changed = {name.partition(" ")[0] for name, text in typed.items() if not seen.has(name, {name: text})}
    return [typed.get(f"{line} description", "") for line in sorted(changed - there) if is_id(line, "line")]


_OPTIONAL = " optional"


def _parts(lines: Sequence[Line], here: Here) -> dict[str, Fields]:
    """What a form shows of these lines, field by field."""
    parts: dict[str, Fields] = {}
    for line in lines:
        parts |= {f"{line['id']} {name}": {f"{line['id']} {name}": text} for name, text in _shown(line, here).items()}
        optional = f"{line['id']}{_OPTIONAL}"
        parts[optional] = {optional: "on"} if line.get("optional") else {}
    return parts


def _called(lines: Sequence[Line], part: str) -> str:
    """What people call a field of a line."""
    identity, _, name = part.partition(" ")
    number, line = next((number, line) for number, line in enumerate(lines, start=1) if line["id"] == identity)
    return f"{Row(identity, line['kind'], {}).label(name)} in line {number}"


def _is_sent(line: Line, typed: Mapping[str, str], here: Here) -> bool:
    """Whether a line was on the form."""
    return any(f"{line['id']} {name}" in typed for name in _shown(line, here))


def _row(line: Line, typed: Mapping[str, str], faults: Mapping[str, str], here: Here) -> Row:
    shown = _shown(line, here)
    written = {name: typed.get(f"{line['id']} {name}", text) for name, text in shown.items()}
    optional = f"{line['id']} optional" in typed if _is_sent(line, typed, here) else bool(line.get("optional"))
    return Row(line["id"], line["kind"], written, optional, line["amount"], faults)


def _shown(line: Line, here: Here) -> dict[str, str]:
    """What stands in the fields of a line."""
    names = _ITEM if line["kind"] == "item" else _TEXT
    # What is bought has no cost beside its price.
    shown = {name: "" if line[name] is None else str(line[name]) for name in names if name in line}
    if "quantity" in shown:
        shown["quantity"] = shown["quantity"].removesuffix(".00")
        percent = shown["discountPercent"].rstrip("0").rstrip(".")
        shown["discountPercent"] = "" if percent == "0" else percent
    return {name: _to_type(name, text, here) for name, text in shown.items()}


def _to_type(name: str, text: str, here: Here) -> str:
    if name in _PRICES and text:
        return here.price_to_type(text)
    return here.to_type(text) if name in DECIMALS else text


def _changes(line: Line, typed: Mapping[str, str], here: Here) -> dict[str, Any]:
    if not _is_sent(line, typed, here):
        return {}
    changes: dict[str, Any] = {}
    for name, text in _shown(line, here).items():
        written = typed.get(f"{line['id']} {name}", text).strip()
        if written != text:
            changes[name] = _read(name, written, here)
    optional = f"{line['id']} optional" in typed
    if line["kind"] == "item" and optional != bool(line.get("optional")):
        changes["optional"] = optional
    return changes


def _read(name: str, written: str, here: Here) -> Any:
    """What was typed into a field; what was left empty is nothing, or as if nobody had said it."""
    if not written:
        return _EMPTY.get(name)
    return here.read(written) if name in DECIMALS else written


_EMPTY: dict[str, Any] = {"description": "", "quantity": "1", "unitPrice": "0", "discountPercent": "0"}


def _added(typed: Mapping[str, str], item: str | None, here: Here) -> dict[str, Any]:
    kind = typed.get(f"{NEW} kind", "item")
    written = {name: typed.get(f"{NEW} {name}", "").strip() for name in _ITEM}
    if not (item or written["description"]):
        return {}
    if kind != "item":
        return {"kind": kind, "description": written["description"]}
    added = {name: _read(name, text, here) for name, text in written.items() if text}
    if item:
        added["itemId"] = item
    return added | ({"optional": True} if f"{NEW} optional" in typed else {})


def _moved(lines: Sequence[Line], do: str) -> dict[str, Any] | None:
    """What one of the buttons beside a line does."""
    verb, _, identity = do.partition(" ")
    places = {line["id"]: place for place, line in enumerate(lines, start=1)}
    if identity not in places or verb not in {"up", "down", "remove"}:
        return None
    if verb == "remove":
        return {"edit": "remove", "lineId": identity}
    place = places[identity] + (1 if verb == "down" else -1)
    return {"edit": "move", "lineId": identity, "position": min(max(place, 1), len(lines))}
