"""What can be done to the selected records of a list: what follows from the operations on one, and what layouts add."""

from collections.abc import Sequence
from typing import Any, get_args

from mainstay.business.records.model import ArchivableStatus
from mainstay.doors.office.kit.office_pages import DoneOperation, OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction, button_label, has_form
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.pages.form_fields import id_field_of
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Operation
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door

# The end of the address that does something to selected records, below that of their list.
SELECTED_PATH = "/selected"
_CONFIRMATION_FIELDS = {"confirmed", "preview_token"}
_ACTIVE, _ARCHIVED = get_args(ArchivableStatus)


def find_selection_actions(office: OfficePages, layout: RecordLayout) -> list[SelectionAction]:
    """Return the actions for selected records: those of the layout, and each operation that needs only its record."""
    own_actions = layout.selection_actions
    own_operations = {action.operation.name for action in own_actions}
    operations = [
        operation
        for operation in office.catalogue.operations_on(layout.kind.output)
        if operation.changes and Door.OFFICE in operation.doors and operation.name not in own_operations
    ]
    derived = [
        SelectionAction(operation, button_label(operation)) for operation in operations if _is_complete(operation)
    ]
    derived += [
        action
        for operation in operations
        if operation.creates_without_id and {_ARCHIVED, _ACTIVE} <= layout.kind.output.states.keys()
        for action in _archiving_actions(operation)
        if not any(known.verb == action.verb for known in derived)
    ]
    # What is emailed comes first, what ends something last.
    derived.sort(key=lambda action: (not action.operation.emails_outside, action.operation.is_irreversible))
    return [*own_actions, *derived]


def can_do(action: SelectionAction, record: AnyRecord) -> bool:
    """Return whether an action is possible for a record now."""
    return action.operation.name in record.available_actions and action.allows(record)


def count_label(verb: str, count: int | str, kind: Kind[Any] | None = None) -> str:
    """Return the label of what is done to this many records: `Remind 3`, `Assign lead (3)`, `Remind 3 invoices`."""
    language = current_language()
    counted = str(count)
    if kind:
        records = language.translate(kind.label if count == 1 else kind.plural)
        counted = translate_text("{count} {records}", count=counted, records=records)
    text = language.translate(verb)
    if " " in verb:
        return translate_text("{action} ({count})", action=text, count=counted)
    return translate_text("{action} {count}", action=text, count=counted)


def find_selection_notice(office: OfficePages, layout: RecordLayout, request: OfficeRequest, done: str) -> str | None:
    """Return the notice of what was just done to selected records, such as `3 customers archived`."""
    parsed = DoneOperation.parse(done)
    key = f"{parsed.name} {parsed.variant}".rstrip()
    action = next((one for one in find_selection_actions(office, layout) if one.key == key), None)
    if action is None:
        return None
    message = action.notice(parsed.record_count) if action.notice else _describe_done(action, parsed.record_count)
    return PageFormat(request.display).render(message)


def _describe_done(action: SelectionAction, count: int) -> Message:
    operation = action.operation
    field, texts = operation.past_text_by or ("", {})
    text = texts.get(action.given.get(field, ""), operation.past_text)
    return Message("{done} ({count}).", done=Message.from_template(text), count=count)


def _is_complete(operation: Operation) -> bool:
    """Return whether an operation needs nothing but its record. One that edits it does nothing without other fields."""
    fields = operation.input.model_fields
    required = {name for name, field in fields.items() if field.is_required()} - _CONFIRMATION_FIELDS
    return (
        operation.on is not None
        and required == {id_field_of(operation)}
        and not operation.asks_again
        and (operation.is_irreversible or not has_form(operation))
    )


def _archiving_actions(operation: Operation) -> Sequence[SelectionAction]:
    """Return the actions to archive and to restore records whose status is one of their fields."""
    return (
        SelectionAction(
            operation,
            "Archive",
            {"status": _ARCHIVED},
            allows=lambda record: record.status != _ARCHIVED,
            notice=lambda count: Message("{count} archived.", count=count),
        ),
        SelectionAction(
            operation,
            "Restore",
            {"status": _ACTIVE},
            allows=lambda record: record.status == _ARCHIVED,
            notice=lambda count: Message("{count} restored.", count=count),
        ),
    )
