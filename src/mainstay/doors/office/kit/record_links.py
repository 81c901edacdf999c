"""Links from a record to the records that it names, if the viewer can see those."""

import re
from collections.abc import Iterable
from typing import Any

from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.pages.display import RecordCell
from mainstay.kernel.kind import Kind
from mainstay.vocabulary.refusal import NotFound
from mainstay.vocabulary.typed_records import RecordFields

_NAMING_FIELD = re.compile("(.+)(Name|Number)")


async def add_links(
    office: OfficePages, request: OfficeRequest, record: AnyRecord, record_cells: Iterable[RecordCell]
) -> list[RecordCell]:
    """Add links to the fields of a record that name another record."""
    return [
        cell if cell.to else cell._replace(to=await _link_of(office, request, record, cell.name))
        for cell in record_cells
    ]


async def _link_of(office: OfficePages, request: OfficeRequest, record: AnyRecord, name: str) -> str:
    """Return the address of the record that a field names, such as `customerName` or `jobNumber`.

    Empty if there is none, or if the viewer cannot see it.
    """
    fields, named = RecordFields(record), _NAMING_FIELD.fullmatch(name)
    # The `supplierNumber` of a bill is its own: the supplier is named by `supplierName`.
    is_own = named is not None and named[2] == "Number" and f"{named[1]}Name" in fields
    record_id = fields.get(f"{named[1]}Id") if named and not is_own else None
    kind = office.catalogue.kinds.get(record_id.partition("_")[0]) if record_id else None
    if record_id is None or kind is None or not await _can_see(office, request, kind, record_id):
        return ""
    return kind.path_of(record_id)


async def _can_see(office: OfficePages, request: OfficeRequest, kind: Kind[Any], record_id: str) -> bool:
    if not request.can_perform(office.catalogue.get_operations[kind.prefix]):
        return False
    if kind.visibility is None or kind.visibility.restrict_for(request.actor.can) is None:
        return True
    try:
        await office.get_record(request, record_id)
    except NotFound:
        return False
    return True
