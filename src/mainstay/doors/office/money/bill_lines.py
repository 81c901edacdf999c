"""Edit all lines of a supplier's bill together, because their sum must match the total of the bill."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.purchasing.bills import update_bill
from mainstay.business.purchasing.model import BillOut
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import (
    RESTORED_NOTICE,
    OfficePages,
    OfficeRequest,
    form_version,
    refusal_variables,
    status_of,
)
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.money import bill_rows
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.edit_conflicts import (
    MARKS_FIELD,
    EditConflict,
    FormFields,
    ShownMarks,
    build_marks,
    form_field_labels,
    group_fields,
)
from mainstay.doors.pages.form_fields import FormField, form_fields_of, form_values_of, order_faults, to_operation_input
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal, Stale
from mainstay.vocabulary.typed_records import RecordFields

MAX_RATES = 100
# The number of empty rows for new lines. When they are full, there are more.
SPARE_ROWS = 4
# The fields besides the lines.
_FORM_FIELDS = ("total", "allowOverbilling")


@dataclass(frozen=True)
class BillLinePages:
    """The page to edit the lines of a bill."""

    office: OfficePages
    layout: RecordLayout

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        signed_in, path = self.office.require_sign_in, f"{self.layout.path_of('{id}')}/lines"
        return [Route("GET", path, signed_in(self.show)), Route("POST", path, signed_in(self.save))]

    async def show(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Show the form with the current lines."""
        check_permission(update_bill, request.actor)
        bill = await self.office.get_record(request, path_values["id"])
        initial = form_values_of(
            _form_fields(request), RecordFields(bill), request.display
        ) | bill_rows.fields_from_bill(bill.lines, request.display)
        return await self._render_form(
            request,
            bill,
            request.restored_fields or {**initial, MARKS_FIELD: build_marks(_form_parts(request, initial))},
        )

    async def save(self, request: OfficeRequest, path_values: Mapping[str, str]) -> Response:
        """Save the lines, or show the form with more empty rows."""
        fields = await self.office.read_form(request)
        request = request.with_form_token(fields)
        check_permission(update_bill, request.actor)
        bill = await self.office.get_record(request, path_values["id"])
        if fields.get("do") == "more":
            return await self._render_form(request, bill, fields, spare_rows=2 * SPARE_ROWS)
        edits = bill_rows.list_edits(bill.lines, bill_rows.read_bill_rows(fields), request.display)
        answers = to_operation_input(_form_fields(request), fields, request.display)
        bill_input = {"billId": bill.id, **answers, **({"edits": [edit for _, edit in edits]} if edits else {})}
        try:
            await self.office.perform(request, update_bill, bill_input, form_version(fields))
        except Stale:
            return await self._render_form(request, bill, *_merge_conflict(request, bill, fields))
        except Refusal as refusal:
            row_refusal = _place_refusal(refusal, [row_number for row_number, _ in edits])
            return await self._render_form(request, bill, fields, row_refusal)
        return redirect(f"{self.layout.path_of(bill.id)}?done={update_bill.name}")

    async def _render_form(
        self,
        request: OfficeRequest,
        bill: BillOut,
        fields: Mapping[str, str],
        refusal: Refusal | None = None,
        spare_rows: int = SPARE_ROWS,
    ) -> Response:
        problems, form_fields = refusal_variables(refusal), _form_fields(request)
        rates = await self.office.perform(request, list_tax_rates, {"limit": MAX_RATES})
        return self.office.render_page(
            "bill_lines.html",
            request,
            status_of(refusal),
            of=self.layout,
            bill=bill,
            called=self.layout.title_of(bill),
            path=self.layout.path_of(bill.id),
            asked=form_fields,
            fields=defaultdict(str, fields),
            rows=[*bill_rows.read_bill_rows(fields), *(bill_rows.blank_row() for _ in range(spare_rows))],
            rates=[(rate.id, rate.name) for rate in rates.data],
            version=fields.get("version", bill.version),
            notice=RESTORED_NOTICE if request.restored_fields else None,
            ways=order_faults(form_fields, problems.get("faults", {})),
            **problems,
        )


def _form_fields(request: OfficeRequest) -> Sequence[FormField]:
    return [one for one in form_fields_of(update_bill, request.actor.permissions) if one.name in _FORM_FIELDS]


def _form_parts(request: OfficeRequest, fields: FormFields) -> dict[str, FormFields]:
    """Return the parts that are compared for conflicts: each field besides the lines, and each line, by its id."""
    rows = {row["lineId"]: row for row in bill_rows.read_bill_rows(fields) if row["lineId"]}
    return {**group_fields(_form_fields(request), fields), **rows}


def _merge_conflict(request: OfficeRequest, bill: BillOut, fields: FormFields) -> tuple[dict[str, str], EditConflict]:
    """Merge a form with a bill that someone has changed meanwhile. Return the fields and the refusal to show."""
    rows = bill_rows.fields_from_bill(bill.lines, request.display)
    typed_parts, current_parts = (
        _form_parts(request, fields),
        _form_parts(request, form_values_of(_form_fields(request), RecordFields(bill), request.display) | rows),
    )
    seen = ShownMarks(fields)
    merged = seen.merge(typed_parts, current_parts)
    message_format = PageFormat(request.display)
    numbers = {
        line.id: message_format.render(Message("line {number}", number=number))
        for number, line in enumerate(bill.lines, start=1)
    }
    conflicting = [
        *form_field_labels(_form_fields(request), merged.changed_by_both),
        *(numbers[name] for name in merged.changed_by_both if name in numbers),
    ]
    removed = [
        row["description"]
        for name, row in typed_parts.items()
        if name not in current_parts and not seen.has_shown(name, row)
    ]
    new_rows = [row for row in bill_rows.read_bill_rows(fields) if not row["lineId"]]
    other_fields = {
        name: text for form_field in _form_fields(request) for name, text in merged.parts[form_field.name].items()
    }
    lines = bill_rows.rows_to_fields([*(merged.parts[line] for line in numbers), *new_rows])
    return {
        **other_fields,
        **lines,
        MARKS_FIELD: build_marks(current_parts),
        "version": str(bill.version),
    }, EditConflict(conflicting, removed)


def _place_refusal(refusal: Refusal, row_numbers: Sequence[int]) -> Refusal:
    """Move the faults of edits to the fields of their rows."""
    if not isinstance(refusal, Invalid):
        return refusal
    return Invalid([_place_fault(fault, row_numbers) for fault in refusal.faults], refusal.text)


def _place_fault(fault: Fault, row_numbers: Sequence[int]) -> Fault:
    name, _, rest = fault.field.partition(".")
    number, _, of_line = rest.partition(".")
    if name != "edits" or not number.isdecimal() or int(number) >= len(row_numbers):
        return fault
    return replace(fault, field=f"lines.{row_numbers[int(number)]}.{of_line or 'description'}")
