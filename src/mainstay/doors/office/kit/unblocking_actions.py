"""Actions that resolve a refusal, if the person may take them now.

A rule names the operations that would help. The declaration of each says where it is available: on the page of the
record itself, on that of another record which it names, in a list of such records, or on the form for a new one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from mainstay.business.hours.approval import review_hours, submit_hours
from mainstay.business.hours.operations import list_hours
from mainstay.business.hours.store import TIME_ENTRIES
from mainstay.business.hours.timers import stop_timer
from mainstay.business.organisation.settings import update_settings
from mainstay.business.schedule.free_time import find_free_time
from mainstay.doors.office.kit import navigation
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import Action, RecordLayout, build_action, label_of_new, label_with_noun
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.choices import to_label
from mainstay.vocabulary.refusal import NotFound
from mainstay.vocabulary.typed_records import RecordFields

# Operations that do not take a record, and the list that shows their records.
_LISTS: dict[Operation, Operation] = {stop_timer: list_hours}
# Operations with a page that belongs to no record. The books are reopened where they are closed.
_PATHS = {
    submit_hours: f"{TIME_ENTRIES.path}/week",
    review_hours: f"{TIME_ENTRIES.path}/approve",
    find_free_time: "/schedule/free",
    update_settings: "/settings/documents/edit",
}
# The form for each operation that creates a record.
_CREATE_PATHS = {area.operation: area.path for area in navigation.NEW_MENU if area.operation}


@dataclass(frozen=True)
class UnblockingFinder:
    """Finds these actions for a refused operation on one kind of record, or for one that creates such a record."""

    office: OfficePages
    layout: RecordLayout

    async def find_actions(
        self,
        request: OfficeRequest,
        refused: Operation,
        unblocks: Iterable[tuple[str, str | None, bool]],
        record: AnyRecord | None,
    ) -> list[Action]:
        """Return each action once, without the refused operation itself, whose form is displayed already."""
        actions: dict[str, Action] = {}
        for name, record_id, _ in unblocks:
            operation = self.office.operations[name]
            possible = request.can_perform(operation) and (record_id or operation is not refused)
            candidates = await self._actions_of(request, operation, record_id, record) if possible else ()
            actions |= {action.path: action for action in candidates if action}
        return list(actions.values())

    async def _actions_of(
        self, request: OfficeRequest, operation: Operation, record_id: str | None, record: AnyRecord | None
    ) -> Sequence[Action | None]:
        if record_id:
            return [await self._action_at(request, operation, record_id)]
        if record is not None and operation.name in record.available_actions:
            primary = self.layout.primary_actions.get(operation.name)
            return primary(record) if primary else self.layout.actions_for(operation, record)
        if operation in _PATHS:
            return [Action(to_label(operation.name), _PATHS[operation])]
        if operation.on is None or not operation.changes:
            return [self._action_without_record(request, operation, record)]
        if record is None or operation.on.output.noun != self.layout.kind.output.noun:
            return [await self._action_on_other(request, operation, record)]
        # It can be done to another record of the kind, such as making a second person an owner.
        return [self._list_link(request, self.layout.list_operation, None)]

    def _action_without_record(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord | None
    ) -> Action | None:
        """Return the action of an operation that takes no existing record: a list, or the form of a new one."""
        if operation in _LISTS or operation.returns_page:
            return self._list_link(request, _LISTS.get(operation, operation), record)
        path = _CREATE_PATHS.get(operation)
        return (
            Action(label_of_new(operation), _add_parameters(path, request, operation, self.layout, record))
            if path
            else None
        )

    async def _action_on_other(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord | None
    ) -> Action | None:
        """Return the action on another record: the one that this record names, or the list of its related ones."""
        store = operation.on
        record_id = RecordFields(record).get(store.id_alias) if record and store and store.id_alias else None
        if not record_id:
            return self._list_link(
                request, self.office.catalogue.list_operations.get(store.prefix) if store else None, record
            )
        return await self._action_at(request, operation, record_id)

    async def _action_at(self, request: OfficeRequest, operation: Operation, record_id: str) -> Action | None:
        """Return the action on a given record, or the link to it. A record of the same kind is named in the label."""
        try:
            other = await self.office.get_record(request, record_id)
        except NotFound:
            return None
        if operation.changes and operation.name not in other.available_actions:
            return None
        path = self.office.path_of(record_id)
        action = build_action(operation, path) if operation.changes else Action("Open", path)
        is_same_kind = other.object == self.layout.kind.output.noun
        label = (
            translate_text(
                "{action} {record}",
                action=current_language().translate(action.label),
                record=self.layout.localised_title_of(other, request.display),
            )
            if is_same_kind
            else label_with_noun(operation)
        )
        return action._replace(label=label)

    def _list_link(
        self, request: OfficeRequest, list_operation: Operation | None, record: AnyRecord | None
    ) -> Action | None:
        """Return the link to a list, filtered by what belongs to the record."""
        if (
            list_operation is None
            or list_operation.output.office_path is None
            or not request.can_perform(list_operation)
        ):
            return None
        path = list_operation.output.office_path.removesuffix("/{id}")
        return Action(
            to_label(list_operation.name.replace("list_", "see_", 1)),
            _add_parameters(path, request, list_operation, self.layout, record),
        )


def has_office_page(operation: Operation) -> bool:
    """Return whether an operation has an address in the office."""
    if operation in _PATHS or operation in _LISTS or operation in _CREATE_PATHS:
        return True
    output = operation.on.output if operation.on and operation.changes else operation.output
    return output.office_path is not None and (operation.changes or operation.returns_page)


def _add_parameters(
    path: str, request: OfficeRequest, operation: Operation, layout: RecordLayout, record: AnyRecord | None
) -> str:
    """Add to an address what is known of a record: its id, and the ids of the records that it names."""
    if record is None:
        return path
    known_ids = {**RecordFields(record), layout.kind.id_alias: record.id}
    references = (
        field
        for field in form_fields_of(operation, request.actor.permissions)
        if field.refers_to and known_ids.get(field.name)
    )
    # A list is only filtered by this record, not by the records that it names.
    parameters = {
        field.name: known_ids[field.name]
        for field in references
        if not operation.returns_page or field.name == layout.kind.id_alias
    }
    return f"{path}?{urlencode(parameters)}" if parameters else path
