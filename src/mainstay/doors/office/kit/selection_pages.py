"""Doing something to the selected records of a list: one preview for all of them, then all are changed or none."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from mainstay.business.records.undo import MAX_CHANGES
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import (
    DoneOperation,
    OfficePages,
    OfficeRequest,
    Preview,
    confirmation_input,
    id_input_of,
    parse_version,
    read_preview,
)
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields
from mainstay.doors.office.kit.selection_actions import SELECTED_PATH, can_do, count_label, find_selection_actions
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, explain_faults, form_fields_of
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.perform import Performer
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict, Invalid, NotFound, Refusal

# As many as can be undone at once.
_MAX_SELECTED = MAX_CHANGES
# The prefixes of the fields that name a record, and that have the token of its preview.
_RECORD_PREFIX, _TOKEN_PREFIX = "record ", "token "


class SelectedRecord(NamedTuple):
    """A selected record, and what would happen to it or why that is not possible."""

    id: str
    title: str
    path: str
    version: int
    summary: str = ""
    effects: Sequence[str] = ()
    warnings: Sequence[str] = ()
    blockers: Sequence[str] = ()
    token: str | None = None


@dataclass(frozen=True)
class SelectionPages:
    """The page that shows what would happen to the selected records of a list, and does it."""

    office: OfficePages
    layout: RecordLayout

    def routes(self) -> list[Route]:
        """Return the routes of the page."""
        form = Form(self.office, find_by_path, self._submit)
        return form.routes(f"{self.layout.path}{SELECTED_PATH}", self.layout.path)

    async def _submit(self, form: OpenForm[PathValues]) -> Response:
        """Show what would happen to the selected records, or do it to all of them."""
        request, fields = form.request, form.fields
        action, record_ids = self._read_selection(request, fields)
        try:
            given = await self._read_given(request, action, fields)
        except Invalid as invalid:
            return await self._ask(form, action, record_ids, invalid)
        if action.asks and "asked" not in fields:
            return await self._ask(form, action, record_ids)
        notice = ""
        if confirmation_input(fields):
            try:
                await self._run(request, self._perform_all, action, given, fields)
            except Refusal:
                # The new preview says why.
                notice = translate_text("Something has changed since the preview, so nothing was done. Check it again.")
            else:
                done = DoneOperation(action.operation.name, len(record_ids), " ".join(action.given.values()))
                return redirect(f"{self.layout.path}?{urlencode([*_list_filters(fields), ('done', str(done))])}")
        selected = await self._run(request, self._preview_all, action, given, record_ids)
        return self._render(form, action, selected, notice)

    def _read_selection(
        self, request: OfficeRequest, fields: Mapping[str, str]
    ) -> tuple[SelectionAction, Sequence[str]]:
        """Return the action of the pressed button, and the ids of the selected records."""
        actions = {action.key: action for action in find_selection_actions(self.office, self.layout)}
        action = actions.get(fields.get("do", ""))
        if action is None:
            raise Conflict(Message("No action was chosen. Go back and press one of the buttons."))
        check_permission(action.operation, request.actor)
        record_ids = [name.removeprefix(_RECORD_PREFIX) for name in fields if name.startswith(_RECORD_PREFIX)]
        if not record_ids:
            raise Conflict(Message("Nothing is selected. Go back and select at least one row."))
        if len(record_ids) > _MAX_SELECTED:
            raise Conflict(Message("Select {count} at most, so that you can undo them together.", count=_MAX_SELECTED))
        return action, record_ids

    async def _read_given(
        self, request: OfficeRequest, action: SelectionAction, fields: Mapping[str, str]
    ) -> dict[str, object]:
        """Return the input that is the same for all records."""
        if "asked" not in fields:
            return dict(action.given)
        values, _ = await ReferenceFields(self.office).read_input(
            request, self._find_asked_fields(request, action), fields
        )
        return {**action.given, **values}

    def _find_asked_fields(self, request: OfficeRequest, action: SelectionAction) -> list[FormField]:
        form_fields = form_fields_of(action.operation, request.actor.permissions)
        return [field for field in form_fields if field.name == action.asks]

    async def _run(self, request: OfficeRequest, function: Any, *args: Any) -> Any:
        return await self.office.visitors.runner.run_change(request.actor.organisation, function, request, *args)

    def _preview_all(
        self, request: OfficeRequest, action: SelectionAction, given: Mapping[str, object], record_ids: Sequence[str]
    ) -> list[SelectedRecord]:
        """Return what would happen to each record, after what happens to those before it."""
        with self.office.visitors.performer.open_batch(request.actor.organisation, commit=False) as batch:
            return [
                selected
                for record_id in record_ids
                if (selected := self._preview_one(batch, request, action, given, record_id))
            ]

    def _preview_one(
        self,
        batch: Performer,
        request: OfficeRequest,
        action: SelectionAction,
        given: Mapping[str, object],
        record_id: str,
    ) -> SelectedRecord | None:
        details, operation = request.build_request_details("preview")._replace(idempotency_key=None), action.operation
        record = self._find_record(batch, request, record_id)
        if record is None:
            return None
        title = self.layout.localised_title_of(record, request.display)
        selected = SelectedRecord(record.id, title, self.layout.path_of(record.id), record.version)
        operation_input = {**given, **id_input_of(operation, record.id)}
        try:
            answer = self.office.perform_with(
                batch, request, operation, operation_input, details._replace(dry_run=True)
            )
            preview = read_preview(answer)
            blockers = preview.blockers
            if not blockers and not can_do(action, record):
                blockers = [PageFormat(request.display).render(_NO_PURPOSE)]
            if not blockers:
                confirmed = {"confirmed": True} if operation.is_irreversible else {}
                self.office.perform_with(batch, request, operation, {**operation_input, **confirmed}, details)
        except Refusal as refusal:
            return selected._replace(blockers=[refusal.text])
        return selected._replace(
            summary=preview.summary,
            effects=_brief_effects(preview),
            warnings=preview.warnings,
            blockers=blockers,
            token=preview.token,
        )

    def _find_record(self, batch: Performer, request: OfficeRequest, record_id: str) -> AnyRecord | None:
        """Return a selected record, or None if it is not there any more."""
        get_operation = self.layout.get_operation
        details = request.build_request_details(get_operation.name)
        try:
            answer = self.office.perform_with(
                batch, request, get_operation, id_input_of(get_operation, record_id), details
            )
        except NotFound:
            return None
        record: AnyRecord = get_operation.parse_answer(answer.body)
        return record

    def _perform_all(
        self, request: OfficeRequest, action: SelectionAction, given: Mapping[str, object], fields: Mapping[str, str]
    ) -> None:
        """Change all records as their preview showed them, or none."""
        operation = action.operation
        with self.office.visitors.performer.open_batch(request.actor.organisation) as batch:
            for name, version in fields.items():
                if not name.startswith(_RECORD_PREFIX):
                    continue
                record_id = name.removeprefix(_RECORD_PREFIX)
                confirmed = (
                    {"confirmed": True, "previewToken": fields.get(f"{_TOKEN_PREFIX}{record_id}", "")}
                    if operation.is_irreversible
                    else {}
                )
                operation_input = {**given, **id_input_of(operation, record_id), **confirmed}
                details = request.build_request_details(f"{operation.name} {record_id}", parse_version(version))
                self.office.perform_with(batch, request, operation, operation_input, details)

    async def _ask(
        self,
        form: OpenForm[PathValues],
        action: SelectionAction,
        record_ids: Sequence[str],
        refusal: Invalid | None = None,
    ) -> Response:
        """Ask for the value that all records get."""
        request, form_fields = form.request, self._find_asked_fields(form.request, action)
        form_fields, fields = await ReferenceFields(self.office).add_choices(request, form_fields, form.fields, None)
        faults = {fault.field: fault.problem for fault in refusal.faults} if refusal else {}
        return self.office.render_page(
            "selected.html",
            request,
            422 if refusal else 200,
            of=self.layout,
            action=action,
            heading=count_label(action.verb, len(record_ids), self.layout.kind),
            back=_list_path(self.layout, form.fields),
            sent=_fields_to_send(
                form.fields, {"asked", *(name for field in form_fields for name in (field.name, field.hidden_name))}
            ),
            form_fields=form_fields,
            fields=defaultdict(str, fields),
            faults=explain_faults(form_fields, fields, faults),
            record_fields=dict.fromkeys((f"{_RECORD_PREFIX}{record_id}" for record_id in record_ids), "yes"),
        )

    def _render(
        self,
        form: OpenForm[PathValues],
        action: SelectionAction,
        selected: Sequence[SelectedRecord],
        notice: str,
    ) -> Response:
        """Show what would happen to each record, and which are left out."""
        possible = [record for record in selected if not record.blockers]
        record_fields = {f"{_RECORD_PREFIX}{record.id}": str(record.version) for record in possible}
        record_fields |= {f"{_TOKEN_PREFIX}{record.id}": record.token for record in possible if record.token}
        refused = [record for record in selected if record.blockers]
        return self.office.render_page(
            "selected.html",
            form.request,
            409 if notice else 200,
            of=self.layout,
            action=action,
            heading=count_label(action.verb, len(possible) or len(refused), self.layout.kind),
            label=count_label(action.verb, len(possible)),
            problem=notice or None,
            back=_list_path(self.layout, form.fields),
            sent=_fields_to_send(form.fields),
            form_fields=(),
            possible=possible,
            refused=refused,
            record_fields=record_fields,
        )


_NO_PURPOSE = Message("This is already done.")


def _brief_effects(preview: Preview) -> list[str]:
    """Return the effects without the text of an email, which would be long for many records."""
    emails = preview.email.describe()[:-1] if preview.email else []
    return [*preview.other_effects, *preview.effects[len(preview.other_effects) :][: len(emails)]]


def _fields_to_send(fields: Mapping[str, str], dropped: Collection[str] = ()) -> dict[str, str]:
    """Return the fields that the next page sends again, besides the records."""
    return {
        name: value
        for name, value in fields.items()
        if name not in {"confirmed", *dropped} and not name.startswith((_RECORD_PREFIX, _TOKEN_PREFIX))
    }


def _list_filters(fields: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in parse_qsl(fields.get("list", "")) if name != "done"]


def _list_path(layout: RecordLayout, fields: Mapping[str, str]) -> str:
    """Return the address of the list from which the records were selected."""
    query = urlencode(_list_filters(fields))
    return f"{layout.path}?{query}" if query else layout.path
