"""Choose line by line what an invoice bills: lines of a quote, hours and materials.

The list comes from a draft that is made and rolled back, because only drafting knows what can be billed, and for how
much.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import render_template
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.operation import Operation
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict, Invalid, NotFound, Refusal

# The fields that decide what there is to bill, and the hidden field with the values for which it was listed.
_DECIDING_FIELDS = ("quoteId", "jobId", "customerId", "unbilled", "until")
_LISTED_FIELD = "listed"
# The hidden field with the number of listed quote lines. If all are ticked, the whole quote is billed.
_QUOTE_LINES_FIELD = "quoted"
_TICK_PREFIX = "bill "
# The kinds of sources of a quote's lines.
_QUOTE_SOURCE_KINDS = ("quoteLine",)
# The headings of the list, each with the kinds of sources of the lines below it.
_GROUPS = (
    (Message("From the quote"), _QUOTE_SOURCE_KINDS),
    (Message("Hours"), ("timeEntry",)),
    (Message("Materials"), ("orderLine", "billLine")),
)
_LIST_CHANGED = Message("The list of what can be invoiced has changed. Check it, then create the invoice.")
_NO_QUOTE_LINES = Message("Select at least one line of the quote, or remove the quote.")


class TickableLine(NamedTuple):
    """A line that can be billed, with its tick box."""

    # The name of the tick box in the form.
    name: str
    line: AnyRecord
    ticked: bool


@dataclass(frozen=True)
class BillableChoice:
    """The list of billable lines in the form for a new invoice."""

    office: OfficePages
    layout: RecordLayout

    def routes(self) -> list[Route]:
        """Return the route of the total, which is updated as lines are ticked."""
        return [Route("POST", self._totals_path, self.office.require_sign_in(self.show_totals))]

    async def form_variables(
        self, request: OfficeRequest, operation: Operation, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the template's variables: what can be billed, and its total. At first, all of it is ticked."""
        if operation is not draft_invoice:
            return {}
        if not _has_lines_to_choose(fields):
            return await self._fixed_price_variables(request, fields)
        try:
            draft_input, resolved_fields = await self._read_draft_input(request, fields)
            full_draft = await self.office.dry_run(request, draft_invoice, draft_input)
            listing_key = _listing_key(resolved_fields)
            is_list_current = fields.get(_LISTED_FIELD) == listing_key
            choice = read_ticked_lines(resolved_fields) if is_list_current else {}
            draft = await self.office.dry_run(request, draft_invoice, draft_input | choice) if choice else full_draft
        except (Invalid, NotFound):
            # Sending the form will show the problem.
            return {}
        except Refusal as refusal:
            return {"nothing_to_bill": PageFormat(request.display).render(refusal.message)}
        ticked_names = fields if is_list_current else None
        return {
            "totals": self._totals_path,
            "line_groups": [
                group for heading, kinds in _GROUPS if (group := _build_group(heading, kinds, full_draft, ticked_names))
            ],
            "taken_off": [line for line in draft.lines if _source_kind(line) == "deposit"],
            "listed": {
                _LISTED_FIELD: listing_key,
                _QUOTE_LINES_FIELD: sum(_source_kind(line) in _QUOTE_SOURCE_KINDS for line in full_draft.lines),
            },
            "document": draft,
        }

    def read_choice(
        self, _request: OfficeRequest, operation: Operation, fields: Mapping[str, str]
    ) -> dict[str, object]:
        """Return the ticked lines as input. Raise Conflict if the list was made for other values of the fields."""
        if operation is not draft_invoice or _LISTED_FIELD not in fields or not _has_lines_to_choose(fields):
            return {}
        if fields[_LISTED_FIELD] != _listing_key(fields):
            raise Conflict(_LIST_CHANGED)
        return read_ticked_lines(fields)

    async def show_totals(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return the total of the ticked lines."""
        fields = await self.office.read_form(request)
        check_permission(draft_invoice, request.actor)
        draft_input, resolved_fields = await self._read_draft_input(request, fields)
        choice = self.read_choice(request, draft_invoice, resolved_fields)
        return render_template(
            "sums.html",
            document=await self.office.dry_run(request, draft_invoice, draft_input | choice),
            here=request.display,
        )

    async def _fixed_price_variables(self, request: OfficeRequest, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return the template's variables if only a job is named: its fixed price, or why nothing is billed."""
        if not fields.get("jobId", "").strip():
            return {}
        try:
            draft_input, _ = await self._read_draft_input(request, fields)
            draft = await self.office.dry_run(request, draft_invoice, draft_input)
        except Refusal:
            # Sending the form will show the problem.
            return {}
        warnings = " ".join(draft.change_warnings)
        return {"agreed": draft.lines, "document": draft, **({"nothing_to_bill": warnings} if warnings else {})}

    async def _read_draft_input(
        self, request: OfficeRequest, fields: Mapping[str, str]
    ) -> tuple[dict[str, object], dict[str, str]]:
        """Return the input that the fields give, and the fields with ids instead of typed records."""
        form_fields = [
            form_field
            for form_field in form_fields_of(draft_invoice, request.actor.permissions)
            if form_field.name not in self.layout.skipped_fields
        ]
        draft_input, resolved_fields = await ReferenceFields(self.office).read_input(request, form_fields, fields)
        return {name: value for name, value in draft_input.items() if value is not None}, resolved_fields

    @property
    def _totals_path(self) -> str:
        return f"{self.layout.kind.new_path}/totals"


def read_ticked_lines(fields: Mapping[str, str]) -> dict[str, object]:
    """Return the ticked lines as input for the draft. Raise Conflict if a quote is named and no line of it ticked."""
    ticked = [name.removeprefix(_TICK_PREFIX).partition(" ")[::2] for name in fields if name.startswith(_TICK_PREFIX)]
    quote_line_ids = [source_id for kind, source_id in ticked if kind in _QUOTE_SOURCE_KINDS]
    work_ids = [source_id for kind, source_id in ticked if kind not in _QUOTE_SOURCE_KINDS]
    choice: dict[str, object] = {"unbilled": False, "sources": work_ids or None}
    if fields.get("quoteId", "").strip():
        if not quote_line_ids:
            raise Conflict(_NO_QUOTE_LINES)
        is_whole_quote = str(len(quote_line_ids)) == fields.get(_QUOTE_LINES_FIELD)
        choice["quoteLines"] = None if is_whole_quote else quote_line_ids
    return choice


def _has_lines_to_choose(fields: Mapping[str, str]) -> bool:
    """Return whether there are lines to choose from: of a quote, or of unbilled work. A share of a quote has none."""
    in_part = any(text.strip() for name, text in fields.items() if name.startswith("part."))
    return not in_part and bool(fields.get("quoteId", "").strip() or "unbilled" in fields)


def _listing_key(fields: Mapping[str, str]) -> str:
    return " ".join(f"{name}={fields[name]}" for name in _DECIDING_FIELDS if fields.get(name, "").strip())


def _source_kind(line: AnyRecord) -> str:
    return str(line.source.kind) if line.source else ""


def _build_group(
    heading: Message, kinds: tuple[str, ...], draft: AnyRecord, ticked_names: Mapping[str, str] | None
) -> tuple[Message, list[TickableLine]] | None:
    """Return a heading with its lines, or None if there are none. If no names are given, all lines are ticked."""
    lines = [line for line in draft.lines if _source_kind(line) in kinds]
    names = [f"{_TICK_PREFIX}{_source_kind(line)} {line.source.id}" for line in lines]
    tickable_lines = [
        TickableLine(name, line, ticked_names is None or name in ticked_names)
        for name, line in zip(names, lines, strict=True)
    ]
    return (heading, tickable_lines) if tickable_lines else None
