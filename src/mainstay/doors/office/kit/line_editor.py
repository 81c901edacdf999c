"""The editor of a document's lines: every button saves what was typed, and the total is updated while typing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.doors.http import Response
from mainstay.doors.office.kit.line_rows import (
    ITEM_FIELD,
    NEW_LINE,
    LineEdits,
    build_line_rows,
    build_new_row,
    find_removed_edits,
    line_edits_of,
    line_marks_of,
    merge_line_changes,
)
from mainstay.doors.office.kit.office_pages import (
    RESTORED_NOTICE,
    OfficePages,
    OfficeRequest,
    form_version,
    id_input_of,
    refusal_variables,
    status_of,
)
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.reference_fields import RecordJson, ReferenceFields
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.edit_conflicts import MARKS_FIELD
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.rendering import redirect, render_template
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal, Stale

_MAX_RATES = 100
# The query parameter of the editor after a line was added.
_ADDED_PARAMETER = "added"


class LineFaults(NamedTuple):
    """The faults of typed lines by row and field, and the problem of the form as a whole."""

    faults: dict[str, dict[str, str]]
    problem: str | None
    status: int

    @classmethod
    def from_refusal(cls, refusal: Refusal, edits: LineEdits) -> "LineFaults":
        """Convert a refusal of these edits."""
        if not isinstance(refusal, Invalid):
            return cls({}, refusal_variables(refusal)["problem"], status_of(refusal))
        faults, others = edits.split_faults(refusal)
        problem = " ".join(others) or None
        return cls(faults, problem, status_of(refusal))


@dataclass(frozen=True)
class LinePages:
    """The line editor of one kind of document."""

    office: OfficePages
    layout: RecordLayout
    update_operation: Operation
    # Whether it is a sales document, whose lines have a cost, and whether lines can be optional for the customer.
    is_sales: bool
    has_options: bool = False

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        protect, record_path = self.office.require_sign_in, self.layout.path_of("{id}")
        return [
            Route("GET", f"{record_path}/lines", protect(self.show_editor)),
            Route("POST", f"{record_path}/lines", protect(self.save)),
            Route("POST", f"{record_path}/lines/totals", protect(self.show_totals)),
        ]

    async def show_editor(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show the line editor of a draft."""
        check_permission(self.update_operation, request.actor)
        document = await self._fetch_document(request, path_values)
        if self.update_operation.name not in document["availableActions"]:
            # The operation raises the refusal that says why not.
            await self.office.perform(
                request, self.update_operation, id_input_of(self.update_operation, document["id"])
            )
        return await self._render_editor(request, document, request.restored_fields, None)

    async def save(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Save what was typed, and do what the pressed button says."""
        fields = await self.office.read_form(request)
        request = request.with_form_token(fields)
        check_permission(self.update_operation, request.actor)
        document = await self._fetch_document(request, path_values)
        edits = LineEdits([], [])
        try:
            edits = line_edits_of(document["lines"], fields, await self._find_item(request, fields), request.display)
            await self._save_edits(request, document, edits, fields)
        except Stale:
            merged, conflict = merge_line_changes(document["lines"], fields, request.display)
            merged["version"] = str(document["version"])
            return await self._render_editor(request, document, merged, LineFaults.from_refusal(conflict, edits))
        except Refusal as refusal:
            return await self._render_editor(request, document, fields, LineFaults.from_refusal(refusal, edits))
        path = self.layout.path_of(document["id"])
        done_query = f"?done={self.update_operation.name}" if edits.edits else ""
        if fields.get("do") == "done":
            return redirect(f"{path}{done_query}")
        # After adding a line, the editor is ready for the next one.
        return redirect(f"{path}/lines{done_query}{f'&{_ADDED_PARAMETER}=1' if NEW_LINE in edits.rows else ''}")

    async def show_totals(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Return the totals of the lines as typed. The edits are performed and rolled back."""
        fields = await self.office.read_form(request)
        check_permission(self.update_operation, request.actor)
        document = await self._fetch_document(request, path_values)
        edits = line_edits_of(document["lines"], fields, await self._find_item(request, fields), request.display)
        updated = document
        if edits.edits:
            update_input = id_input_of(self.update_operation, document["id"]) | {"edits": edits.edits}
            updated = await self.office.dry_run(request, self.update_operation, update_input)
        return render_template("sums.html", document=updated, here=request.display)

    async def _save_edits(
        self, request: OfficeRequest, document: RecordJson, edits: LineEdits, fields: Mapping[str, str]
    ) -> None:
        if edits.edits:
            update_input = id_input_of(self.update_operation, document["id"]) | {"edits": edits.edits}
            await self.office.perform(request, self.update_operation, update_input, form_version(fields))
        elif find_removed_edits(document["lines"], fields):
            # Everything that was typed belongs to lines that no longer exist.
            raise Stale

    async def _render_editor(
        self, request: OfficeRequest, document: RecordJson, typed: Mapping[str, str], line_faults: LineFaults | None
    ) -> Response:
        rates = await self.office.perform(request, list_tax_rates, {"limit": _MAX_RATES})
        faults = line_faults.faults if line_faults else {}
        lines, new_line = (
            build_line_rows(document["lines"], typed, faults, request.display),
            build_new_row(typed, faults),
        )
        return self.office.render_page(
            "lines.html",
            request,
            line_faults.status if line_faults else 200,
            of=self.layout,
            document=document,
            sells=self.is_sales,
            options=self.has_options,
            path=self.layout.path_of(document["id"]),
            rows=lines,
            new_line=new_line,
            ways=[fault_link for row in (*lines, new_line) for fault_link in row.fault_links()],
            rates=[(rate["id"], rate["name"]) for rate in rates["data"]],
            version=typed.get("version", document["version"]),
            shown=typed.get(MARKS_FIELD, "") if typed else line_marks_of(document["lines"], request.display),
            problem=line_faults.problem if line_faults else None,
            notice=None
            if line_faults
            else RESTORED_NOTICE
            if request.restored_fields
            else self.office.find_notice(request),
            goes_on=line_faults is None and _ADDED_PARAMETER in query_parameters(request.http_request),
        )

    async def _find_item(self, request: OfficeRequest, fields: Mapping[str, str]) -> str | None:
        """Return the id of the price list item that was typed for a new line."""
        typed = fields.get(f"{NEW_LINE} {ITEM_FIELD}", "").strip()
        if not typed:
            return None
        try:
            return await ReferenceFields(self.office).find_record(request, ITEM_FIELD, typed)
        except ValueError as problem:
            raise Invalid([Fault(ITEM_FIELD, str(problem))]) from None

    async def _fetch_document(self, request: OfficeRequest, path_values: Mapping[str, str]) -> RecordJson:
        return await self.office.get_record(request, path_values["id"])
