"""The pages of one kind of record: its list, its page, and the forms of its operations.

They are derived from the declarations of operations, and an area only lays them out. An operation that is added to the
catalogue appears here with its form, button, confirmation and notice, without another line of code.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from mainstay.business.records.notes import add_note
from mainstay.doors.http import Response
from mainstay.doors.office.kit.email_form import (
    TYPED_FIELDS,
    WITHOUT_EMAIL,
    emails_document,
    fields_to_keep,
    find_first_fields,
    find_token,
    find_ways_out,
    open_email_form,
)
from mainstay.doors.office.kit.form import Form, MergedFields, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import (
    BACK_FIELD,
    RESTORED_NOTICE,
    OfficePages,
    OfficeRequest,
    Preview,
    check_form_access,
    confirmation_input,
    id_input_of,
    path_back,
    read_preview,
)
from mainstay.doors.office.kit.record_layout import RecordLayout, add_number, title_of_form, verb_of
from mainstay.doors.office.kit.record_links import add_links
from mainstay.doors.office.kit.record_list import RecordList
from mainstay.doors.office.kit.record_panels import (
    NOTES_PANEL,
    RecordPanels,
    list_emails_about,
    restored_note,
    to_note_input,
)
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields, choose_only_site, restore_ids
from mainstay.doors.office.kit.selection_pages import SelectionPages
from mainstay.doors.office.kit.unblocking_actions import UnblockingFinder
from mainstay.doors.office.kit.view_pages import ViewPages
from mainstay.doors.pages.display import drop_empty_cells, state_of
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.edit_conflicts import add_marks, merge_changes
from mainstay.doors.pages.form_fields import (
    FormField,
    default_values,
    explain_faults,
    form_fields_of,
    form_values_of,
    join_times,
    order_faults,
)
from mainstay.doors.pages.form_rows import lay_out_rows, remove_empty_rows
from mainstay.doors.pages.form_sections import adopt_defaults, arrange_fields, order_fields
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.page_language import translate_label
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.operation import Operation
from mainstay.kernel.preview import PreviewDiffers
from mainstay.vocabulary.refusal import Invalid, NotFound
from mainstay.vocabulary.typed_records import RecordFields

NO_FIELDS: Mapping[str, str] = MappingProxyType({})

# The value of a button that shows the form again, updated for what is filled in.
SHOW_AGAIN = "look"
# The value of a button that leads on to the page that sends the document.
SEND_NEXT = "send"
# The most warnings that are carried to the next page, since a cookie carries them.
_MAX_WARNINGS = 5


@dataclass(frozen=True)
class RecordPages:
    """The pages of one kind of record."""

    office: OfficePages
    layout: RecordLayout
    # Adds variables for custom templates, of one record or of the list.
    add_variables: Callable[[OfficeRequest, AnyRecord | None], Any] | None = None
    # Extends a record by values that its page shows, its form asks for, or its layout needs.
    extend_record: Callable[[OfficeRequest, AnyRecord], Any] | None = None
    # Adds input to an operation that no form asks for, and returns what to show once of what it created: a secret.
    add_input: Callable[[OfficeRequest, Operation, Mapping[str, str]], dict[str, object]] | None = None
    reveal_secret: Callable[[OfficeRequest, Operation, AnyRecord], AnyRecord | None] | None = None
    # Adds variables for a form that depend on what is filled in. `known_fields` are filled in as well.
    add_form_variables: Callable[[OfficeRequest, Operation, Mapping[str, str]], Any] | None = None

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        protect, path = self.office.require_sign_in, self.layout.path
        record_path = self.layout.path_of("{id}")
        routes = [
            Route("GET", record_path, protect(self.show_record)),
            Route("GET", f"{record_path}/{{verb}}", protect(self.show_form)),
            Route("POST", f"{record_path}/{{verb}}", protect(self.perform_operation)),
        ]
        if self.layout.list_operation:
            routes.append(Route("GET", path, protect(self.index)))
            routes.append(Route("GET", f"{path}/export.csv", protect(self.export)))
            routes += SelectionPages(self.office, self.layout).routes()
            routes += ViewPages(self.office, path, self.layout.list_operation).routes()
        if self.layout.create_operation:
            routes += self._create_form(self.layout.create_operation).routes(self.layout.kind.new_path)
        return routes

    async def index(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the list. The address says which records and in which order."""
        return await self._record_list.index(request, await self._custom_variables(request, None))

    async def export(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return the whole list as a file, filtered and ordered like its page."""
        return await self._record_list.export(request)

    async def show_record(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show a record, and what can be done with it."""
        record = await self._fetch_record(request, path_values)
        secret = self.office.one_time_secrets.take(request.http_request, request.visitor, record.id)
        content = secret.content if secret else {}
        return await self._render_page(
            request,
            record,
            revealed=content.get("revealed"),
            # What was said of an earlier version may no longer be so: an empty draft has lines now.
            warnings=content.get("warnings", ()) if content.get("version") == _version_of(record) else (),
            headers=secret.headers if secret else (),
            notice=RESTORED_NOTICE
            if restored_note(request, record.id)
            else content.get("notice") or self._find_notice(request, record),
        )

    async def show_form(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show the form of an operation on a record, or its preview if it is irreversible and has no form.

        The same kind of address also serves the record's files, and its panels in full.
        """
        if file := self._find_file_operation(path_values["verb"]):
            return await self.office.serve_file(request, file, id_input_of(file, path_values.get("id", "")))
        if path_values["verb"] in self.layout.panels:
            return await self._show_panel(request, path_values)
        operation = self._find_operation(request, path_values["verb"])
        refusal, record = check_form_access(request, operation), await self._fetch_record(request, path_values)
        form_fields = self._form_fields(operation, request, record=record)
        if await self._opens_with_preview(request, operation, record, form_fields):
            return await self._show_preview(request, operation, record, dict(request.restored_fields))
        if not refusal and (blocked_page := await self._find_blocked_page(request, operation, record, form_fields)):
            return blocked_page
        if not request.restored_fields:
            self.layout.check_purpose(operation, record)
        return await self._record_form(operation).open(request, record, refusal)

    async def perform_operation(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Perform an operation on a record. An irreversible one shows a preview until it is confirmed."""
        if path_values["verb"] == NOTES_PANEL and NOTES_PANEL in self.layout.panels:
            note_form = Form(self.office, self._fetch_record, self._add_note, self._show_refused_note)
            return await note_form.submit(request, path_values)
        operation = self._find_operation(request, path_values["verb"])
        return await self._record_form(operation).submit(request, path_values)

    def _create_form(self, operation: Operation) -> Form[PathValues]:
        """Return the form for a new record."""
        return Form(
            self.office,
            find_by_path,
            partial(self._create, operation),
            lambda form: self._render_form(operation, form),
            fill_in=lambda request, _: (
                default_values(self._form_fields(operation, request)) | query_parameters(request.http_request)
            ),
            read_fields=partial(self._read_fields, operation),
            operation=operation,
        )

    def _record_form(self, operation: Operation) -> Form[AnyRecord]:
        """Return the form of an operation on a record."""
        return Form(
            self.office,
            self._fetch_record,
            partial(self._perform_on_record, operation),
            lambda form: self._render_form(operation, form, form.subject),
            fill_in=partial(self._fill_in, operation),
            merge=partial(self._merge_changes, operation),
            read_fields=partial(self._read_fields, operation),
        )

    async def _create(self, operation: Operation, form: OpenForm[PathValues]) -> Response:
        if form.button == SHOW_AGAIN:
            return await self._render_form(operation, form)
        created = await self._perform_form(form, operation, {})
        path = self.layout.path_after_creation(created)
        if form.button == SEND_NEXT and self.layout.send_operation and path == self.layout.path_of(created.id):
            path = self.layout.operation_path(self.layout.send_operation, created)
        return self._redirect_after(form.request, operation, created, path)

    async def _perform_on_record(self, operation: Operation, form: OpenForm[AnyRecord]) -> Response:
        """Perform an operation on a record. An irreversible one shows a preview until it is confirmed."""
        request, record = form.request, form.subject
        confirmation = confirmation_input(form.fields) if operation.is_irreversible else {}
        if form.button == WITHOUT_EMAIL:
            kept = fields_to_keep(form.fields)
            return await self._show_preview(request, operation, record, {**kept, "deliver": "none"})
        if operation.is_irreversible and not confirmation:
            return await self._show_preview(request, operation, record, form.fields)
        if "seen" in form.fields:
            try_out = partial(self._preview_fields, request, operation, record)
            confirmation["previewToken"] = await find_token(try_out, form.fields)
        part_input = self._part_input(request, operation, record, form.fields)
        extra_input = confirmation | part_input | id_input_of(operation, record.id)
        try:
            answer = await self._perform_form(form, operation, extra_input, record)
        except PreviewDiffers as refusal:
            if "seen" in form.fields:
                return await self._show_preview(request, operation, record, form.fields, refusal.text)
            preview = read_preview(refusal.preview, refusal.text)
            return await self._render_preview(request, operation, record, form.fields, preview)
        if operation.deletes:
            target = self.layout.path_after_delete(record) if self.layout.path_after_delete else self.layout.path
        else:
            # If the answer is another record of the same kind, continue with that one.
            target = self.layout.path_of((answer if answer.object == record.object else record).id)
        return self._redirect_after(request, operation, answer, path_back(form.fields) or target)

    def _fill_in(self, operation: Operation, request: OfficeRequest, record: AnyRecord) -> dict[str, str]:
        """Return the fields of the form as it is opened: of the record, or as the address says, with their marks."""
        form_fields, query = (
            self._form_fields(operation, request, record=record),
            query_parameters(request.http_request),
        )
        part = self.layout.form_parts.get(operation.name)
        fields = self._initial_fields(request, form_fields, record)
        fields |= part.initial_fields(record, request.display) if part else {}
        fields |= {field.name: query[field.name] for field in form_fields if query.get(field.name)}
        fields |= {BACK_FIELD: query[BACK_FIELD]} if BACK_FIELD in query else {}
        return add_marks(form_fields, fields)

    def _initial_fields(
        self, request: OfficeRequest, form_fields: Sequence[FormField], record: AnyRecord
    ) -> dict[str, str]:
        """Return the initial fields of the form of a record."""
        fields = form_values_of(form_fields, self.layout.prefill(RecordFields(record)), request.display)
        # The current value is not among the possible ones, so the likeliest is chosen.
        possible, names = self.layout.choices_for(record, request.actor), {field.name for field in form_fields}
        return fields | {name: values[0] for name, values in possible.items() if name in names}

    def _merge_changes(self, operation: Operation, form: OpenForm[AnyRecord]) -> MergedFields:
        """Merge the form with the record that someone has changed meanwhile."""
        request, record = form.request, form.subject
        form_fields = self._form_fields(operation, request, form.fields, record)
        merged, conflict = merge_changes(
            form_fields, restore_ids(form_fields, form.fields), self._initial_fields(request, form_fields, record)
        )
        return merged | {"version": str(record.version)}, conflict

    async def _read_fields(self, operation: Operation, request: OfficeRequest) -> dict[str, str]:
        """Return the sent fields of an operation's form. Files are only received if the person may perform it."""
        form_fields = self._form_fields(operation, request)
        if any(field.upload for field in form_fields):
            check_permission(operation, request.actor)
        fields = join_times(form_fields, await self.office.read_form(request, form_fields))
        return remove_empty_rows(form_fields, fields)

    async def _perform_form(
        self,
        form: OpenForm[Any],
        operation: Operation,
        extra_input: dict[str, object],
        record: AnyRecord | None = None,
    ) -> AnyRecord:
        request, form_fields = form.request, self._form_fields(operation, form.request, form.fields, record)
        values, fields = await self._references.read_input(request, form_fields, form.fields)
        values |= await self.office.store_files(request, form_fields)
        if operation.on is None:
            # When a record is created, an empty field means the default, so it is not sent.
            values = {name: value for name, value in values.items() if value is not None and value != []}
        added = self.add_input(request, operation, fields) if self.add_input else {}
        return await self.office.perform(request, operation, values | extra_input | added, form.version)

    async def _find_blocked_page(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord, form_fields: Sequence[FormField]
    ) -> Response | None:
        """Return a page that says why an operation is not possible now, before anyone fills in its form."""
        if not operation.is_irreversible or operation.name in record.available_actions:
            return None
        # With placeholder answers, so that only the record's own blockers count.
        values = {field.name: "-" for field in form_fields if field.required} | id_input_of(operation, record.id)
        try:
            preview = await self.office.preview(request, operation, values)
        except Invalid:
            return None
        return await self._render_preview(request, operation, record, {}, preview) if preview.blockers else None

    async def _opens_with_preview(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord, form_fields: Sequence[FormField]
    ) -> bool:
        """Return whether an operation has nothing to ask before its preview, or only what helps if it is blocked."""
        first_fields = find_first_fields(operation, form_fields)
        if not operation.is_irreversible or operation.name in self.layout.form_parts:
            return False
        if not first_fields or any(field.kind != "flag" for field in first_fields):
            return not first_fields
        return not (await self._preview_fields(request, operation, record, {})).blockers

    async def _show_preview(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord, fields: dict[str, str], notice: str = ""
    ) -> Response:
        if emails_document(operation):
            opened = OpenForm(request, record, fields)
            return await self._show_email_form(operation, opened, notice)
        preview = await self._preview_fields(request, operation, record, fields)
        return await self._render_preview(request, operation, record, fields, preview)

    async def _preview_fields(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord, fields: dict[str, str]
    ) -> Preview:
        """Return the preview of an operation with the fields of a form."""
        form_fields = self._form_fields(operation, request, fields, record)
        fields = default_values(form_fields) | fields
        values, fields = await self._references.read_input(request, form_fields, fields, record)
        values |= self._part_input(request, operation, record, fields) | id_input_of(operation, record.id)
        return await self.office.preview(request, operation, values)

    async def _show_email_form(self, operation: Operation, form: OpenForm[AnyRecord], notice: str = "") -> Response:
        """Show what would be sent, to be changed and confirmed; or the preview, if that is no email."""
        request, record, kept = form.request, form.subject, fields_to_keep(form.fields)
        form_fields = self._form_fields(operation, request, kept, record)
        kept = {name: value for name, value in default_values(form_fields).items() if name == "deliver"} | kept
        typed = {name: form.fields[name] for name in TYPED_FIELDS if name in form.fields}
        # Words that were refused are shown as they were typed, and may not be previewed.
        kept_as_typed = typed if form.refusal or request.restored_fields else {}
        email_form = await open_email_form(
            partial(self._preview_fields, request, operation, record),
            kept if kept_as_typed else kept | typed,
            request.visitor.email,
        )
        preview = email_form.preview._replace(notice=notice)
        if not email_form.fields:
            return await self._render_preview(request, operation, record, kept, preview)
        return await self._render_preview(
            request,
            operation,
            record,
            kept,
            preview,
            status=form.status,
            email={**email_form.fields, **kept_as_typed},
            warnings=find_ways_out(request, preview, RecordFields(record).get("customerId")),
            pdf=self._preview_path(operation, record, kept, "pdf"),
            picture=self._preview_path(operation, record, kept, "webp"),
            without_email=WITHOUT_EMAIL,
            fault_links=order_faults(form_fields, form.faults),
            faults=form.faults,
            problem=form.problem,
            notice=form.notice or self.office.find_notice(request),
        )

    def _preview_path(
        self, operation: Operation, record: AnyRecord, fields: Mapping[str, str], suffix: str
    ) -> str | None:
        """Return the address of the document that would be sent, with what was typed for it before."""
        name = self.layout.previews.get(operation.name)
        query = urlencode({name: text for name, text in fields.items() if text and name != "deliver"})
        path = f"{self.layout.path_of(record.id)}/{name}.{suffix}"
        return f"{path}?{query}" if name and query else path if name else None

    async def _render_preview(
        self,
        request: OfficeRequest,
        operation: Operation,
        record: AnyRecord,
        fields: Mapping[str, str],
        preview: Preview,
        **variables: Any,
    ) -> Response:
        """Show what would happen, or why it is not possible and what can be done instead."""
        status: int = variables.pop("status", 200)
        return self.office.render_page(
            "send.html" if "email" in variables else "confirm.html",
            request,
            preview.status if preview.notice else status,
            of=self.layout,
            operation=operation,
            record=record,
            title=title_of_form(operation, record),
            lead=self.layout.form_lead(operation),
            sends=operation.name.startswith("send_"),
            deed=add_number(operation.title, operation, record),
            record_title=self.layout.localised_title_of(record, request.display),
            path=self.layout.path_of(record.id),
            version=_version_of(record),
            fields=fields,
            preview=preview,
            instead=await UnblockingFinder(self.office, self.layout).find_actions(
                request, operation, preview.unblocking_actions, record
            ),
            **variables,
        )

    async def _render_page(
        self, request: OfficeRequest, record: AnyRecord, status: int = 200, **variables: Any
    ) -> Response:
        layout, model = self.layout, self.layout.kind.output
        variables |= {
            "record_title": layout.localised_title_of(record, request.display),
            "path": layout.path_of(record.id),
            "subtitle": layout.subtitle_of(record),
            "main_text": RecordFields(record).get(layout.main_text) if layout.main_text else None,
            "state": state_of(model, record.status) if model.states else None,
            "facts": await add_links(
                self.office,
                request,
                record,
                drop_empty_cells(layout.format_cells(model, layout.facts, record, request.display)),
            ),
            "actions": layout.actions_of(self.office, record),
            "within": {"path": layout.path, "name": layout.title}
            if layout.list_operation and request.can_perform(layout.list_operation)
            else None,
        }
        # Someone who only sees when a colleague's visit is does not see its panels.
        with suppress(NotFound):
            panels, accepts_additions = RecordPanels(self.office), layout.accepts_additions(record)
            related_lists = self.office.related_lists.get(layout.kind.prefix, ())
            variables["panels"] = await panels.build_panels(
                request,
                record,
                related_lists,
                () if layout.has_diary else layout.panels,
                accepts_additions=accepts_additions,
            )
        if layout.has_diary:
            variables |= {"mails": [], "unsent": None}
        else:
            variables |= await list_emails_about(self.office, request, record.id, layout.email_warning)
        variables |= await self._custom_variables(request, record)
        return self.office.render_page("record.html", request, status, of=layout, record=record, **variables)

    async def _show_panel(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show one panel of a record in full: all notes, files or history. Its page shows the newest only."""
        record = await self._fetch_record(request, path_values)
        if restored_note(request, record.id):
            return await self.show_record(request, path_values)
        title, path = self.layout.localised_title_of(record, request.display), self.layout.path_of(record.id)
        variables = await RecordPanels(self.office).build_full_panel(
            request, record, path_values["verb"], f"{path}/{path_values['verb']}"
        )
        variables |= {"record": record, "actions": self.layout.actions_of(self.office, record)}
        return self.office.render_page(
            "full_panel.html", request, of=self.layout, record_title=title, path=path, **variables
        )

    async def _add_note(self, form: OpenForm[AnyRecord]) -> Response:
        """Add a note to a record."""
        record = form.subject
        await self.office.perform(form.request, add_note, to_note_input(record.id, form.fields))
        return redirect(f"{self.layout.path_of(record.id)}?done={add_note.name}#{NOTES_PANEL}")

    async def _show_refused_note(self, form: OpenForm[AnyRecord]) -> Response:
        """Show a refused note again on the page of the record."""
        shown_again = replace(form.request, restored_fields={**form.fields, "recordId": form.subject.id})
        problem = f"{form.refusal.text.rstrip('.')}." if form.refusal else ""
        return await self._render_page(shown_again, form.subject, form.status, revealed=None, note_refused=problem)

    async def _render_form(
        self, operation: Operation, form: OpenForm[Any], record: AnyRecord | None = None
    ) -> Response:
        request, fields, refusal, variables = form.request, form.fields, form.refusal, form.variables
        if "seen" in fields:
            return await self._show_email_form(operation, form)
        form_fields = find_first_fields(operation, self._form_fields(operation, request, fields, record))
        variables |= (
            {"faults": explain_faults(form_fields, fields, variables["faults"])} if "faults" in variables else {}
        )
        variables |= self.layout.form_heading(operation, record)
        variables |= await self.add_form_variables(request, operation, fields) if self.add_form_variables else {}
        fields = {**fields, **variables.get("known_fields", {})}
        form_fields, fields = await self._references.add_choices(request, form_fields, fields, record)
        if record is None and refusal is None:
            fields = choose_only_site(form_fields, fields)
        create, faults = self.layout.create_operation, variables.get("faults", {})
        if create:
            form_fields = adopt_defaults(form_fields, form_fields_of(create, request.actor.permissions))
        part = self.layout.form_parts.get(operation.name)
        part_names = part.own_fields if part else ()
        own_fields = [field for field in form_fields if field.name not in part_names]
        return self.office.render_page(
            "operation.html",
            request,
            form.status,
            of=self.layout,
            operation=operation,
            lead=self.layout.form_lead(operation),
            record=record,
            record_title=self.layout.localised_title_of(record, request.display) if record else None,
            path=self.layout.path_of(record.id) if record else self.layout.path,
            version=fields.get("version", _version_of(record) if record else None),
            sections=arrange_fields(own_fields, self.layout.first_fields, fields, faults, request.display),
            part=part,
            part_fields=[field for field in form_fields if field.name in part_names],
            has_files=any(field.upload for field in form_fields),
            fields=defaultdict(str, fields),
            fault_links=order_faults(form_fields, faults),
            instead=await UnblockingFinder(self.office, self.layout).find_actions(
                request, operation, refusal.unblocking_actions if refusal else (), record
            ),
            **variables,
        )

    def _redirect_after(self, request: OfficeRequest, operation: Operation, answer: AnyRecord, path: str) -> Response:
        revealed = self.reveal_secret(request, operation, answer) if self.reveal_secret else None
        warnings = list(RecordFields(answer).get("warnings", ()))[:_MAX_WARNINGS]
        is_bulk = operation.name in self.layout.bulk_operations
        told = {"notice": " ".join(warnings)} if is_bulk else {"warnings": warnings, "version": _version_of(answer)}
        has_content, content = revealed or warnings, {**told, "revealed": revealed}
        cookies = (
            [self.office.one_time_secrets.build_cookie(request.visitor, answer.id, content)] if has_content else []
        )
        return redirect(f"{path}?{urlencode({'done': operation.name})}", cookies)

    def _find_notice(self, request: OfficeRequest, record: AnyRecord) -> str | None:
        """Return the notice of what was just done, with the record's number or name as a link: `Quote Q-0069 sent.`."""
        notice, noun = self.office.find_notice(request), translate_label(self.layout.kind.output.noun)
        called = RecordFields(record).get("number") or RecordFields(record).get("name")
        if notice is None or not called:
            return notice
        link = Markup('<a href="{}"><bdi>{}</bdi></a>').format(self.layout.path_of(record.id), called)
        if not notice.startswith(f"{noun} "):
            return notice
        # A name says what it is by itself: `Kim Nowak updated.`
        title = Markup("{} {}").format(noun, link) if RecordFields(record).get("number") else link
        return Markup("{}{}").format(title, notice.removeprefix(noun))

    @property
    def _record_list(self) -> RecordList:
        if self.layout.list_operation is None:
            raise NotFound("page")
        return RecordList(self.office, self.layout, self.layout.list_operation)

    @property
    def _references(self) -> ReferenceFields:
        return ReferenceFields(self.office)

    def _find_operation(self, request: OfficeRequest, verb: str) -> Operation:
        for operation in self.office.catalogue.operations_on(self.layout.kind.output):
            if operation.changes and request.actor.door in operation.doors and verb_of(operation) == verb:
                return operation
        raise NotFound("page")

    def _form_fields(
        self,
        operation: Operation,
        request: OfficeRequest,
        fields: Mapping[str, str] = NO_FIELDS,
        record: AnyRecord | None = None,
    ) -> Sequence[FormField]:
        """Return the form fields of an operation, with as many list rows as are filled in.

        For a record, only its possible choices are offered. A field whose only choice is its default is left out.
        """
        possible = self.layout.choices_for(record, request.actor) if record else {}
        form_fields = [
            replace(
                field,
                choices=self.layout.form_choices(field.name, record) or field.choices,
                required=field.required or self.layout.is_required(field.name, fields),
            )
            for field in form_fields_of(operation, request.actor.permissions)
            if field.name not in self.layout.skipped_fields and [field.default] != possible.get(field.name)
        ]
        form_fields = [
            field.limit_choices(possible[field.name]) if field.name in possible else field for field in form_fields
        ]
        return lay_out_rows(order_fields(form_fields, self.layout.first_fields), fields)

    async def _fetch_record(self, request: OfficeRequest, path_values: Mapping[str, str]) -> AnyRecord:
        record = await self.office.perform(
            request, self.layout.get_operation, id_input_of(self.layout.get_operation, path_values.get("id", ""))
        )
        return await self.extend_record(request, record) if self.extend_record else record

    def _find_file_operation(self, verb: str) -> Operation | None:
        """Return the operation that returns a file of a record, by the end of its route."""
        for operation in self.office.catalogue.operations_on(self.layout.kind.output):
            if operation.returns_file and (operation.api_path or "").endswith(f"/{verb}"):
                return operation
        return None

    def _part_input(
        self, request: OfficeRequest, operation: Operation, record: AnyRecord, fields: Mapping[str, str]
    ) -> dict[str, object]:
        part = self.layout.form_parts.get(operation.name)
        return part.read_input(record, fields, request.display) if part else {}

    async def _custom_variables(self, request: OfficeRequest, record: AnyRecord | None) -> dict[str, Any]:
        variables: dict[str, Any] = await self.add_variables(request, record) if self.add_variables else {}
        return variables


def _version_of(record: AnyRecord) -> int | None:
    version: int | None = RecordFields(record).get("version")
    return version
