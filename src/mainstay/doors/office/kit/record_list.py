"""The list of one kind of record, on a page or as a file, filtered and ordered by its address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from mainstay.doors.http import Response
from mainstay.doors.office.kit.list_address import ListAddress
from mainstay.doors.office.kit.list_export import ListExport, export_list
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, format_count
from mainstay.doors.office.kit.record_layout import RecordLayout, SelectionAction, label_of_new
from mainstay.doors.office.kit.reference_fields import AnyRecord, ReferenceFields
from mainstay.doors.office.kit.selection_actions import (
    SELECTED_PATH,
    can_do,
    count_label,
    find_selection_actions,
    find_selection_notice,
)
from mainstay.doors.office.kit.view_pages import ViewPages
from mainstay.doors.pages.display import column_labels, drop_empty_cells, is_amount_field, visible_fields
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.formatting import format_date
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import problem_sentence
from mainstay.doors.pages.page_language import translate_text
from mainstay.kernel.operation import Operation, OperationReturning
from mainstay.vocabulary.list_queries import COUNT_LIMIT
from mainstay.vocabulary.refusal import Invalid
from mainstay.vocabulary.schemas import ListInput, RecordPage
from mainstay.vocabulary.typed_records import RecordFields
from mainstay.vocabulary.validation import parse_input

# Fields that are shown as tabs and as the order, not as filters.
_NOT_FILTERS = {"status", "order"}
# The input field that searches for a text, and the one that continues after a record.
SEARCH_FIELD = "text"
_CURSOR_FIELD = "startingAfter"
# Kinds of filters without an input on the page. Only links set them.
_LINK_ONLY_KINDS = {"date", "flag"}
# The tabs that do not filter.
_UNFILTERED_TABS = ("", "all")
# An amount from whose text the script of the list learns how sums are written.
_SUM_SAMPLE = "1234567"
_EMPTY_PAGE: RecordPage[Any] = RecordPage([], has_more=False, count=0, totals=None)


@dataclass(frozen=True)
class RecordList:
    """The page of a list, and its export."""

    office: OfficePages
    layout: RecordLayout
    list_operation: OperationReturning[Any]

    async def index(self, request: OfficeRequest, variables: Mapping[str, Any]) -> Response:
        """Show the list. The address says which records and in which order."""
        layout, list_operation = self.layout, self.list_operation
        choices, address, value_labels = await self._read_address(request)
        problem, left_out, fixed_order, list_input = None, "", None, self._list_input(address, choices)
        try:
            page = await self.office.list_records(request, list_operation, list_input)
            fixed_order = _find_fixed_order(list_operation, list_input)
            left_out = "" if fixed_order else await self._find_left_out(request, list_input, page.count)
        except Invalid as invalid:
            page, problem = _empty_page_of(invalid)
        order = fixed_order or address.chosen.get("order", layout.order)
        columns = visible_fields(list_operation.output, layout.columns, request.actor.permissions)
        actions = self._find_selection_actions(page.data)
        view_pages = ViewPages(self.office, layout.path, list_operation)
        views = await view_pages.build_tabs(request, address)
        return self.office.render_page(
            "index.html",
            request,
            of=layout,
            at=address,
            count=format_count(page.count),
            heads=self._build_headers(
                columns, choices if fixed_order is None else _remove_order(choices), address, order
            ),
            filters=[field for name, field in choices.items() if name not in _NOT_FILTERS and field.choices],
            chips=_build_chips(choices, address, value_labels),
            tabs=await self._build_tabs(request, address, choices),
            views=views,
            view_form=view_pages.describe_form(request, address, views),
            orders=choices.get("order"),
            order=order,
            has_fixed_order=fixed_order is not None,
            left_out=left_out,
            rows=[self._build_row(request, columns, record, actions) for record in page.data],
            selection_actions=[
                {"key": action.key, "verb": action.verb, "label": count_label(action.verb, "{count}")}
                for action in actions
            ],
            sum_sample=request.display.format_money(_SUM_SAMPLE) if layout.summed_field in columns else "",
            selected_path=f"{layout.path}{SELECTED_PATH}",
            next=address.next(page.data[-1].id) if page.has_more else None,
            creates=self._create_link(request),
            searches=SEARCH_FIELD in list_operation.input.model_fields,
            problem=problem,
            notice=self._find_notice(request),
            **variables,
        )

    def _find_selection_actions(self, records: Sequence[AnyRecord]) -> list[SelectionAction]:
        """Return the actions that are possible for at least one of the records."""
        actions = find_selection_actions(self.office, self.layout)
        return [action for action in actions if any(can_do(action, record) for record in records)]

    def _find_notice(self, request: OfficeRequest) -> str | None:
        """Return the notice of what was just done, to one record or to selected ones."""
        done = query_parameters(request.http_request).get("done", "")
        notice = find_selection_notice(self.office, self.layout, request, done) if " " in done else None
        return notice or self.office.find_notice(request)

    def _build_row(
        self,
        request: OfficeRequest,
        columns: Sequence[str],
        record: AnyRecord,
        actions: Sequence[SelectionAction],
    ) -> dict[str, Any]:
        layout = self.layout
        row_cells = layout.format_cells(self.list_operation.output, columns, record, request.display)
        return {
            "record": record,
            "title": layout.localised_title_of(record, request.display),
            "subtitle": layout.subtitle_of(record),
            "phone_texts": [cell.text for cell in drop_empty_cells(row_cells) if cell.name in layout.phone_columns],
            "path": layout.path_of(record.id),
            "cells": row_cells,
            "actions": layout.actions_of(self.office, record),
            "possible": [str(number) for number, action in enumerate(actions) if can_do(action, record)],
            "amount": self._amount_to_sum(record, request),
        }

    def _amount_to_sum(self, record: AnyRecord, request: OfficeRequest) -> str:
        """Return the amount that counts in the sum of selected records, if it is in the organisation's currency."""
        fields = RecordFields(record)
        is_own = fields.get("currency") in {None, request.display.currency}
        return str(fields.get(self.layout.summed_field) or "") if is_own else ""

    def _build_headers(
        self, names: Sequence[str], choices: Mapping[str, FormField], address: ListAddress, order: str | None
    ) -> list[dict[str, Any]]:
        """Return the column headers, with the address that orders the list by the column if there is one."""
        orders = dict(choices["order"].choices) if "order" in choices else {}
        columns = {"name": self._title_label()} | column_labels(self.list_operation.output, names)
        headers = []
        for name, label in columns.items():
            amount = is_amount_field(self.list_operation.output, name)
            # The order by `dueOn` is named `due`. An amount is never an order, although one field is named `due`.
            order_name = None if amount else name.removesuffix("On")
            path = address.with_filters(order=order_name) if order_name in orders else None
            header = {
                "label": label,
                "to": path,
                "leads": order_name is not None and order_name == order,
                "amount": amount,
            }
            headers.append(header | {"yields": name in self.layout.optional_columns})
        return headers

    def _title_label(self) -> str:
        """Return the header of the first column: `Name`, or what the record is if it has no name, such as `Invoice`."""
        label = self.layout.kind.label
        return "Name" if "name" in self.list_operation.output.model_fields else f"{label[:1].upper()}{label[1:]}"

    async def _read_address(self, request: OfficeRequest) -> tuple[dict[str, FormField], ListAddress, dict[str, str]]:
        """Return the filters of the list, the current address, and the labels of the chosen values."""
        idle = self._unused_fields(request)
        form_fields = [
            field for field in form_fields_of(self.list_operation, request.actor.permissions) if field.name not in idle
        ]
        parameters = query_parameters(request.http_request)
        with_choices, value_labels = await ReferenceFields(self.office).add_filter_choices(
            request, form_fields, parameters
        )
        choices = {
            field.name: field
            for field in with_choices
            if field.choices or field.refers_to or field.kind in _LINK_ONLY_KINDS
        }
        names = frozenset(choices) | ({SEARCH_FIELD} & self.list_operation.input.model_fields.keys())
        return choices, ListAddress.parse(self.layout.path, parameters, names), value_labels

    def _unused_fields(self, request: OfficeRequest) -> frozenset[str]:
        """Return the input fields that make no difference to the viewer."""
        fields, store = self.list_operation.input.model_fields, self.layout.kind
        unused = (
            store.visibility.find_redundant_filters(store.filters, request.actor.can)
            if store and store.visibility
            else ()
        )
        return frozenset({_CURSOR_FIELD, *(fields[name].alias or name for name in unused)})

    async def _build_tabs(
        self, request: OfficeRequest, address: ListAddress, choices: Mapping[str, FormField]
    ) -> list[dict[str, Any]]:
        """Return the tabs, each with the number of records under the current filters."""
        current = address.chosen.get("status") or next(iter(self.layout.tabs), "")
        others = {
            name: value for name, value in _convert_flags(address.chosen, choices).items() if name not in _NOT_FILTERS
        }
        tabs = []
        for value, label in self.layout.tabs.items():
            state = {"status": value} if value not in _UNFILTERED_TABS else {}
            try:
                count = await self.office.count_records(request, self.list_operation, {**others, **state})
            except Invalid:
                count = 0
            tab = {"words": label, "to": address.with_filters(status=value), "count": format_count(count)}
            tabs.append(tab | {"here": value == current})
        return tabs

    async def _find_left_out(self, request: OfficeRequest, list_input: Mapping[str, object], shown_count: int) -> str:
        """Return what records lack that are missing because of the list's order, or nothing if none are missing."""
        store, order = self.layout.kind, str(list_input.get("order", ""))
        missing = store.orders[order].missing_label if store and order in store.orders else ""
        if not missing:
            return ""
        unordered = {name: value for name, value in list_input.items() if name not in {"order", _CURSOR_FIELD}}
        count = await self.office.count_records(request, self.list_operation, unordered)
        # If counting stopped at the limit, some may be missing.
        return missing if shown_count < count or shown_count >= COUNT_LIMIT else ""

    def _list_input(self, address: ListAddress, choices: Mapping[str, FormField]) -> dict[str, object]:
        """Return the input of the list's operation: the address, with defaults for what it leaves out."""
        defaults = {"status": next(iter(self.layout.tabs), ""), "order": self.layout.order}
        values = {name: value for name, value in defaults.items() if value} | _convert_flags(
            address.list_input, choices
        )
        return {name: value for name, value in values.items() if name != "status" or value not in _UNFILTERED_TABS}

    async def export(self, request: OfficeRequest) -> Response:
        """Return the whole list as a file, filtered and ordered like its page."""
        choices, address, _ = await self._read_address(request)
        list_input = self._list_input(replace(address, starting_after=None), choices)
        return await export_list(
            self.office,
            request,
            ListExport.for_request(self.office, request, self.list_operation, list_input),
            self.layout.title,
        )

    def _create_link(self, request: OfficeRequest) -> dict[str, str] | None:
        create_operation = self.layout.create_operation
        if create_operation is None or not request.can_perform(create_operation):
            return None
        return {"label": label_of_new(create_operation), "path": self.layout.kind.new_path}


def _find_fixed_order(list_operation: Operation, values: Mapping[str, object]) -> str | None:
    """Return the order that the chosen filters prescribe, or None if the list can be ordered freely."""
    given = parse_input(list_operation.input, orjson.dumps(dict(values)))
    return given.fixed_order() if isinstance(given, ListInput) else None


def _remove_order(choices: Mapping[str, FormField]) -> dict[str, FormField]:
    return {name: field for name, field in choices.items() if name != "order"}


def _convert_flags(values: Mapping[str, object], choices: Mapping[str, FormField]) -> dict[str, object]:
    """Convert the values of an address to input: a flag that is present is True."""
    return {name: True if name in choices and choices[name].kind == "flag" else value for name, value in values.items()}


def _build_chips(
    choices: Mapping[str, FormField], address: ListAddress, value_labels: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the filters without an input of their own, each with the address that removes it."""
    return [
        {
            "name": name,
            "value": address.chosen[name],
            "label": field.label,
            "text": _format_chip(field, value_labels[name]),
            "to": address.with_filters(**{name: ""}),
        }
        for name, field in choices.items()
        if name in address.chosen and not field.choices
    ]


def _format_chip(field: FormField, label: str) -> str:
    return translate_text("Yes") if field.kind == "flag" else format_date(label) if field.kind == "date" else label


def _empty_page_of(invalid: Invalid) -> tuple[RecordPage[Any], str]:
    """Return an empty page and what is wrong with the search text. Raise any other fault, since nobody typed it."""
    for fault in invalid.faults:
        if fault.field != SEARCH_FIELD:
            raise invalid
    return _EMPTY_PAGE, problem_sentence(translate_text("Search"), invalid.faults[0].problem)
