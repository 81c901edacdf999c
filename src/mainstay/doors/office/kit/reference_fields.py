"""Form fields that refer to records: picked from a list if there are few, typed and searched if there are many."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any, get_args

from mainstay.business.customers.operations import create_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.customers.store import CONTACTS, CUSTOMERS, SITES
from mainstay.business.jobs.operations import create_job
from mainstay.business.jobs.store import JOBS
from mainstay.business.pricelist.store import SUPPLIERS
from mainstay.business.pricelist.suppliers import save_supplier
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.pages.display import DisplaySettings
from mainstay.doors.pages.form_fields import Choices, FormField, NewRecordLink, to_operation_input
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.ids import is_id
from mainstay.values.message import Amount, CalendarDate, Message, message_of
from mainstay.values.search_words import MAX_TEXT_LENGTH, MAX_WORDS
from mainstay.vocabulary.refusal import Fault, Invalid, NotFound
from mainstay.vocabulary.typed_records import RecordFields

# A record of any kind, as its output model.
AnyRecord = Any
# What a field refers to: the id prefix of the kind of record, and the status that it must have.
ReferenceTarget = tuple[str, str | None]

_NOT_FOUND = Message("was not found. Check the spelling, or type more of it")
# The most records in a pick list, and the size of a page. If there are more, the field is typed.
_MAX_LISTED = 100
# The most records in a list of tick boxes. If there are more, the field is left out.
_MAX_TICKED = 1000
_MULTIPLE_KIND = "references"
_MAX_NAMED = 4
# The field by which other choices are limited to one customer.
_CUSTOMER_FIELD = "customerId"
# The kinds of records that can be added while a form refers to them.
_ADDED_IN_PLACE: Mapping[str, tuple[Operation, NewRecordLink]] = {
    "customer": (create_customer, NewRecordLink(CUSTOMERS.new_path, "New customer", "name")),
    "site": (save_site, NewRecordLink(SITES.new_path, "New site", "name")),
    "contact": (save_contact, NewRecordLink(CONTACTS.new_path, "New contact", "name")),
    "job": (create_job, NewRecordLink(JOBS.new_path, "New job", "title")),
    "supplier": (save_supplier, NewRecordLink(SUPPLIERS.new_path, "New supplier", "name")),
}
# Separates the title of a record from its details in a pick list.
_SEPARATOR = " · "
_NO_FILTERS: Mapping[str, str] = MappingProxyType({})
# Shown instead of a record that the viewer may not see.
_NOT_SHOWN = "(no access)"
# Shown for an id that has no page: a series of visits.
_NAMELESS = "this series"


@dataclass(frozen=True)
class ReferenceFields:
    """Finds the records for form fields that the person may see."""

    office: OfficePages

    async def add_choices(
        self,
        request: OfficeRequest,
        form_fields: Sequence[FormField],
        fields: Mapping[str, str],
        record: AnyRecord | None,
    ) -> tuple[list[FormField], dict[str, str]]:
        """Return the form fields with their choices, and the typed fields with titles instead of ids."""
        fields = restore_ids(form_fields, fields)
        form_fields = [_add_new_record_link(request, field) for field in form_fields]
        return await self._show_titles(request, form_fields, fields, _customer_of(fields, record))

    async def add_filter_choices(
        self, request: OfficeRequest, form_fields: Sequence[FormField], parameters: Mapping[str, str]
    ) -> tuple[list[FormField], dict[str, str]]:
        """Return the filters of a list with their choices, and their values with titles instead of ids."""
        return await self._show_titles(request, form_fields, parameters, "")

    async def resolve_ids(
        self, request: OfficeRequest, form_fields: Sequence[FormField], fields: Mapping[str, str]
    ) -> dict[str, str]:
        """Replace typed records by their ids. Raise Invalid for those that match no record or several."""
        resolved_fields, faults = restore_ids(form_fields, fields), []
        resolved_fields |= {
            field.name: request.display.parse_date(resolved_fields[field.name])
            for field in _date_fields(form_fields, resolved_fields)
        }
        # The customer first, because it limits the other records.
        for field in sorted(_walk_fields(form_fields), key=lambda field: field.name != _CUSTOMER_FIELD):
            typed = resolved_fields.get(field.name, "").strip()
            if field.refers_to and field.kind == "reference" and typed and not is_id(typed, field.refers_to):
                filters = _status_filter(field.status) | _customer_filter(resolved_fields.get(_CUSTOMER_FIELD, ""))
                try:
                    resolved_fields[field.name] = await self.find_record(request, field.refers_to, typed, filters)
                except ValueError as problem:
                    page_format = PageFormat(request.display)
                    faults.append(Fault(field.name, page_format.render_problem(message_of(problem))))
        if faults:
            raise Invalid(faults)
        return resolved_fields

    async def read_input(
        self,
        request: OfficeRequest,
        form_fields: Sequence[FormField],
        fields: Mapping[str, str],
        record: AnyRecord | None = None,
    ) -> tuple[dict[str, object], dict[str, str]]:
        """Return the input for an operation, and the typed fields with ids instead of titles."""
        fields = restore_ids(form_fields, fields)
        with_choices = await self._add_choices(request, form_fields, fields, _customer_of(fields, record))
        resolved = await self.resolve_ids(request, with_choices, fields)
        return to_operation_input(with_choices, resolved, request.display), resolved

    async def _show_titles(
        self, request: OfficeRequest, form_fields: Sequence[FormField], fields: Mapping[str, str], customer_id: str
    ) -> tuple[list[FormField], dict[str, str]]:
        with_choices, titled = await self._add_choices(request, form_fields, fields, customer_id), dict(fields)
        for field in _walk_fields(with_choices):
            if field.kind == "reference" and not field.choices:
                titled |= await self._to_title_fields(request, field, fields.get(field.name, ""))
        return [field.with_examples(request.display) for field in with_choices], titled | _format_dates(
            with_choices, fields, request.display
        )

    async def _add_choices(
        self, request: OfficeRequest, form_fields: Sequence[FormField], fields: Mapping[str, str], customer_id: str
    ) -> list[FormField]:
        """Return the form fields with their choices, including the current values."""
        list_operation = await self._list_choices(request, form_fields, customer_id)
        return _set_choices(
            form_fields, list_operation, await self._current_choices(request, form_fields, list_operation, fields)
        )

    async def _list_choices(
        self, request: OfficeRequest, form_fields: Sequence[FormField], customer_id: str
    ) -> dict[ReferenceTarget, Choices]:
        """Return the choices for each kind of record and status that the form fields refer to."""
        limits: dict[ReferenceTarget, int] = {}
        for field in _walk_fields(form_fields):
            if field.refers_to:
                target = field.refers_to, field.status
                limits[target] = max(
                    limits.get(target, 0), _MAX_TICKED if field.kind == _MULTIPLE_KIND else _MAX_LISTED
                )
        return {target: await self._fetch_choices(request, target, customer_id, limits[target]) for target in limits}

    async def _fetch_choices(
        self, request: OfficeRequest, target: ReferenceTarget, customer_id: str, limit: int
    ) -> Choices:
        """Return all records to pick from, if they are few: people, one customer's records, unsearchable kinds."""
        kind, status = target
        list_operation = self.office.catalogue.list_operations.get(kind)
        if list_operation is None or not request.can_perform(list_operation):
            return ()
        fields = list_operation.input.model_fields
        of_customer = _customer_filter(customer_id) if "customer_id" in fields else {}
        if kind != "person" and not of_customer and "text" in fields:
            return ()
        orders = get_args(fields["order"].annotation) if "order" in fields else ()
        # Only records with a status, such as unpaid invoices, are sorted by due date.
        order = "due" if status and "due" in orders else "name" if "name" in orders else None
        list_input = {
            "limit": _MAX_LISTED,
            **_status_filter(status),
            **({"order": order} if order else {}),
            **of_customer,
        }
        records: list[AnyRecord] = []
        while len(records) < limit:
            page = await self.office.perform(request, list_operation, list_input)
            records += page.data
            if not page.has_more:
                return [(record.id, _choice_label(record, status, request.display)) for record in records]
            list_input |= {"startingAfter": records[-1].id}
        return ()

    async def _current_choices(
        self,
        request: OfficeRequest,
        form_fields: Sequence[FormField],
        list_operation: Mapping[ReferenceTarget, Choices],
        fields: Mapping[str, str],
    ) -> dict[str, Choices]:
        """Return the current values that are no longer in the lists: people who left, archived records."""
        current: dict[str, Choices] = {}
        for field in _walk_fields(form_fields):
            if field.refers_to and (
                listed_ids := {record for record, _ in list_operation[field.refers_to, field.status]}
            ):
                record_ids = [
                    record for record in _chosen_ids(field, field.refers_to, fields) if record not in listed_ids
                ]
                current[field.name] = [
                    (record, await self._fetch_title(request, field.refers_to, record)) for record in record_ids
                ]
        return current

    async def find_record(
        self, request: OfficeRequest, kind: str, typed: str, filters: Mapping[str, str] = _NO_FILTERS
    ) -> str:
        """Return the id of the record that was typed, with or without its details. Raise ValueError if none is clear.

        If no record matches within the filters, the search is repeated without them: the operation can explain best why
        that record is not possible.
        """
        hits = await self._search_records(request, kind, typed, filters)
        return _choose_match([hit for hit in hits if _is_called(hit, typed)] or hits)

    async def find_named(self, request: OfficeRequest, kind: str, typed: str) -> str | None:
        """Return the id of the record that is called exactly so, or None. Raise ValueError if there are several."""
        try:
            hits = await self._search_records(request, kind, typed)
        except ValueError:
            return None
        named = [hit for hit in hits if _is_called(hit, typed)]
        return _choose_match(named) if named else None

    async def _search_records(
        self, request: OfficeRequest, kind: str, typed: str, filters: Mapping[str, str] = _NO_FILTERS
    ) -> Sequence[AnyRecord]:
        list_operation = self.office.catalogue.list_operations.get(kind)
        words = typed.partition(_SEPARATOR)[0].split()[:MAX_WORDS]
        if list_operation is None or not request.can_perform(list_operation) or not words:
            raise ValueError(_NOT_FOUND)
        search = {"limit": _MAX_LISTED, "text": " ".join(words)[:MAX_TEXT_LENGTH].strip()}
        allowed = {name: value for name, value in filters.items() if name in _input_names(list_operation)}
        try:
            page = await self.office.perform(request, list_operation, search | allowed)
            if allowed and not page.data:
                page = await self.office.perform(request, list_operation, search)
        except Invalid:
            raise ValueError(_NOT_FOUND) from None
        hits: Sequence[AnyRecord] = page.data
        return hits

    async def _to_title_fields(self, request: OfficeRequest, field: FormField, text: str) -> dict[str, str]:
        """Return the title of a record with the hidden field of its id. Text that is no id stays as typed."""
        if not field.refers_to or not is_id(text, field.refers_to):
            return {field.name: text}
        title = await self._fetch_title(request, field.refers_to, text)
        return {field.name: title, field.hidden_name: f"{text} {title}"}

    async def _fetch_title(self, request: OfficeRequest, kind: str, record_id: str) -> str:
        """Return the title of a record by its id."""
        get_operation = self.office.catalogue.get_operations.get(kind)
        if get_operation is None:
            return _NAMELESS
        if not request.can_perform(get_operation):
            return _NOT_SHOWN
        try:
            return record_title_of(await self.office.get_record(request, record_id))
        except NotFound:
            return _NOT_SHOWN


def _is_called(record: AnyRecord, typed: str) -> bool:
    """Return whether a typed text is the title of a record, with or without its details, its name or its code."""
    fields = RecordFields(record)
    names = (record_title_of(record), _title_with_detail(record), fields.get("name"), fields.get("code"))
    return typed.casefold() in (name.casefold() for name in names if name)


def _choose_match(records: Sequence[AnyRecord]) -> str:
    """Return the id of the only record. Raise ValueError if there is none, or if there are several."""
    if len(records) == 1:
        return str(records[0].id)
    if not records:
        raise ValueError(_NOT_FOUND)
    names = "; ".join(map(_title_with_detail, records[:_MAX_NAMED]))
    if len(records) > _MAX_NAMED:
        raise ValueError(Message("could be one of several: {names} and more. Type more of it", names=names))
    raise ValueError(Message("could be one of several: {names}. Type more of it", names=names))


def _add_new_record_link(request: OfficeRequest, field: FormField) -> FormField:
    """Return a field with the link that adds a record to which it could refer, if the person may add one."""
    operation, link = _ADDED_IN_PLACE.get(field.refers_to or "", (None, None))
    is_possible = operation and field.kind == "reference" and field.status is None and request.can_perform(operation)
    return replace(field, new_record=link) if is_possible else field


def _format_dates(
    form_fields: Sequence[FormField], fields: Mapping[str, str], display: DisplaySettings
) -> dict[str, str]:
    """Return the dates among the fields of a form, formatted as people type them."""
    dates = {
        field.name: display.date_to_field(display.parse_date(fields[field.name]))
        for field in _date_fields(form_fields, fields)
    }
    timed = (field for field in _walk_fields(form_fields) if field.kind == "wall" and fields.get(field.name))
    return dates | {field.name: display.time_to_field(display.parse_time(fields[field.name])) for field in timed}


def _date_fields(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> list[FormField]:
    return [field for field in _walk_fields(form_fields) if field.kind == "date" and fields.get(field.name)]


def restore_ids(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> dict[str, str]:
    """Replace each record's title by its id if the title is unchanged since the form was shown.

    The title alone is not enough: another record may have the same one, or the record may be archived by now.
    """
    restored = dict(fields)
    for field in _walk_fields(form_fields):
        record, _, title = restored.pop(field.hidden_name, "").partition(" ")
        if field.refers_to and is_id(record, field.refers_to) and restored.get(field.name, "").strip() == title.strip():
            restored[field.name] = record
    return restored


def choose_only_site(form_fields: Sequence[FormField], fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a form for a new record, with the customer's site if they have only one."""
    only_sites = {
        field.name: field.choices[0][0]
        for field in form_fields
        if field.refers_to == SITES.prefix and len(field.choices) == 1 and not fields.get(field.name)
    }
    return {**fields, **only_sites}


def _customer_of(fields: Mapping[str, str], record: AnyRecord | None) -> str:
    """Return the customer that limits the choices: the one that is filled in, or that of the record."""
    return str(fields.get(_CUSTOMER_FIELD) or (RecordFields(record).get(_CUSTOMER_FIELD) if record else "") or "")


def _set_choices(
    form_fields: Sequence[FormField], list_operation: Mapping[ReferenceTarget, Choices], current: Mapping[str, Choices]
) -> list[FormField]:
    """Add choices to form fields. A field for several records is left out if it has no choices."""
    completed = []
    for field in form_fields:
        choices = list_operation.get((field.refers_to or "", field.status), ())
        if field.kind == _MULTIPLE_KIND and not choices:
            continue
        if field.kind != _MULTIPLE_KIND and len(choices) > _MAX_LISTED:
            choices = ()
        if choices:
            choices = [*choices, *current[field.name]]
        rows = tuple(tuple(_set_choices(row, list_operation, current)) for row in field.rows)
        completed.append(replace(field, choices=choices or field.choices, rows=rows))
    return completed


def _chosen_ids(field: FormField, kind: str, fields: Mapping[str, str]) -> list[str]:
    """Return the ids in a field: the ticked ones if it holds several."""
    if field.kind == _MULTIPLE_KIND:
        ticked = (name.removeprefix(f"{field.name} ") for name in fields if name.startswith(f"{field.name} "))
        return [record for record in ticked if is_id(record, kind)][:_MAX_LISTED]
    text = fields.get(field.name, "")
    return [text] if is_id(text, kind) else []


def record_title_of(record: AnyRecord) -> str:
    """Return the title of a record."""
    fields = RecordFields(record)
    parts = [fields.get("number") or fields.get("code"), fields.get("title") or fields.get("name")]
    if not parts[1]:
        # Purchase records are titled by their supplier.
        parts = [fields.get("supplierName"), fields.get("supplierNumber") or parts[0]]
    return " ".join(str(part) for part in parts if part) or str(fields.get("customerName") or record.id)


def detail_of(record: AnyRecord, display: DisplaySettings) -> str:
    """Return the customer of a record, the amount to be paid with its due date, and its price, if there are any."""
    fields = RecordFields(record)
    details = (fields.get("customerName"), _format_due(record, display), _format_price(fields, display))
    return _SEPARATOR.join(filter(None, details))


def _title_with_detail(record: AnyRecord) -> str:
    """Return the title of a record with a detail that distinguishes it from others with the same title."""
    fields = RecordFields(record)
    detail = fields.get("customerName") or fields.get("phone") or fields.get("email")
    return f"{record_title_of(record)}{_SEPARATOR}{detail}" if detail else record_title_of(record)


def _format_due(record: AnyRecord, display: DisplaySettings) -> str:
    fields = RecordFields(record)
    if not fields.get("due") or not fields["dueOn"]:
        return ""
    due, due_on = Amount(fields["due"], fields["currency"]), CalendarDate(fields["dueOn"])
    return PageFormat(display).render(Message("{amount}, due {date}", amount=due, date=due_on))


def _format_price(fields: RecordFields, display: DisplaySettings) -> str:
    if not fields.get("sellPrice"):
        return ""
    price = display.format_money(fields["sellPrice"])
    return translate_text("{price} per {unit}", price=price, unit=fields["unit"]) if fields["unit"] else price


def _choice_label(record: AnyRecord, status: str | None, display: DisplaySettings) -> str:
    """Return the label of a record in a pick list. For one to be paid, the amount comes before the title."""
    due = _format_due(record, display) if status else ""
    return _SEPARATOR.join(filter(None, (record.number, due, record.title))) if due else record_title_of(record)


def _status_filter(status: str | None) -> dict[str, str]:
    return {"status": status} if status else {}


def _customer_filter(customer_id: str) -> dict[str, str]:
    return {_CUSTOMER_FIELD: customer_id} if is_id(customer_id, "customer") else {}


def _input_names(list_operation: Operation) -> set[str]:
    """Return the input fields of a list operation."""
    return {field.alias or name for name, field in list_operation.input.model_fields.items()}


def _walk_fields(form_fields: Sequence[FormField]) -> Iterator[FormField]:
    """Yield every form field, including those of list rows."""
    return (part for field in form_fields for part in (field, *chain.from_iterable(field.rows)))
