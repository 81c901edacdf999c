"""The editor of a document's lines: every button saves what was typed, and the total is updated while typing."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from mainstay.business.pricelist.operations import save_price_item
from mainstay.business.pricelist.store import ITEMS
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, MergedFields, OpenForm
from mainstay.doors.office.kit.line_rows import (
    ITEM_FIELD,
    ITEM_KIND,
    NEW_LINE,
    LineEdits,
    build_line_rows,
    build_new_row,
    find_removed_edits,
    line_edits_of,
    line_marks_of,
    merge_line_changes,
    new_line_ids,
    split_faults,
)
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, id_input_of
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import SEND_NEXT
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.edit_conflicts import MARKS_FIELD, group_fields
from mainstay.doors.pages.form_fields import (
    FormField,
    NewRecordLink,
    form_fields_of,
    form_values_of,
    order_faults,
    to_operation_input,
)
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import redirect, render_template
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.operation import OperationReturning
from mainstay.values.ids import is_id
from mainstay.values.message import message_of
from mainstay.vocabulary.refusal import Fault, Invalid, Stale
from mainstay.vocabulary.typed_records import RecordFields

_MAX_RATES = 100
# The empty rows for new lines of a document that someone else wrote.
_SPARE_ROWS = 4
_NEW_ITEM = NewRecordLink(ITEMS.new_path, "New price list item", "name")
# The query parameter of the editor for the kind of line that one goes on with.
_NEXT_PARAMETER = "next"
_LINE_KINDS = (ITEM_KIND, "heading", "text")


@dataclass(frozen=True)
class LinePages:
    """The line editor of one kind of document."""

    office: OfficePages
    layout: RecordLayout
    update_operation: OperationReturning[Any]
    # Whether it is a sales document, whose lines have a cost, and whether lines can be optional for the customer.
    is_sales: bool
    has_options: bool = False
    # The fields that say what the lines must come to, for a document that someone else wrote. It has only items, and
    # all its lines are saved together.
    stated_fields: tuple[str, ...] = ()

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        path = f"{self.layout.path_of('{id}')}/lines"
        editor = Form(self.office, self._find_document, self._save, self._render_editor, merge=self._merge_changes)
        return [
            Route("GET", path, self.office.require_sign_in(partial(self._show_editor, editor))),
            Route("POST", path, self.office.require_sign_in(editor.submit)),
            Route("POST", f"{path}/totals", self.office.require_sign_in(self.show_totals)),
        ]

    async def _show_editor(
        self, editor: Form[AnyRecord], request: OfficeRequest, path_values: Mapping[str, str]
    ) -> Response:
        """Show the line editor of a draft."""
        document = await self._find_document(request, path_values)
        if self.update_operation.name not in document.available_actions:
            # The operation raises the refusal that says why not.
            await self.office.perform(request, self.update_operation, id_input_of(self.update_operation, document.id))
        return await editor.open(request, document)

    async def _save(self, form: OpenForm[AnyRecord]) -> Response:
        """Save what was typed, and do what the pressed button says."""
        request, document = form.request, form.subject
        if form.button == "more":
            return await self._render_editor(form)
        edits = await self._read_edits(request, document, form.fields)
        stated = to_operation_input(self._form_fields(request), form.fields, request.display)
        if edits.edits or stated:
            update_input = self._update_input(document, edits) | stated
            try:
                await self.office.perform(request, self.update_operation, update_input, form.version)
            except Invalid as invalid:
                raise edits.place_faults(invalid) from None
        elif find_removed_edits(document.lines, form.fields):
            # Everything that was typed belongs to lines that no longer exist.
            raise Stale
        path = self.layout.path_of(document.id)
        done = {"done": self.update_operation.name} if edits.edits or stated else {}
        if form.button == SEND_NEXT and self.layout.send_operation:
            return redirect(_add_query(self.layout.operation_path(self.layout.send_operation, document), done))
        if form.button == "done":
            return redirect(_add_query(path, done))
        # After adding a line, the editor is ready for the next one.
        kind = form.button if form.button in _LINE_KINDS else ITEM_KIND if NEW_LINE in edits.rows else ""
        return redirect(_add_query(f"{path}/lines", done | ({_NEXT_PARAMETER: kind} if kind else {})))

    def _merge_changes(self, form: OpenForm[AnyRecord]) -> MergedFields:
        """Merge the typed lines with those that someone has changed meanwhile."""
        request, document = form.request, form.subject
        form_fields, current = self._form_fields(request), self._stated_values(request, document)
        merged, conflict = merge_line_changes(document.lines, form.fields, form_fields, current, request.display)
        return merged | {"version": str(document.version)}, conflict

    async def show_totals(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the totals of the lines as typed. The edits are performed and rolled back."""
        fields = await self.office.read_form(request)
        document = await self._find_document(request, path_values)
        edits = await self._read_edits(request, document, fields)
        updated = document
        if edits.edits:
            updated = await self.office.dry_run(request, self.update_operation, self._update_input(document, edits))
        return render_template("sums.html", document=updated, here=request.display)

    def _update_input(self, document: AnyRecord, edits: LineEdits) -> dict[str, object]:
        return id_input_of(self.update_operation, document.id) | ({"edits": edits.edits} if edits.edits else {})

    def _form_fields(self, request: OfficeRequest) -> list[FormField]:
        """Return the form fields besides the lines."""
        form_fields = form_fields_of(self.update_operation, request.actor.permissions)
        return [one for one in form_fields if one.name in self.stated_fields]

    def _stated_values(self, request: OfficeRequest, document: AnyRecord) -> dict[str, str]:
        return form_values_of(self._form_fields(request), RecordFields(document), request.display)

    async def _read_edits(self, request: OfficeRequest, document: AnyRecord, fields: Mapping[str, str]) -> LineEdits:
        rows = new_line_ids(fields, spare_rows=0)
        item_ids = {row: item_id for row in rows if (item_id := await self._find_item(request, row, fields))}
        return line_edits_of(document.lines, fields, item_ids, request.display)

    async def _render_editor(self, form: OpenForm[AnyRecord]) -> Response:
        request, document, typed = form.request, form.subject, form.fields
        form_fields, initial = self._form_fields(request), self._stated_values(request, document)
        stated_faults = {name: problem for name, problem in form.faults.items() if name in self.stated_fields}
        faults, problems = split_faults({name: text for name, text in form.faults.items() if name not in stated_faults})
        rates = await self.office.perform(request, list_tax_rates, {"limit": _MAX_RATES})
        lines = build_line_rows(document.lines, typed, faults, request.display)
        new_rows = new_line_ids(typed, _SPARE_ROWS) if self.stated_fields else [NEW_LINE]
        next_kind = "" if form.refusal else query_parameters(request.http_request).get(_NEXT_PARAMETER, "")
        wanted = {f"{NEW_LINE} kind": next_kind} if next_kind in _LINE_KINDS else {}
        new_lines = [build_new_row(row, typed or wanted, faults) for row in new_rows]
        fault_links = [fault_link for row in (*lines, *new_lines) for fault_link in row.fault_links()]
        return self.office.render_page(
            "lines.html",
            request,
            form.status,
            of=self.layout,
            document=document,
            sells=self.is_sales,
            options=self.has_options,
            new_item=_NEW_ITEM if request.can_perform(save_price_item) else None,
            sends=self.layout.send_operation is not None and request.can_perform(self.layout.send_operation),
            path=self.layout.path_of(document.id),
            rows=lines,
            new_lines=new_lines,
            fault_links=[*fault_links, *order_faults(form_fields, stated_faults)],
            form_fields=form_fields,
            fields=defaultdict(str, typed or initial),
            faults=stated_faults,
            rates=[(rate.id, rate.name) for rate in rates.data],
            version=typed.get("version", document.version),
            marks=typed.get(MARKS_FIELD, "")
            if typed
            else line_marks_of(document.lines, group_fields(form_fields, initial), request.display),
            problem=" ".join(problems) or form.problem,
            notice=None if form.refusal else form.notice or self.office.find_notice(request),
            goes_on=bool(next_kind),
        )

    async def _find_item(self, request: OfficeRequest, row: str, fields: Mapping[str, str]) -> str | None:
        """Return the id of the item of a new line: the picked one, or the one that is called as was typed, if any."""
        typed = fields.get(f"{row} description", "").strip()
        if not typed or fields.get(f"{row} kind", ITEM_KIND) != ITEM_KIND:
            return None
        picked, _, title = fields.get(f"{row} {ITEM_FIELD}", "").partition(" ")
        if picked and title.strip() == typed:
            return picked if is_id(picked, ITEMS.prefix) else None
        try:
            return await ReferenceFields(self.office).find_named(request, ITEMS.prefix, typed)
        except ValueError as problem:
            shown = PageFormat(request.display).render_problem(message_of(problem))
            raise Invalid([Fault(f"{row} description", shown)]) from None

    async def _find_document(self, request: OfficeRequest, path_values: Mapping[str, str]) -> AnyRecord:
        check_permission(self.update_operation, request.actor)
        return await self.office.get_record(request, path_values["id"])


def _add_query(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
