"""What the full export contains, read from the catalogue: the lists, their queries and their files.

A list that is added to the catalogue is exported without further code.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.business.issuing.document_files import PDF, CreatedFilesOut
from mainstay.doors.office.kit.spreadsheet_rows import SpreadsheetColumn, columns_of, columns_of_fields
from mainstay.doors.pages.display import describe_fields
from mainstay.kernel.catalogue import Catalogue, is_permitted
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Operation
from mainstay.kernel.record_store import RecordStore
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.schemas import ListInput, Output, PageResult

# Lists of the office that are not exported, each with the reason.
EXCLUDED_LISTS = {
    "list_messages": "each email is shown with the record that it is about",
    "get_history": "it lists what you did yourself; the history of a record is shown with the record",
    "list_job_diary": "what a diary shows is shown with the job, and its records are included",
    "list_deliveries": "what was sent to webhooks is deleted after some days, and is about records that are included",
}
# Queries that make a list complete, if it would otherwise begin with today.
_COMPLETE_QUERIES: Mapping[str, dict[str, object]] = {
    "list_visits": {"order": "latest"},
    "list_time_off": {"order": "latest"},
}
# The fields of a document that are repeated on its lines: how people know it, and its currency.
_DOCUMENT_FIELDS = ("number", "revision", "supplierNumber", "customerName", "supplierName", "currency")


def exported_lists(catalogue: Catalogue, actor: Actor) -> list[Operation]:
    """Return the lists that are exported for a person."""
    return [
        operation
        for operation in catalogue.operations
        if operation.returns_page
        and Door.OFFICE in operation.doors
        and operation.name not in EXCLUDED_LISTS
        and is_permitted(operation, actor)
    ]


def file_name_of(list_operation: Operation) -> str:
    """Return the file name of a list, without ending."""
    return list_operation.name.removeprefix("list_").replace("_", "-")


def complete_queries(catalogue: Catalogue, list_operation: Operation) -> list[dict[str, object]]:
    """Return the queries of a list whose answers together contain every record once."""
    base_query = _COMPLETE_QUERIES.get(list_operation.name, {})
    record_store = next(
        (operation.on for operation in catalogue.operations_on(list_operation.output) if operation.on), None
    )
    for name in record_store.default_conditions if record_store else ():
        # Without this filter some records would be left out, so there is a query for each of its values.
        field = list_operation.input.model_fields[name]
        [values] = [get_args(part) or tuple(part) for part in get_args(field.annotation) if part is not type(None)]
        return [{**base_query, field.alias or name: value} for value in values]
    return [base_query]


def with_full_records(catalogue: Catalogue, list_operation: Operation) -> Operation:
    """Return the same list with full records, as the operation that gets one returns them.

    A page of it is one statement, as a page of the list is.
    """
    get_operation = _get_operation_of(catalogue, list_operation)
    if get_operation is None or get_operation.on is None or get_operation.output is list_operation.output:
        return list_operation
    return replace(
        list_operation, output=get_operation.output, permission=get_operation.permission, function=get_operation.on.page
    )


def issued_files_list(catalogue: Catalogue, actor: Actor, list_operation: Operation) -> Operation | None:
    """Return a list of the issued files of these documents, or None if there are none or they are not permitted."""
    get_operation = _get_operation_of(catalogue, list_operation)
    pdf_operation = next(
        (
            operation
            for operation in catalogue.operations
            if get_operation and operation.on is get_operation.on and operation.returns_file == PDF
        ),
        None,
    )
    if pdf_operation is None or pdf_operation.on is None or not is_permitted(pdf_operation, actor):
        return None
    return replace(
        list_operation,
        output=CreatedFilesOut,
        permission=pdf_operation.permission,
        function=partial(_page_of_files, pdf_operation.on),
    )


def _page_of_files(record_store: RecordStore[Any], ctx: Context, given: ListInput) -> PageResult[CreatedFilesOut]:
    # The addresses of the files are not part of any output.
    page = record_store.page(replace(ctx, request=ctx.request._replace(with_actions=True)), given)
    return PageResult(
        CreatedFilesOut, [CreatedFilesOut.build_row(record_store.from_row(row)) for row in page.rows], page.has_more
    )


def _get_operation_of(catalogue: Catalogue, list_operation: Operation) -> Operation | None:
    """Return the operation that gets one record of a list."""
    return next(
        (
            operation
            for prefix, operation in catalogue.get_operations.items()
            if catalogue.list_operations.get(prefix) is list_operation
        ),
        None,
    )


def line_columns_of(model: type[Output], zone: str) -> list[SpreadsheetColumn]:
    """Return the columns of a table of all lines of these documents, or none if they have no lines."""
    if "lines" not in describe_fields(model):
        return []
    line: type[BaseModel] = get_args(describe_fields(model)["lines"][1])[0]
    document_fields = [name for name in _DOCUMENT_FIELDS if name in describe_fields(model)]
    return [*columns_of_fields(model, document_fields, zone), *columns_of(line, zone)]
