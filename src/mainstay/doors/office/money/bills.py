"""Suppliers' bills: the list, the page of each, and the form to record one, which an order can fill in."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mainstay.business.jobs.store import JOBS
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.purchasing.bills import record_bill, update_bill
from mainstay.business.purchasing.model import BILL_STEPS, BillOut, BillStep, is_bill_editable, next_step_of_bill
from mainstay.business.purchasing.operations import get_purchase_order
from mainstay.business.purchasing.store import BILLS, ORDERS
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.line_editor import LinePages
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import Action, RecordLayout, SelectionAction
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields
from mainstay.doors.office.kit.related_lists import RelatedList
from mainstay.doors.office.money import bill_rows
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, default_values, form_fields_of, order_faults, to_operation_input
from mainstay.doors.pages.form_sections import arrange_fields, order_fields
from mainstay.doors.pages.formatting import join_isolated
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.ids import is_id
from mainstay.vocabulary.refusal import NotFound

_MAX_RATES = 100
# The number of empty rows for lines. When they are full, there are more.
_SPARE_ROWS = 4


def _make_step_action(step: BillStep) -> SelectionAction:
    """Return the action that takes selected bills a step further, if that is their next step."""
    return SelectionAction(
        update_bill,
        step.label,
        {"status": step.status},
        allows=lambda bill: next_step_of_bill(bill.status) == step,
    )


BILLS_LAYOUT = RecordLayout(
    kind=BILLS,
    lead="Bills from your suppliers, to check and pay.",
    base_template="purchasing.html",
    create_operation=record_bill,
    title_of=lambda bill: join_isolated(bill.supplier_name, bill.supplier_number),
    subtitle_of=lambda bill: " · ".join(filter(None, (bill.purchase_order_number, bill.job_number))),
    columns=("status", "total", "on", "dueOn"),
    optional_columns=("on",),
    facts=(
        "supplierName",
        "supplierNumber",
        "purchaseOrderNumber",
        "jobNumber",
        "on",
        "dueOn",
        "paidOn",
        "notes",
        "voidReason",
    ),
    tabs={"all": "All", "draft": "Drafts", "approved": "To pay", "paid": "Paid", "void": "Void"},
    skipped_fields=frozenset({"lines", "edits", "total", "allowOverbilling"}),
    first_fields=("supplierId", "supplierNumber", "on", "dueOn", "jobId", "total", "status", "paidOn"),
    page_body="bill.html",
    selection_actions=tuple(map(_make_step_action, BILL_STEPS.values())),
    summed_field="total",
    empty_text="No bills yet. Record one here or from its order.",
    shown_on=(
        RelatedList(JOBS, "jobId", ("total", "status"), can_add=True, is_side=True),
        RelatedList(SUPPLIERS, "supplierId", ("status", "total", "dueOn"), can_add=True),
        RelatedList(ORDERS, "purchaseOrderId", ("total", "status"), is_side=True),
    ),
)


@dataclass(frozen=True)
class BillPages:
    """The pages of suppliers' bills."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        one, new = BILLS.path_of("{id}"), BILLS.new_path
        return [
            *(
                route
                for route in RecordPages(self.office, BILLS_LAYOUT, add_variables=self._page_variables).routes()
                if route.path != new
            ),
            Route("GET", new, self.office.require_sign_in(self.show_form)),
            Route("POST", new, self.office.require_sign_in(self._form.submit)),
            *Form(self.office, find_by_path, self._change_status).routes(f"{one}/become", one),
            *LinePages(
                self.office, BILLS_LAYOUT, update_bill, is_sales=False, stated_fields=("total", "allowOverbilling")
            ).routes(),
        ]

    @property
    def _form(self) -> Form[None]:
        """The form to record a bill."""
        return Form(self.office, self._check_access, self._record, self._render_form)

    async def _check_access(self, request: OfficeRequest, _: PathValues) -> None:
        check_permission(record_bill, request.actor)

    async def show_form(self, request: OfficeRequest, path_values: PathValues) -> Response:
        """Show the form to record a bill. For an order, fill in the lines that are still to be billed or credited."""
        await self._check_access(request, path_values)
        form_fields = self._form_fields(request)
        fields = default_values(form_fields) | query_parameters(request.http_request)
        if order := await self._find_order(request, fields):
            fields |= {"supplierId": order.supplier_id, "jobId": order.job_id or ""}
            fill_in = bill_rows.credit_fields_from_order if _is_credit(request) else bill_rows.fields_from_order
            fields |= fill_in(order.lines or (), request.display)
        return await replace(self._form, fill_in=lambda _request, _subject: fields).open(request, None)

    async def _record(self, form: OpenForm[None]) -> Response:
        """Record the bill, or show the form with more empty lines."""
        request, form_fields = form.request, self._form_fields(form.request)
        if form.button == "more":
            return await self._render_form(form)
        resolved = await ReferenceFields(self.office).resolve_ids(request, form_fields, form.fields)
        bill_input = to_operation_input(form_fields, resolved, request.display) | {
            "lines": [bill_rows.row_to_line(row, request.display) for row in bill_rows.read_bill_rows(form.fields)]
        }
        bill = await self.office.perform(request, record_bill, bill_input)
        return redirect(f"{BILLS.path_of(bill.id)}?done={record_bill.name}")

    async def _change_status(self, form: OpenForm[PathValues]) -> Response:
        """Change the status of a bill with one button: approve it, or mark it as paid."""
        bill_id = form.subject["id"]
        bill_input = {"billId": bill_id, "status": form.fields.get("status", "")}
        await self.office.perform(form.request, update_bill, bill_input, form.version)
        return redirect(f"{BILLS.path_of(bill_id)}?done={update_bill.name}")

    async def _render_form(self, form: OpenForm[None]) -> Response:
        request, fields, order = form.request, form.fields, None
        # An order that does not exist is what the form was refused for.
        with suppress(NotFound):
            order = await self._find_order(request, fields)
        form_fields, field_values = await ReferenceFields(self.office).add_choices(
            request, self._form_fields(request), fields, None
        )
        rates = await self.office.perform(request, list_tax_rates, {"limit": _MAX_RATES})
        typed_rows = bill_rows.read_bill_rows(fields)
        spare_rows = 2 * _SPARE_ROWS if fields.get("do") == "more" else 1 if order and typed_rows else _SPARE_ROWS
        return self.office.render_page(
            "record_bill.html",
            request,
            form.status,
            of=BILLS_LAYOUT,
            order=order,
            credits=_is_credit(request),
            sections=arrange_fields(form_fields, BILLS_LAYOUT.first_fields, field_values, form.faults, request.display),
            fields=defaultdict(str, field_values),
            rows=[*typed_rows, *(bill_rows.blank_row() for _ in range(spare_rows))],
            rates=[(rate.id, rate.name) for rate in rates.data],
            fault_links=order_faults(form_fields, form.faults),
            **form.variables,
        )

    async def _find_order(self, request: OfficeRequest, fields: Mapping[str, str]) -> AnyRecord | None:
        order_id = fields.get("purchaseOrderId", "")
        is_order_id = is_id(order_id, "po")
        return (
            await self.office.perform(request, get_purchase_order, {"purchaseOrderId": order_id})
            if is_order_id
            else None
        )

    def _form_fields(self, request: OfficeRequest) -> Sequence[FormField]:
        form_fields = form_fields_of(record_bill, request.actor.permissions)
        return order_fields([one for one in form_fields if one.name != "lines"], BILLS_LAYOUT.first_fields)

    async def _page_variables(self, request: OfficeRequest, bill: BillOut | None) -> dict[str, Any]:
        """Return what only a bill's page has: a button for its next step, and whether its lines can be edited."""
        if bill is None:
            return {}
        actions = BILLS_LAYOUT.actions_of(self.office, bill)
        step = next_step_of_bill(bill.status)
        if step and update_bill.name in bill.available_actions:
            path = f"{BILLS.path_of(bill.id)}/become"
            actions = [
                Action(step.label, path, is_direct=True, is_next=True, answers={"status": step.status}),
                *actions,
            ]
        return {"actions": actions, "editable": is_bill_editable(bill.status) and request.can_perform(update_bill)}


def _is_credit(request: OfficeRequest) -> bool:
    """Return whether the address asks for a credit note."""
    return "credit" in query_parameters(request.http_request)
