"""The layout of one kind of record in the office, and the labels and addresses of its operations."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from mainstay.business.importing.record_kinds import OWN_REFERENCE_PREFIX, REFERENCE_FIELD
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.kit.office_pages import OfficePages
from mainstay.doors.office.kit.record_panels import PANELS
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.office.kit.related_lists import ListedKind, RelatedList
from mainstay.doors.pages.display import DisplaySettings, RecordCell, format_cells
from mainstay.doors.pages.form_fields import Choices, id_field_of
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Operation, OperationReturning
from mainstay.values.message import Amount, Message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Conflict
from mainstay.vocabulary.schemas import Output
from mainstay.vocabulary.typed_records import RecordFields

# How a document can be delivered when it is sent.
DELIVERY_CHOICES: Choices = (("email", "By email"), ("none", "Don't email (print it or hand it over)"))


class Action(NamedTuple):
    """A button on a record's page."""

    label: str
    path: str
    # Whether the button performs the operation at once, with these answers. Otherwise it leads to a form.
    is_direct: bool = False
    is_dangerous: bool = False
    # Whether it is the likely next step, whose button stands out.
    is_next: bool = False
    answers: Mapping[str, str] = MappingProxyType({})
    # Whether its form is so small that it opens over the page.
    opens_dialog: bool = False


class SelectionAction(NamedTuple):
    """An operation that is done to all selected records of a list."""

    operation: Operation
    # What its button says before the number of records: `Remind`.
    verb: str
    # The input besides the record; and the field whose value for all of them the person is asked for.
    given: Mapping[str, str] = MappingProxyType({})
    asks: str = ""
    # Whether it makes sense for a record on which the operation is possible.
    allows: Callable[[AnyRecord], bool] = lambda _record: True
    # The notice after it, for this many records.
    notice: Callable[[int], Message] | None = None

    @property
    def key(self) -> str:
        """What names it among the actions of its list."""
        return " ".join([self.operation.name, *self.given.values()])


class FormPart(NamedTuple):
    """A custom part of an operation's form, such as fields for the lines of a document."""

    # Shown below the first fields. `opening` is shown above them, and `summary` beside the form.
    template: str
    # Converts the typed fields to the operation's input, and returns the initial fields of a record.
    read_input: Callable[[AnyRecord, Mapping[str, str], DisplaySettings], dict[str, object]] = (
        lambda _record, _fields, _here: {}
    )
    initial_fields: Callable[[AnyRecord, DisplaySettings], dict[str, str]] = lambda _record, _here: {}
    opening: str | None = None
    summary: str | None = None
    # Form fields that these templates show instead of the form.
    own_fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordLayout:
    """How one kind of record is laid out in the office, beyond what its operations declare."""

    kind: Kind[Any]
    lead: str
    # The title of a record, and the line below it.
    title_of: Callable[[AnyRecord], str | Amount]
    subtitle_of: Callable[[AnyRecord], str]
    # The columns of the list after the title, and the fields on the record's page.
    columns: tuple[str, ...]
    facts: tuple[str, ...]
    # The field that its page shows as a paragraph, above everything else.
    main_text: str = ""
    # The columns that a phone shows below the title, to distinguish records with the same title.
    phone_columns: tuple[str, ...] = ()
    # The columns that are hidden if the table has little room. The record's page shows them.
    optional_columns: tuple[str, ...] = ()
    # Whether there is a page that lists them.
    has_list: bool = True
    create_operation: Operation | None = None
    # The operation that sends a document. The form of a new one and its line editor can lead there.
    send_operation: Operation | None = None
    # The title and the address, if the kind has another page with its own ones.
    own_title: str = ""
    own_path: str = ""
    # The title of the form that edits the record, if that is not `Edit` and the kind of record.
    edit_title: str = ""
    # The tabs of the list: statuses with their labels, the default first. `all` and the empty one do not filter.
    tabs: Mapping[str, str] = field(default_factory=dict)
    # The default order of the list.
    order: str | None = None
    # Choices of form fields whose declaration does not list them.
    choices: Mapping[str, Choices] = field(default_factory=dict)
    # Choices that a record adds to those above, such as a length that only this visit has.
    own_choices: Mapping[str, Callable[[AnyRecord], Choices]] = field(default_factory=dict)
    # Converts the fields of a record to the initial values of its edit form, if those differ from the record.
    prefill: Callable[[RecordFields], Mapping[str, Any]] = dict
    # Fields left out of forms because they have a page of their own.
    skipped_fields: frozenset[str] = frozenset()
    # The fields, or parts such as `address.city`, that forms show first, in the order of the work. If a form has more
    # than a few fields, the rest is behind "More options". Without first fields, forms show all.
    first_fields: tuple[str, ...] = ()
    empty_text: str = "Nothing here yet."
    base_template: str = "shell.html"
    # If there is no list: the path of the list of the records that it belongs to.
    parent_path: str = ""
    # The warning on a record's page if the last email about it could not be sent. `{problem}` is the reason.
    email_warning: str = "The last email about this could not be sent: {problem}"
    # Templates with parts that only this kind of record has: above its list, at the top of its page, as the work on its
    # page, and below its fields.
    list_header: str | None = None
    page_header: str | None = None
    page_body: str | None = None
    page_side: str | None = None
    # The pages of other records that list these, and the panels of a record's own page: notes, files and history.
    shown_on: tuple[RelatedList, ...] = ()
    panels: tuple[str, ...] = tuple(PANELS)
    # Whether its page shows notes, files, history and emails as one diary, in its body, and not as panels.
    has_diary: bool = False
    # Whether related records, notes and files can still be added to a record.
    accepts_additions: Callable[[AnyRecord], bool] = lambda _record: True
    # Fields with custom text, given the record and the viewer's time zone.
    field_texts: Mapping[str, Callable[[AnyRecord, str], str]] = field(default_factory=dict)
    # By operation: the line below the title of its form, if the description of the operation does not suit people.
    form_leads: Mapping[str, str] = field(default_factory=dict)
    # By operation: the label of the button of the form for a new record, if not the usual one.
    form_buttons: Mapping[str, str] = field(default_factory=dict)
    # By operation: a template shown above its form.
    form_headers: Mapping[str, str] = field(default_factory=dict)
    # By operation that emails a document: the name of the file that shows it before, such as `draft`.
    previews: Mapping[str, str] = field(default_factory=dict)
    # By operation: a custom part of its form, instead of fields that are left out.
    form_parts: Mapping[str, FormPart] = field(default_factory=dict)
    # By form field: the choices that are possible for a record and an actor, the likeliest first.
    possible_choices: Mapping[str, Callable[[AnyRecord, Actor], Sequence[str]]] = field(default_factory=dict)
    # By form field: the other field, and the value there, that make this field required.
    required_if: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # By operation: the purpose of its form for a record, if that depends on the record. None if there is none.
    purposes: Mapping[str, Callable[[AnyRecord], str | None]] = field(default_factory=dict)
    # Operations on several records at once. Their warnings are shown as the notice that counts the records.
    bulk_operations: frozenset[str] = frozenset()
    # What can be done to selected records of the list besides what follows from the operations, or in other words; and
    # the amount that is summed up for them.
    selection_actions: tuple[SelectionAction, ...] = ()
    summed_field: str = ""
    # The operations that are the likely next step of a record on which they are possible.
    next_operations: frozenset[str] = frozenset()
    # By operation: custom buttons, which come before all others. The first of them is the likely next step.
    primary_actions: Mapping[str, Callable[[AnyRecord], Sequence[Action]]] = field(default_factory=dict)
    # The page after a record is deleted, if that is not the list.
    path_after_delete: Callable[[AnyRecord], str] | None = None

    @property
    def title(self) -> str:
        """The title of the list."""
        return self.own_title or self.kind.title

    @property
    def path(self) -> str:
        """The address of the list, or of the only record."""
        return self.own_path or self.kind.path

    @property
    def get_operation(self) -> OperationReturning[Any]:
        """The operation that gets one of the records."""
        return CATALOGUE.get_operations[self.kind.prefix]

    @property
    def list_operation(self) -> OperationReturning[Any] | None:
        """The operation that lists the records; None if they have no list."""
        return CATALOGUE.list_operations.get(self.kind.prefix) if self.has_list else None

    def path_of(self, record_id: str) -> str:
        """Return the address of a record."""
        return self.own_path or self.kind.path_of(record_id)

    def form_choices(self, name: str, record: AnyRecord | None) -> Choices | None:
        """Return the choices of a form field whose declaration does not list them. None if it is as declared."""
        choices = self.choices.get(name)
        added = self.own_choices[name](record) if record and name in self.own_choices else ()
        return [*choices, *(one for one in added if one not in choices)] if choices else None

    def choices_for(self, record: AnyRecord, actor: Actor) -> dict[str, Sequence[str]]:
        """Return the possible choices of form fields for a record. Fields that are missing here allow all choices."""
        choices = {name: values(record, actor) for name, values in self.possible_choices.items()}
        return {name: values for name, values in choices.items() if values}

    def form_heading(self, operation: Operation, record: AnyRecord | None) -> dict[str, str]:
        """Return the title and the button label of an operation's form."""
        if record is None:
            label = self.form_buttons.get(operation.name) or label_of_new(operation)
            return {"title": title_of_new(operation), "submits": label}
        if operation.name in self.purposes and (purpose := self.purposes[operation.name](record)):
            title = translate_text(
                "{purpose} {records}",
                purpose=current_language().translate(purpose),
                records=current_language().translate(self.title).lower(),
            )
            return {"title": title, "submits": purpose}
        title = self.edit_title if self.edit_title and _is_edit(operation) else title_of_form(operation, record)
        return {"title": title, "submits": submit_label(operation)}

    def form_lead(self, operation: Operation) -> str:
        """Return the line below the title of an operation's form."""
        return self.form_leads.get(operation.name, operation.description.help)

    def check_purpose(self, operation: Operation, record: AnyRecord) -> None:
        """Raise Conflict if the form has no purpose in the current state of the record."""
        if operation.name in self.purposes and self.purposes[operation.name](record) is None:
            raise Conflict(Message("This isn't possible any more. Open the record to see what you can do now."))

    def is_required(self, name: str, fields: Mapping[str, str]) -> bool:
        """Return whether an optional field is required because of the value of another field."""
        if name not in self.required_if:
            return False
        other, answer = self.required_if[name]
        return fields.get(other) == answer

    def localised_title_of(self, record: AnyRecord, display: DisplaySettings) -> str:
        """Return the title of a record, localised for the viewer."""
        return PageFormat(display).format_value(self.title_of(record))

    def format_cells(
        self, model: type[Output], names: Sequence[str], record: AnyRecord, display: DisplaySettings
    ) -> list[RecordCell]:
        """Format fields of a record as cells."""
        # A reference that the import generated for itself means nothing to people.
        fields: Mapping[str, Any] = RecordFields(record)
        if str(fields.get(REFERENCE_FIELD) or "").startswith(OWN_REFERENCE_PREFIX):
            fields = {**fields, REFERENCE_FIELD: None}
        record_cells = format_cells(model, names, fields, display, self.choices)
        return [
            cell._replace(text=self.field_texts[cell.name](record, display.zone))
            if cell.name in self.field_texts
            else cell
            for cell in record_cells
        ]

    def actions_of(self, office: OfficePages, record: AnyRecord) -> list[Action]:
        """Return the buttons of a record's page for everything that can be done with it now."""
        possible, path = record.available_actions, self.path_of(record.id)
        primary = [
            button for name, buttons in self.primary_actions.items() if name in possible for button in buttons(record)
        ]
        first = [name for name in possible if name in self.next_operations]
        others = [name for name in possible if name not in {*self.next_operations, *self.primary_actions}]
        actions = primary + [build_action(office.operations[name], path) for name in (*first, *others)]
        return mark_next_step(actions) if primary or first else actions

    def actions_for(self, operation: Operation, record: AnyRecord) -> list[Action]:
        """Return the buttons of an operation. If it edits lines, that includes the button of the line editor."""
        action = build_action(operation, self.path_of(record.id))
        if "edits" not in operation.input.model_fields:
            return [action]
        return (
            [action, self.line_editor_action(record)]
            if has_priced_lines(record)
            else [self.line_editor_action(record), action]
        )

    def line_editor_action(self, record: AnyRecord) -> Action:
        """Return the button that leads to the line editor of a document."""
        return Action("Edit lines", f"{self.path_of(record.id)}/lines")

    def path_after_creation(self, record: AnyRecord) -> str:
        """Return the page for a new record: the line editor, if it is a document that has no lines yet."""
        if (
            self.send_operation
            and self.send_operation.name in record.available_actions
            and not has_priced_lines(record)
        ):
            return self.line_editor_action(record).path
        return self.path_of(record.id)

    def operation_path(self, operation: Operation, record: AnyRecord) -> str:
        """Return the address of an operation on a record."""
        return f"{self.path_of(record.id)}/{verb_of(operation)}"


def mark_next_step(actions: Sequence[Action]) -> list[Action]:
    """Mark the first of these buttons as the likely next step."""
    return [action._replace(is_next=number == 0) for number, action in enumerate(actions)]


def find_related_lists(layouts: Iterable[RecordLayout]) -> Mapping[str, Sequence[ListedKind]]:
    """Return the lists of related records on the pages of each kind, by the prefix of its ids."""
    lists: dict[str, list[ListedKind]] = {}
    for layout in layouts:
        for shown in layout.shown_on:
            list_operation = CATALOGUE.list_operations[layout.kind.prefix]
            listed = ListedKind(layout.kind, list_operation, layout.create_operation, shown)
            lists.setdefault(shown.on.prefix, []).append(listed)
    return lists


def has_priced_lines(document: AnyRecord) -> bool:
    """Return whether a document has at least one priced line. Without one, adding lines is the next step."""
    return any(line.kind == "item" for line in document.lines or ())


def build_action(operation: Operation, path: str) -> Action:
    """Return the button of an operation on the record at this address."""
    is_dangerous = operation.is_irreversible or operation.asks_again
    return Action(
        button_label(operation),
        f"{path}/{verb_of(operation)}",
        not is_dangerous and not has_form(operation),
        is_dangerous,
    )


@cache
def has_form(operation: Operation) -> bool:
    """Return whether an operation has input fields besides the record itself."""
    return bool(operation.input.model_fields.keys() - {id_field_of(operation), "confirmed", "preview_token"})


@cache
def verb_of(operation: Operation) -> str:
    """Return the part of an address for an operation on a record: `remove` for `remove_person`."""
    return _name_without_noun(operation).replace("_", "-")


@cache
def button_label(operation: Operation) -> str:
    """Return a button label, the title without the kind of record: `Replace secret` for `Replace webhook secret`."""
    if _is_edit(operation):
        return "Edit"
    # With the noun, because "Cancel" alone could mean closing the menu or the form.
    if operation.on is None or operation.title.startswith("Cancel "):
        return operation.title
    # A plural can be plainer than the name that programs use: "failed tasks" for `work`.
    plural = operation.on.plural if isinstance(operation.on, Kind) else ""
    noun = "|".join(map(re.escape, filter(None, (operation.on.label, plural.removesuffix("s")))))
    return re.sub(rf"(?: to| the)? (?:{noun})\b", "", operation.title, count=1, flags=re.IGNORECASE)


def label_with_noun(operation: Operation) -> str:
    """Return a button label for the page of another kind of record: `Restore customer`, `Edit supplier`."""
    if operation.on and not operation.changes:
        return f"See {operation.on.label}"
    return f"Edit {_title_without_verb(operation)}" if _is_edit(operation) else operation.title


def label_of_new(operation: Operation) -> str:
    """Return the label of a button that creates a record: `Create quote`, and `Add site` for `save_site`."""
    verb = _CREATE_VERBS.get(operation.name.partition("_")[0])
    return f"{verb} {_title_without_verb(operation)}" if verb else operation.title


def title_of_new(operation: Operation) -> str:
    """Return the title of the form for a new record: `New job`, or `Log hours`."""
    creates = operation.name.partition("_")[0] in _CREATE_VERBS
    return f"New {_title_without_verb(operation)}" if creates else operation.title


def title_of_form(operation: Operation, record: AnyRecord) -> str:
    """Return the title of an operation's form: `Edit job`, or with the record's number `Void invoice INV-0213`."""
    if _is_edit(operation):
        return label_with_noun(operation)
    return add_number(operation.title, operation, record)


def add_number(label: str, operation: Operation, record: AnyRecord) -> str:
    """Add the number of a record to a label that ends with what the record is."""
    noun, number = operation.on.label.lower() if operation.on else "", RecordFields(record).get("number")
    if not noun or not number or not label.lower().endswith(f" {noun}"):
        return label
    return translate_text("{action} {number}", action=current_language().translate(label), number=number)


def submit_label(operation: Operation) -> str:
    """Return the label of the button that sends the form of a record."""
    if operation.is_irreversible:
        return f"Review and {operation.title.partition(' ')[0].lower()}"
    return "Save" if _is_edit(operation) else button_label(operation)


# Verbs of operations that create records, with the verbs that people read.
_CREATE_VERBS = {"create": "Create", "draft": "Create", "save": "Add"}


def _is_edit(operation: Operation) -> bool:
    return operation.on is not None and operation.title.startswith(("Edit ", "Save "))


def _title_without_verb(operation: Operation) -> str:
    return operation.title.partition(" ")[2]


def _name_without_noun(operation: Operation) -> str:
    noun_words = operation.on.label.lower().split() if operation.on else []
    words = [word for word in operation.name.split("_") if word not in noun_words]
    return "edit" if words in (["update"], ["save"]) else "_".join(words)
