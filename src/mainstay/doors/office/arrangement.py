"""What an area says of its records beyond their declaration, and how the office names what is done with them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote

from mainstay.business.importing.model import OWN_REFERENCE, REFERENCE
from mainstay.doors.office.beside import SIDES, Related
from mainstay.doors.office.desk import Desk
from mainstay.doors.office.references import AsTold
from mainstay.doors.pages.asking import Choices, named_by
from mainstay.doors.pages.showing import Cell, Here, cells
from mainstay.doors.pages.written_here import written_here
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Conflict
from mainstay.terms.shapes import Shown
from mainstay.values.words import words_of

# How a document that is sent leaves.
DELIVERED: Choices = (("email", "By mail"), ("none", "Not by mail: it is handed over otherwise"))


class Action(NamedTuple):
    """What can be done with a record, as its page offers it."""

    label: str
    path: str
    # Whether a press of the button does it, with these answers; else it leads to a form.
    plain: bool = False
    grave: bool = False
    answers: Mapping[str, str] = MappingProxyType({})


class FormPart(NamedTuple):
    """A part of an operation's form that no declaration knows: fields for the lines of a document, say."""

    template: str
    # What was filled in there, as the operation takes it, of a record; and what stands there before anyone has.
    reads: Callable[[AsTold, Mapping[str, str], Here], dict[str, object]] = lambda _record, _fields, _here: {}
    begins: Callable[[AsTold, Here], dict[str, str]] = lambda _record, _here: {}


@dataclass(frozen=True)
class Arrangement:
    """What an area says of its records beyond their declaration."""

    title: str
    lead: str
    path: str
    # The area of the sidebar, and where the record stands in the settings, if it does.
    area: str
    gets: Operation
    # What a record is called, and what stands below its name.
    called: Callable[[AsTold], str]
    below: Callable[[AsTold], str]
    # The columns of the list behind the name, and the facts on the record's page.
    columns: tuple[str, ...]
    facts: tuple[str, ...]
    # Of the columns, those that a phone shows below the name: what is called the same is told apart by them.
    apart: tuple[str, ...] = ()
    # And those that give way to the others where a table has little room: the record's page tells them.
    yields: tuple[str, ...] = ()
    # None where there is only one.
    lists: Operation | None = None
    creates: Operation | None = None
    create_path: str = "new"
    # The states one sees apart, the usual one first; `all` and none narrow nothing.
    tabs: Mapping[str, str] = field(default_factory=dict)
    # What the list is asked for where nothing else is.
    order: str | None = None
    # By the field of a form: what can be chosen, where the declaration does not say.
    choices: Mapping[str, Choices] = field(default_factory=dict)
    # The record as the form that changes it begins, where that is not as the record is shown.
    fills: Callable[[AsTold], AsTold] = dict
    # Fields that are not asked for here, because they have a page of their own; and those that are asked for first.
    skips: frozenset[str] = frozenset()
    first: tuple[str, ...] = ()
    empty: str = "There is nothing to show."
    frame: str = "shell.html"
    # Where there is no list of its own: the path of the list of what it belongs to.
    under: str = ""
    # What is said above a record when the last mail about it could not be sent; `{problem}` is why.
    unsent: str = "The last mail about this could not be sent: {problem}"
    # Templates with what only this kind of record has: above its list, above its facts, and below them.
    above: str | None = None
    ways: str | None = None
    more: str | None = None
    # What belongs to a record and stands on its page; and what else stands beside it there.
    related: tuple[Related, ...] = ()
    sides: tuple[str, ...] = tuple(SIDES)
    # Whether something may still be added to a record there, of whatever kind.
    grows: Callable[[AsTold], bool] = lambda _record: True
    # Fields that are told in words of their own, with the zone of whoever looks.
    words: Mapping[str, Callable[[AsTold, str], str]] = field(default_factory=dict)
    # By what is done to a record: a template with what one should see before one answers.
    reminders: Mapping[str, str] = field(default_factory=dict)
    # By what is done to a record: the part of its form that is made here, in place of fields that are skipped.
    parts: Mapping[str, FormPart] = field(default_factory=dict)
    # By the field of a form: what someone can choose for a record, the likeliest first, where that depends.
    possible: Mapping[str, Callable[[AsTold, Actor], Sequence[str]]] = field(default_factory=dict)
    # By the field of a form: the other field, and the answer there, with which it must be filled in.
    needed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # By what is done to a record: the one thing its form is for, where that depends; None where it is for nothing.
    purposes: Mapping[str, Callable[[AsTold], str | None]] = field(default_factory=dict)
    # What may be done to several at once, and warns of nothing else: how many they were is its notice.
    counting: frozenset[str] = frozenset()
    # By what comes before all else that is done to a record: its buttons, where they are not read off its declaration.
    leading: Mapping[str, Callable[[AsTold], Sequence[Action]]] = field(default_factory=dict)
    # Whether a record is called by an amount, which each country writes in its own way.
    by_amount: bool = False
    # Where one goes on when a record is gone, if that is not its list.
    ends_at: Callable[[AsTold], str] | None = None

    def path_of(self, identity: str) -> str:
        """The address of one record."""
        single = self.gets.on is not None and self.gets.on.id_field is None
        return self.path if single else f"{self.path}/{quote(identity, safe='{}')}"

    def choosable(self, record: AsTold, by: Actor) -> dict[str, Sequence[str]]:
        """What someone can choose for a record, by the field; what is not among these is not narrowed."""
        told = {name: values(record, by) for name, values in self.possible.items()}
        return {name: values for name, values in told.items() if values}

    def heading(self, operation: Operation, record: AsTold | None) -> dict[str, str]:
        """What stands above the form of an operation, and on its button."""
        if record is None:
            return {"title": title_of_new(operation), "submits": submits(operation)}
        if operation.name in self.purposes and (purpose := self.purposes[operation.name](record)):
            return {"title": f"{purpose} {self.title.lower()}", "submits": purpose}
        return {"title": operation.title, "submits": submits(operation)}

    def check_purpose(self, operation: Operation, record: AsTold) -> None:
        """Refuse a form that is for nothing, as the record is."""
        if operation.name in self.purposes and self.purposes[operation.name](record) is None:
            raise Conflict("This cannot be done with it as it is now. Its own page shows what can be.")

    def needs(self, name: str, fields: Mapping[str, str]) -> bool:
        """Whether a field that may be left empty must be filled in because of what else was answered."""
        if name not in self.needed:
            return False
        other, answer = self.needed[name]
        return fields.get(other) == answer

    def called_here(self, record: AsTold, here: Here) -> str:
        """What a record is called where whoever looks is."""
        called = self.called(record)
        return written_here(called, here) if self.by_amount else called

    def cells(self, model: type[Shown], names: Sequence[str], record: AsTold, here: Here) -> list[Cell]:
        """These fields of a record, in words."""
        # By what the import knows a row again that has no reference, nobody else knows it.
        own = str(record.get(REFERENCE) or "").startswith(OWN_REFERENCE)
        told = cells(model, names, {**record, REFERENCE: None} if own else record, here, self.choices)
        return [
            cell._replace(text=self.words[cell.name](record, here.zone)) if cell.name in self.words else cell
            for cell in told
        ]

    def actions(self, desk: Desk, record: AsTold) -> list[Action]:
        """What can be done with a record, each with its address; what needs no answer is one button."""
        possible = record["availableActions"]
        leading = [one for name, buttons in self.leading.items() if name in possible for one in buttons(record)]
        return leading + [self.action(desk.operations[name], record) for name in possible if name not in self.leading]

    def action(self, operation: Operation, record: AsTold) -> Action:
        """One thing that can be done with a record."""
        return action_at(operation, self.path_of(record["id"]))

    def doing(self, operation: Operation, record: AsTold) -> list[Action]:
        """Where one thing is done with a record: what changes the lines of a document has a page for them as well."""
        here = self.action(operation, record)
        if "edits" not in operation.input.model_fields:
            return [here]
        return [here, self.lines(record)] if has_priced_lines(record) else [self.lines(record), here]

    def lines(self, record: AsTold) -> Action:
        """The way to the lines of a document."""
        return Action("Edit lines", f"{self.path_of(record['id'])}/lines")

    def path_to(self, operation: Operation, record: AsTold) -> str:
        """Where something is done to a record."""
        return f"{self.path_of(record['id'])}/{verb_of(operation)}"


def has_priced_lines(document: AsTold) -> bool:
    """Whether a document has anything on it that costs something; until then, its lines are what is next with it."""
    return any(line["kind"] == "item" for line in document["lines"] or ())


def action_at(operation: Operation, path: str) -> Action:
    """One thing that can be done with the record at this address."""
    grave = operation.is_irreversible or operation.grave
    return Action(label_of(operation), f"{path}/{verb_of(operation)}", not grave and not asks(operation), grave)


def asks(operation: Operation) -> bool:
    """Whether something is asked for before it is done, beside which record it is."""
    return bool(operation.input.model_fields.keys() - {named_by(operation), "confirmed"})


def verb_of(operation: Operation) -> str:
    """What stands in an address for an operation on a record: `remove` for `remove_person`."""
    return _short(operation).replace("_", "-")


def label_of(operation: Operation) -> str:
    """What a button says: `Rotate secret` for `rotate_webhook_secret`, `Create webhook` for `create_webhook`."""
    return words_of(_short(operation) if operation.on else operation.name)


def label_elsewhere(operation: Operation) -> str:
    """What a button says on the page of another kind of record: `Restore customer`, `Edit supplier`, `See quote`."""
    plainly = "see" if not operation.changes else "edit" if _short(operation) == "edit" else None
    return words_of(f"{plainly}_{operation.on.what}" if plainly and operation.on else operation.name)


def label_of_new(operation: Operation) -> str:
    """What a button says that makes a record: `Create webhook`, and `Add site` for `save_site`."""
    return words_of(operation.name.replace("save_", "add_", 1) if operation.makes else operation.name)


def title_of_new(operation: Operation) -> str:
    """What stands above the form of a new record: `New site` where the same operation also changes one."""
    is_saved = operation.name.startswith("save_")
    return words_of(operation.name.replace("save_", "new_", 1)) if is_saved else operation.title


def submits(operation: Operation) -> str:
    """What the button below a form says."""
    if operation.is_irreversible:
        return "Show what would happen"
    if _short(operation) == "cancel":
        # What is called off is named: a form, too, can be cancelled.
        return words_of(operation.name)
    return "Save" if _short(operation) == "edit" else label_of(operation)


def _short(operation: Operation) -> str:
    record = operation.on.what.lower().split() if operation.on else []
    words = [word for word in operation.name.split("_") if word not in record]
    return "edit" if words in (["update"], ["save"]) else "_".join(words)
