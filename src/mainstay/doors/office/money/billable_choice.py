"""What an invoice bills: one of the choices that there are for a job or a customer, then line by line.

Amounts and lines come from drafts that are made and rolled back, because only drafting knows what can be billed, and
for how much.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mainstay.business.costing.unbilled import list_unbilled
from mainstay.business.customers.operations import get_customer
from mainstay.business.invoices.drafting.operations import draft_invoice
from mainstay.business.invoices.issuing.sending import send_invoice
from mainstay.business.invoices.model import InvoiceOut, due_date_after
from mainstay.business.organisation.settings import get_settings
from mainstay.business.quotes.model import BILLABLE_STATUS, ListedQuoteOut
from mainstay.business.quotes.operations import get_quote, list_quotes
from mainstay.doors.http import Response
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import form_fields_of
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_counted_text, translate_text
from mainstay.doors.pages.rendering import render_template
from mainstay.kernel.catalogue import check_permission
from mainstay.kernel.operation import Operation
from mainstay.values.message import Amount, Message
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, NotFound, Refusal

# The radio buttons of the form: `quote` or `part` with the id of a quote, `work` alone or with the id of a job, `price`
# for the agreed price, `other` for nothing of these, and `apart` with the id of the customer for something without the
# job.
_CHOICE_FIELD = "choice"
# The most accepted quotes, and jobs with unbilled work, that are choices.
_MAX_QUOTES, _MAX_JOBS = 4, 4
# The fields that a choice stands for. They are no fields of their own in the form.
CHOSEN_FIELDS = ("quoteId", "part", "kind", "unbilled")
# The fields that decide what there is to bill, and the hidden fields with the values for which it was listed.
_BASIC_FIELDS = ("jobId", "customerId", "until")
_DECIDING_FIELDS = ("quoteId", *_BASIC_FIELDS, "unbilled")
_LISTED_FIELD, _LISTED_FOR_FIELD = "listed", "listed for"
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
_NO_QUOTE_LINES = Message("Select at least one line of the quote, or invoice something else.")
_NO_SHARE = Message("needs a percentage or an amount")


class BillChoice(NamedTuple):
    """Something that can be billed, as a radio button."""

    value: str
    title: str
    detail: str = ""
    # Without tax, if it is known; and whether less can be billed.
    amount: str | None = None
    is_maximum: bool = False


class TickableLine(NamedTuple):
    """A line that can be billed, with its tick box."""

    # The name of the tick box in the form.
    name: str
    line: AnyRecord
    ticked: bool


@dataclass(frozen=True)
class BillableChoice:
    """The choice of what to bill in the form for a new invoice."""

    office: OfficePages
    layout: RecordLayout

    def routes(self) -> list[Route]:
        """Return the route of what the invoice would be, which is updated while someone chooses."""
        return [Route("POST", self._totals_path, self.office.require_sign_in(self.show_totals))]

    async def form_variables(
        self, request: OfficeRequest, operation: Operation, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the template's variables: the choices with their amounts, and what the invoice would be."""
        if operation is not draft_invoice:
            return {}
        try:
            _, fields = await self._read_draft_input(request, fields)
        except Invalid:
            # Sending the form will show the problem.
            return {"totals": self._totals_path}
        choices = await self._list_choices(request, fields)
        chosen = _find_chosen(choices, fields)
        billed = apply_choice({**fields, _CHOICE_FIELD: chosen} if chosen else fields)
        left = next((one.amount for one in choices if one.value == "work"), None)
        return {
            "sends_next": request.can_perform(send_invoice),
            "totals": self._totals_path,
            "bill_choices": choices,
            "chosen": chosen,
            "left_out": left if chosen.startswith("quote ") else None,
            "adds_work": "unbilled" in billed,
            **await self._draft_variables(request, billed, fields),
        }

    def read_choice(
        self, _request: OfficeRequest, operation: Operation, fields: Mapping[str, str]
    ) -> dict[str, object]:
        """Return what is chosen, and the ticked lines, as input. Raise Conflict if they are of something else."""
        if operation is not draft_invoice:
            return {}
        billed = apply_choice(fields)
        chosen: dict[str, object] = {}
        if fields.get(_CHOICE_FIELD):
            chosen = {
                "quoteId": billed.get("quoteId") or None,
                "jobId": billed.get("jobId") or None,
                "customerId": billed.get("customerId") or None,
                "unbilled": "unbilled" in billed,
            }
            if not _is_part(fields):
                chosen["part"] = None
            elif not _has_share(billed):
                raise Invalid([Fault("part", _NO_SHARE)])
        if _LISTED_FIELD not in fields or not _has_lines_to_choose(billed):
            return chosen
        if fields[_LISTED_FIELD] == _key_of(billed, _DECIDING_FIELDS):
            return chosen | read_ticked_lines(billed)
        # Another choice than the one whose lines were listed: all of it.
        if fields.get(_CHOICE_FIELD) and fields.get(_LISTED_FOR_FIELD) == _key_of(fields, _BASIC_FIELDS):
            return chosen
        raise Conflict(_LIST_CHANGED)

    async def show_totals(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return what the invoice would be."""
        fields = await self.office.read_form(request)
        check_permission(draft_invoice, request.actor)
        resolved = (await self._read_draft_input(request, fields))[1]
        self.read_choice(request, draft_invoice, resolved)
        variables = await self._draft_variables(request, apply_choice(resolved), resolved)
        return render_template("billing.html", here=request.display, **variables)

    async def _draft_variables(
        self, request: OfficeRequest, billed: Mapping[str, str], sent: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the template's variables of the draft: its lines with their ticks, and its total."""
        if not any(billed.get(name, "").strip() for name in ("quoteId", "jobId")) or (
            _is_part(sent) and not _has_share(billed)
        ):
            return {}
        try:
            draft_input, resolved = await self._read_draft_input(request, billed)
            full_draft = await self.office.dry_run(request, draft_invoice, draft_input)
            # A form that was just opened shows whom the invoice is for.
            is_opened = request.http_request.method == "GET" or sent.get("do") == "look"
            known = _describe_draft(full_draft, sent) if is_opened else {}
            resolved, sent = {**resolved, **known}, {**sent, **known}
            if not _has_lines_to_choose(billed):
                warnings = " ".join(full_draft.change_warnings)
                said = {"nothing_to_bill": warnings} if warnings else {}
                due_on = await self._find_due_date(request, full_draft)
                return {"document": full_draft, "due_on": due_on, "known_fields": known, **said}
            listing_key = _key_of(resolved, _DECIDING_FIELDS)
            is_list_current = sent.get(_LISTED_FIELD) == listing_key
            choice = read_ticked_lines(resolved) if is_list_current else {}
            draft = await self.office.dry_run(request, draft_invoice, draft_input | choice) if choice else full_draft
        except (Invalid, NotFound):
            # Sending the form will show the problem.
            return {}
        except Refusal as refusal:
            return {"nothing_to_bill": PageFormat(request.display).render(refusal.message)}
        ticked_names = sent if is_list_current else None
        built = (_build_group(heading, kinds, full_draft, ticked_names) for heading, kinds in _GROUPS)
        groups = [group for group in built if group]
        return {
            "known_fields": known,
            "line_groups": groups,
            "some_unticked": not all(line.ticked for _, lines in groups for line in lines),
            "taken_off": [line for line in draft.lines if _source_kind(line) == "deposit"],
            "listed": {
                _LISTED_FIELD: listing_key,
                _LISTED_FOR_FIELD: _key_of(sent, _BASIC_FIELDS),
                _QUOTE_LINES_FIELD: sum(_source_kind(line) in _QUOTE_SOURCE_KINDS for line in full_draft.lines),
            },
            "document": draft,
            "due_on": await self._find_due_date(request, draft),
        }

    async def _find_due_date(self, request: OfficeRequest, draft: InvoiceOut) -> str | None:
        """Return when the invoice is due if it is sent today and no date is typed, or None if one is."""
        if draft.due_on:
            return None
        customer = await self.office.perform(request, get_customer, {"customerId": draft.customer_id})
        settings = await self.office.perform(request, get_settings)
        today = self.office.today(request)
        return due_date_after(today, customer.payment_terms_days, settings.payment_terms_days).isoformat()

    async def _list_choices(self, request: OfficeRequest, fields: Mapping[str, str]) -> list[BillChoice]:
        """Return what can be billed for the job, quote or customer that is filled in, with the amounts of drafts."""
        quotes = await self._list_quotes(request, fields)
        of_quote = quotes[0] if quotes and not fields.get("jobId") and not fields.get("customerId") else None
        job_id = fields.get("jobId") or (of_quote.job_id if of_quote else None)
        if not job_id and not quotes and not fields.get("customerId"):
            return []
        choices: list[BillChoice] = []
        for quote in quotes:
            draft = await self._try_draft(request, {"quoteId": quote.id})
            choices += _quote_choices(quote, draft, request) if draft else []
        if job_id and (draft := await self._try_draft(request, {"jobId": job_id, "unbilled": True})):
            detail = translate_counted_text(
                "{count} line not invoiced yet", "{count} lines not invoiced yet", len(draft.lines)
            )
            choices.append(BillChoice("work", translate_text("Hours and materials"), detail, draft.net))
        elif not job_id:
            choices += await self._list_unbilled_jobs(request, fields)
        price = await self._try_draft(request, {"jobId": job_id}) if job_id and not quotes else None
        if price:
            choices.append(BillChoice("price", translate_text("The agreed price"), price.title or "", price.net))
        customer_id = price.customer_id if price else of_quote.customer_id if of_quote else None
        other = f"apart {customer_id}" if customer_id else "other"
        return [*choices, BillChoice(other, translate_text("Something else"), translate_text("Start with empty lines"))]

    async def _list_quotes(self, request: OfficeRequest, fields: Mapping[str, str]) -> Sequence[ListedQuoteOut]:
        """Return the accepted quotes that could be billed: the one that is named, or those of the job or customer."""
        if not request.can_perform(list_quotes):
            return []
        try:
            named = {name: fields[name] for name in ("jobId", "customerId") if fields.get(name)}
            if quote_id := fields.get("quoteId") or ("" if named else apply_choice(fields).get("quoteId")):
                return [await self.office.perform(request, get_quote, {"quoteId": quote_id})]
            filters: Mapping[str, object] = {"status": BILLABLE_STATUS, "limit": _MAX_QUOTES, **named}
            return (await self.office.perform(request, list_quotes, filters)).data if named else []
        except (Invalid, NotFound):
            return []

    async def _list_unbilled_jobs(self, request: OfficeRequest, fields: Mapping[str, str]) -> list[BillChoice]:
        """Return the jobs of a customer with hours and materials to bill."""
        if not fields.get("customerId") or not request.can_perform(list_unbilled):
            return []
        filters = {"customerId": fields["customerId"], "limit": _MAX_JOBS}
        page = await self.office.perform(request, list_unbilled, filters)
        drafts = [(job, await self._try_draft(request, {"jobId": job.id, "unbilled": True})) for job in page.data]
        return [
            BillChoice(
                f"work {job.id}",
                translate_text("Hours and materials of {job}", job=job.job_number),
                job.job_title,
                draft.net,
            )
            for job, draft in drafts
            if draft
        ]

    async def _try_draft(self, request: OfficeRequest, draft_input: Mapping[str, object]) -> InvoiceOut | None:
        """Return the draft that this input would make, or None if it is refused or would have no lines."""
        try:
            draft = await self.office.dry_run(request, draft_invoice, draft_input)
        except Refusal:
            return None
        return draft if draft.lines else None

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
        return _drop_empty(draft_input), resolved_fields

    @property
    def _totals_path(self) -> str:
        return f"{self.layout.kind.new_path}/totals"


def apply_choice(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the form with those for which the choice stands."""
    kind, _, record_id = fields.get(_CHOICE_FIELD, "").partition(" ")
    if not kind:
        return dict(fields)
    kept = {
        name: text
        for name, text in fields.items()
        if name != "quoteId"
        and (kind == "part" or not name.startswith("part."))
        and (kind == "quote" or name != "unbilled")
    }
    chosen: dict[str, dict[str, str]] = {
        "quote": {"quoteId": record_id},
        "part": {"quoteId": record_id},
        "work": {"unbilled": "on", **({"jobId": record_id} if record_id else {})},
        "apart": {"jobId": "", "customerId": record_id},
    }
    return kept | chosen.get(kind, {})


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


def _quote_choices(quote: ListedQuoteOut, draft: InvoiceOut, request: OfficeRequest) -> list[BillChoice]:
    """Return the choices to bill the rest of a quote, or a part of it."""
    deducted = [line.description for line in draft.lines if _source_kind(line) == "deposit"]
    is_rest = bool(deducted) or draft.net != quote.net
    rest, whole = Message("The rest of quote {quote}", quote=quote.number), Message("Quote {quote}", quote=quote.number)
    title = rest if is_rest else whole
    accepted = Message("{title}, {amount}", title=quote.title, amount=Amount(quote.net, quote.currency))
    page_format = PageFormat(request.display)
    detail = " · ".join([page_format.render(accepted), *deducted])
    part = Message("Part of quote {quote}", quote=quote.number)
    return [
        BillChoice(f"quote {quote.id}", page_format.render(title), detail, draft.net),
        BillChoice(
            f"part {quote.id}",
            page_format.render(part),
            translate_text("A percentage or an amount"),
            draft.net,
            is_maximum=True,
        ),
    ]


def _find_chosen(choices: Sequence[BillChoice], fields: Mapping[str, str]) -> str:
    """Return the choice that is sent, or that fits the fields of the address, or else the first."""
    values = [choice.value for choice in choices]
    if fields.get(_CHOICE_FIELD) in values:
        return fields[_CHOICE_FIELD]
    quote_id = fields.get("quoteId", "").partition(" ")[0]
    wanted = ("part " if _has_share(fields) else "quote ") + quote_id if quote_id else ""
    if not wanted and "unbilled" in fields:
        wanted = "work"
    return (wanted if wanted in values else "") if wanted else next(iter(values), "")


def _describe_draft(draft: InvoiceOut, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the form that are still empty, filled in from the draft."""
    known = {"customerId": draft.customer_id, "jobId": draft.job_id, "siteId": draft.site_id, "title": draft.title}
    return {name: value for name, value in known.items() if value and not fields.get(name)}


def _is_part(fields: Mapping[str, str]) -> bool:
    return fields.get(_CHOICE_FIELD, "").startswith("part ")


def _has_share(fields: Mapping[str, str]) -> bool:
    return any(text.strip() for name, text in fields.items() if name.startswith("part."))


def _has_lines_to_choose(fields: Mapping[str, str]) -> bool:
    """Return whether there are lines to choose from: of a quote, or of unbilled work. A share of a quote has none."""
    return not _has_share(fields) and bool(fields.get("quoteId", "").strip() or "unbilled" in fields)


def _key_of(fields: Mapping[str, str], names: Sequence[str]) -> str:
    return " ".join(f"{name}={fields[name]}" for name in names if fields.get(name, "").strip())


def _drop_empty(draft_input: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in draft_input.items() if value is not None}


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
