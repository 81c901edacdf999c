"""Several changes that are performed together: all of them, or none."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal


class LinkedChange(NamedTuple):
    """An operation that is performed together with others."""

    operation: Operation
    given: Mapping[str, object]
    # The field of the form beside which all its faults are shown, if they have none of their own.
    field: str | None = None


def perform_linked(
    office: OfficePages, request: OfficeRequest, changes: Sequence[LinkedChange], *, keep: bool = True
) -> None:
    """Perform the changes of one form in one transaction. Without `keep`, nothing is stored."""
    with office.visitors.performer.open_batch(request.actor.organisation, commit=keep) as batch:
        for number, change in enumerate(changes):
            details = request.build_request_details(f"{change.operation.name} {number}")
            try:
                batch.perform(change.operation, request.actor, orjson.dumps(dict(change.given)), details)
            except Refusal as refusal:
                translated = office.translate_refusal(request, change.operation, refusal)
                if change.field and isinstance(translated, Invalid):
                    faults = [Fault(change.field, fault.message) for fault in translated.faults]
                    translated = Invalid(faults, translated.message)
                raise translated from None
