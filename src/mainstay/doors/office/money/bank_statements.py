"""Record payments from a bank statement: upload a file, check which invoices each row seems to pay, tick and record."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from mainstay.business.invoices.drafting.operations import get_invoice
from mainstay.business.invoices.model import InvoiceOut
from mainstay.business.invoices.payments.bank_file import IncomingPayment, UnreadableStatement, read_incoming_payments
from mainstay.business.invoices.payments.bank_statement import MAX_ENTRIES, Suggestion, find_paid_invoices
from mainstay.business.invoices.payments.payment import PAYMENTS, share_out
from mainstay.business.invoices.payments.recording import record_payment
from mainstay.business.organisation.operations import get_organisation
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues
from mainstay.doors.office.kit.office_pages import RESTORED_NOTICE, OfficePages, OfficeRequest
from mainstay.doors.office.money.invoices import PAYMENTS_LAYOUT
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.uploads import UploadedFile, UploadLimit
from mainstay.infrastructure.tables import MAX_BYTES, UnreadableTable
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.values.money import parse_price
from mainstay.vocabulary.refusal import Conflict, Invalid, NotFound, Refusal

PATH = f"{PAYMENTS.path}/statement"
# A row of the form, as it is displayed and as it was sent.
StatementRow = dict[str, Any]
# The form field of each value of a row.
_FORM_NAMES = {"on": "on", "amount": "amount", "text": "text", "external_ref": "ref", "numbers": "invoices"}
_TICK_FIELD, _PROBLEM_FIELD = "record", "problem"
# The most characters of the customer's text that are stored with a payment.
_MAX_REFERENCE_LENGTH = 200


@dataclass(frozen=True)
class BankStatementPages:
    """The pages to upload a bank statement and to record its payments."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", PATH, signed_in(self.show_form)),
            Route("POST", PATH, signed_in(self.match_statement)),
            *Form(self.office, self._check_access, self._record_payments).routes(f"{PATH}/record", PATH),
        ]

    async def show_form(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the form for the file, or the rows that were typed before the session ended."""
        check_permission(record_payment, request.actor)
        rows = _read_rows(request.restored_fields)
        return (
            await self._render_rows(request, 200, rows, notice=RESTORED_NOTICE) if rows else self._render_page(request)
        )

    async def match_statement(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show the incoming payments of a file, and what each seems to pay. Nothing is recorded yet."""
        check_permission(record_payment, request.actor)
        await self.office.read_form_with_files(request, {"file": UploadLimit(MAX_BYTES)})
        files = request.uploaded_files.get("file", [])
        if not files:
            return self._render_page(request, 422, problem=_render(request, Message("Choose a file from your bank.")))
        await self.office.count_upload(request, "statements")
        organisation = await self.office.perform(request, get_organisation)
        try:
            incoming, omitted = await self.office.visitors.runner.run_content_work(
                request.actor.organisation,
                self._read_entries,
                files[0],
                organisation.country,
                organisation.currency,
            )
        except (UnreadableTable, UnreadableStatement) as error:
            return self._render_page(request, 422, problem=_render(request, error.args[0]))
        if not incoming:
            nothing = _render(request, Message("The file has no incoming payments."))
            return self._render_page(request, 422, problem=f"{nothing} {_describe_omitted(request, omitted)}")
        entries = incoming[:MAX_ENTRIES]
        return self._render_page(
            request,
            rows=await self._match_entries(request, entries),
            currency=organisation.currency,
            left_out=len(incoming) - len(entries),
            not_listed=_describe_omitted(request, omitted),
        )

    async def _match_entries(self, request: OfficeRequest, entries: list[IncomingPayment]) -> list[StatementRow]:
        """Return a row for each entry, with what it seems to pay or with the problem that stops it."""
        readable = [{"on": one.on, "amount": one.amount, "text": one.text} for one in entries if not one.problem]
        answer = await self.office.perform(request, find_paid_invoices, {"entries": readable})
        suggestions = iter(answer.suggestions)
        return [
            {**one._asdict(), "problem": _render(request, one.problem)}
            if one.problem
            else _suggestion_to_row(next(suggestions))
            for one in entries
        ]

    async def _check_access(self, request: OfficeRequest, _: PathValues) -> None:
        check_permission(record_payment, request.actor)

    async def _record_payments(self, form: OpenForm[None]) -> Response:
        """Record the ticked rows. Show the refused ones again with the reason, and those that were not ticked."""
        # If the form is sent twice, each row is still recorded once, because of the reference of the bank's entry.
        request, rows = replace(form.request, once_token=None), _read_rows(form.fields)
        if not any(row["ticked"] for row in rows):
            request_to_select = _render(request, Message("Select at least one entry to record."))
            return await self._render_rows(request, 422, rows, problem=request_to_select)
        results = [await self._record_row(request, row) if row["ticked"] else row for row in rows]
        remaining = [row for row in results if "payment" not in row]
        notice = Message("Some payments could not be recorded. The reason is shown beside each.")
        problem = _render(request, notice) if _has_faults(remaining) else None
        recorded = [row for row in results if "payment" in row]
        return await self._render_rows(request, 200, remaining, recorded=recorded, problem=problem)

    async def _render_rows(
        self, request: OfficeRequest, status: int, rows: list[StatementRow], **variables: Any
    ) -> Response:
        """Show the rows as they were sent, or the form for the file if there are none."""
        if rows:
            organisation = await self.office.perform(request, get_organisation)
            variables |= {"rows": rows, "currency": organisation.currency, "left_out": 0, "not_listed": ""}
        return self._render_page(request, status, **variables)

    async def _record_row(self, request: OfficeRequest, row: StatementRow) -> StatementRow:
        try:
            payment = await self.office.perform(request, record_payment, await self._build_payment(request, row))
        except Refusal as refusal:
            return {**row, "fault": _describe_refusal(request, refusal)}
        return {**row, "payment": payment}

    async def _build_payment(self, request: OfficeRequest, row: StatementRow) -> dict[str, object]:
        """Return the input of `record_payment`. The invoices are paid in the order of their numbers in the row."""
        _parse_amount(row["amount"])
        # A number that is typed twice counts once.
        numbers = dict.fromkeys(filter(None, re.split(r"[\s,;]+", row["numbers"])))
        if not numbers:
            raise Conflict(Message("Enter an invoice number, or untick this entry."))
        if not row["on"]:
            # Without a date, the operation would take today.
            raise Conflict(Message("The date is missing."))
        invoices = [await self._find_invoice(request, number) for number in numbers]
        allocation: dict[str, object] = {"invoiceId": invoices[0].id}
        if len(invoices) > 1:
            shares = share_out(_parse_amount(row["amount"]), [Decimal(one.due) for one in invoices])
            allocations = [
                {"invoiceId": one.id, "amount": str(share)} for one, share in zip(invoices, shares, strict=True)
            ]
            allocation = {"customerId": invoices[0].customer_id, "allocations": allocations}
        reference = row["text"][:_MAX_REFERENCE_LENGTH].strip() or None
        details = {"on": row["on"], "amount": row["amount"], "reference": reference, "externalRef": row["external_ref"]}
        return {**details, **allocation, "method": "bank"}

    async def _find_invoice(self, request: OfficeRequest, number: str) -> InvoiceOut:
        try:
            return await self.office.perform(request, get_invoice, {"invoiceId": number})
        except (NotFound, Invalid):
            raise Conflict(Message("Invoice {number} was not found.", number=number)) from None

    def _read_entries(self, file: UploadedFile, country: str, currency: str) -> tuple[list[IncomingPayment], int]:
        """Return the incoming payments, and the number of all other rows."""
        table = self.office.visitors.content_reader.read_table(file.path)
        entries = read_incoming_payments(table.headings, table.rows, country, currency)
        return entries, len(table.rows) - len(entries)

    def _render_page(self, request: OfficeRequest, status: int = 200, **variables: Any) -> Response:
        variables = {"rows": (), "recorded": (), **variables}
        return self.office.render_page("statement.html", request, status, of=PAYMENTS_LAYOUT, path=PATH, **variables)


def _render(request: OfficeRequest, message: Message | str) -> str:
    return PageFormat(request.display).render(message)


def _describe_omitted(request: OfficeRequest, rows: int) -> str:
    """Say how many rows are not listed, and why."""
    message = Message(
        "{count} row is not listed because it is an outgoing payment or has no amount.",
        plural="{count} rows are not listed because they are outgoing payments or have no amount.",
        count=rows,
    )
    return _render(request, message) if rows else ""


def _read_rows(fields: Mapping[str, str]) -> list[StatementRow]:
    """Return the rows of a form in order. Rows recorded before have no field for invoices and are left out."""
    name_parts = (name.partition(" ") for name in fields)
    row_marks = {_TICK_FIELD, _PROBLEM_FIELD, _FORM_NAMES["numbers"]}
    row_keys = dict.fromkeys(row_key for field, _, row_key in name_parts if row_key and field in row_marks)
    return [_read_row(fields, row_key) for row_key in row_keys]


def _read_row(fields: Mapping[str, str], row_key: str) -> StatementRow:
    row: StatementRow = {name: fields.get(f"{form_name} {row_key}", "") for name, form_name in _FORM_NAMES.items()}
    state: StatementRow = {"payment_id": None, "why": None, "fault": None, "readable": _is_price(row["amount"])}
    if problem := fields.get(f"{_PROBLEM_FIELD} {row_key}"):
        # It cannot be recorded. It is shown again so that the person can deal with it.
        return row | state | {"problem": problem, "ticked": False}
    return row | state | {"ticked": f"{_TICK_FIELD} {row_key}" in fields}


def _has_faults(rows: list[StatementRow]) -> bool:
    return any(row["fault"] for row in rows)


def _is_price(text: str) -> bool:
    try:
        parse_price(text)
    except ValueError:
        return False
    return True


def _parse_amount(amount: str) -> Decimal:
    """Return the amount of a payment. Raise Conflict if it cannot be read or is not positive."""
    try:
        price = parse_price(amount)
    except ValueError:
        raise Conflict(Message("The amount could not be read.")) from None
    if price <= 0:
        raise Conflict(Message("The amount must be more than zero."))
    return Decimal(amount)


def _describe_refusal(request: OfficeRequest, refusal: Refusal) -> str:
    """Return why a row was refused. The bank's reference is named in words, because people do not see its field."""
    reference_faults = (
        [fault for fault in refusal.faults if fault.field == "externalRef"] if isinstance(refusal, Invalid) else []
    )
    if reference_faults:
        return _render(request, Message("The bank's entry {problem}.", problem=reference_faults[0].problem))
    return _render(request, refusal.message)


def _suggestion_to_row(suggestion: Suggestion) -> StatementRow:
    numbers = " ".join(one.invoice_number or "" for one in suggestion.allocations)
    is_sure = suggestion.why in {"number and amount", "name and amount"}
    state = {"numbers": numbers, "ticked": is_sure and not suggestion.payment_id, "fault": None, "readable": True}
    return {**vars(suggestion), **state}
