"""Settings → Activity: everything that happened in the organisation, as a page or a file."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from mainstay.business.people.model import PersonOut
from mainstay.business.records.activity import MAX_NAMED_RECORDS, list_activity
from mainstay.business.records.model import ActivityOut
from mainstay.doors.http import Response
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.list_export import ListExport, export_list
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, refusal_variables, status_of
from mainstay.doors.office.kit.record_panels import history_entry_of
from mainstay.doors.office.kit.reference_fields import ReferenceFields, record_title_of
from mainstay.doors.office.kit.spreadsheet_rows import (
    SpreadsheetColumn,
    escape_formula,
    format_minute,
    generate_rows,
    write_csv,
)
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_label, translate_text
from mainstay.identity.connections import ConnectionOut
from mainstay.identity.keys import KeyOut
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Forbidden, Invalid, NotFound
from mainstay.vocabulary.schemas import RecordPage
from mainstay.vocabulary.typed_records import RecordFields, to_record

PATH = "/settings/activity"
_TITLE = "Activity"
_CLIENT_FIELD = "clientId"


def activity_path(request: OfficeRequest, **filters: str) -> str | None:
    """Return the address of the activity page with these filters, if the person may read it."""
    return f"{PATH}?{urlencode(filters)}" if request.can_perform(list_activity) else None


async def person_activity_variables(request: OfficeRequest, person: PersonOut | None) -> dict[str, Any]:
    """Return the link to everything that a person did."""
    return {"activity": activity_path(request, personId=person.id)} if person else {}


async def client_activity_variables(request: OfficeRequest, client: KeyOut | ConnectionOut | None) -> dict[str, Any]:
    """Return the link to everything that was done through a key or a connected app."""
    return {"activity": activity_path(request, clientId=client.id)} if client else {}


@dataclass(frozen=True)
class ActivityPages:
    """The activity page and its file."""

    office: OfficePages

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        signed_in = self.office.require_sign_in
        return [
            Route("GET", PATH, signed_in(self.show)),
            Route("GET", f"{PATH}/export.csv", signed_in(self.export)),
        ]

    async def show(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Show what happened, the newest first, with the filters of the address."""
        check_permission(list_activity, request.actor)
        address, refusal = _read_address(request), None
        page: RecordPage[ActivityOut] = RecordPage([], has_more=False, count=0, totals=None)
        form_fields, field_values = await ReferenceFields(self.office).add_filter_choices(
            request, _form_fields(request), address.chosen
        )
        try:
            page = await self.office.perform(request, list_activity, address.list_input)
        except Invalid as invalid:
            # A fault in a field that the page does not have gets a page of its own.
            if not address.chosen.keys() >= {fault.field for fault in invalid.faults}:
                raise
            refusal = invalid
        return self.office.render_page(
            "activity.html",
            request,
            status_of(refusal),
            area="Settings",
            title=_TITLE,
            path=PATH,
            at=address,
            choices=[one for one in form_fields if one.choices],
            dates=[one for one in form_fields if one.kind == "date"],
            chips=await self._build_chips(request, form_fields, address, field_values),
            acts=[self._act_values(request, one) for one in page.data],
            next=address.next(page.data[-1].id) if page.has_more else None,
            **refusal_variables(refusal),
        )

    async def export(self, request: OfficeRequest, _: Mapping[str, str]) -> Response:
        """Return the activity as a file, with the filters of the page."""
        check_permission(list_activity, request.actor)
        list_query = replace(_read_address(request), starting_after=None).list_input
        acts = ListExport.for_request(self.office, request, list_activity, list_query)
        return await export_list(self.office, request, acts, _TITLE, partial(self._write_acts, request))

    def _write_acts(self, request: OfficeRequest, export: ListExport, file: IO[bytes]) -> None:
        acts = (self._describe_act(request, to_record(ActivityOut, one)) for one in export.read_records())
        time_zone = ZoneInfo(request.time_zone)
        columns = [
            SpreadsheetColumn("When", lambda act: format_minute(time_zone, act["at"])),
            SpreadsheetColumn("Who", lambda act: escape_formula(act["who"])),
            SpreadsheetColumn("App or key", _client_text),
            SpreadsheetColumn("What", lambda act: escape_formula(act["what"])),
            SpreadsheetColumn("Records", partial(_records_text, PageFormat(request.display))),
        ]
        write_csv(file, generate_rows(columns, acts, export.max_rows))

    def _describe_act(self, request: OfficeRequest, entry: ActivityOut) -> dict[str, Any]:
        """Describe an entry in words, with the titles of its records and the changed fields that its form has."""
        changed = [name for names in (entry.changed or {}).values() for name in names]
        act = history_entry_of(self.office, request, entry, changed)
        titles = {record: self._record_title(record, entry.called) for record in entry.called}
        return act | {"titles": titles, "others": len((entry.records or ())[MAX_NAMED_RECORDS:])}

    def _act_values(self, request: OfficeRequest, entry: ActivityOut) -> dict[str, Any]:
        """Describe an entry in words, with links to the first of its records that still exist."""
        act = self._describe_act(request, entry)
        links = [
            {"title": title, "path": path}
            for record, title in act["titles"].items()
            if (path := self._record_path(record))
        ]
        return act | {"records": links}

    def _record_title(self, record_id: str, titles: Mapping[str, str]) -> str:
        """Return the title of a record. If another has the same, such as a job and its visit, add the kind."""
        title = titles[record_id]
        get_operation = self.office.catalogue.get_operations.get(record_id.partition("_")[0])
        is_ambiguous = [*titles.values()].count(titles[record_id]) > 1
        if not is_ambiguous or not get_operation:
            return title
        return translate_text("{title} ({kind})", title=title, kind=translate_label(get_operation.output.noun).lower())

    def _record_path(self, record_id: str) -> str | None:
        with suppress(NotFound):
            return self.office.path_of(record_id)
        return None

    async def _client_name(self, request: OfficeRequest, client: str) -> str:
        """Return the name of an app or a key."""
        try:
            known = await self.office.get_record(request, client)
        except (NotFound, Forbidden):
            return translate_text("Unknown app")
        return str(RecordFields(known).get("clientName") or record_title_of(known))

    async def _build_chips(
        self,
        request: OfficeRequest,
        form_fields: Sequence[FormField],
        address: ListAddress,
        field_values: Mapping[str, str],
    ) -> list[dict[str, str]]:
        """Return the filters that have no list on the page, such as an app, each with the link that removes it."""
        chips = []
        for form_field in form_fields:
            if form_field.name not in address.chosen or form_field.choices or form_field.kind == "date":
                continue
            value, text = address.chosen[form_field.name], field_values[form_field.name]
            if form_field.name == _CLIENT_FIELD:
                text = await self._client_name(request, value)
            chips.append(
                {
                    "name": form_field.name,
                    "value": value,
                    "label": form_field.label,
                    "text": text,
                    "to": address.with_filters(**{form_field.name: ""}),
                }
            )
        return chips


def _form_fields(request: OfficeRequest) -> list[FormField]:
    return [one for one in form_fields_of(list_activity, request.actor.permissions) if one.name not in _PAGING_FIELDS]


_PAGING_FIELDS = {"limit", "startingAfter"}


def _read_address(request: OfficeRequest) -> ListAddress:
    form_fields, query = _form_fields(request), query_parameters(request.http_request)
    dates = {
        form_field.name: request.display.parse_date(query[form_field.name])
        for form_field in form_fields
        if form_field.kind == "date" and form_field.name in query
    }
    return ListAddress.parse(PATH, query | dates, frozenset(form_field.name for form_field in form_fields))


def _records_text(message_format: PageFormat, act: Mapping[str, Any]) -> str:
    more = [message_format.render(Message("{count} more", count=act["others"]))] if act["others"] else []
    return escape_formula("; ".join([*act["titles"].values(), *more]))


def _client_text(act: Mapping[str, Any]) -> str:
    client = act["by"].via.client
    return escape_formula(client.name) if client else ""
