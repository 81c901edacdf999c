"""Short lists of related records, shown on the pages of the records that they refer to."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Operation


class RelatedList(NamedTuple):
    """Where a kind of record is listed: on the pages of another kind, to which one of its fields refers."""

    # The other kind, the filter of the list that takes the id, and the columns.
    on: Kind[Any]
    filter_field: str
    columns: tuple[str, ...]
    # Whether it is listed in the narrow column with the facts, where there is room for an amount and a status.
    is_side: bool = False
    # Whether a record can be added there; and further fields to fill in, given the record of the page. None if no more
    # can be added now.
    can_add: bool = False
    # Whether the page knows enough to add one by a button, without a form.
    adds_at_once: bool = False
    prefill: Callable[[Any], Mapping[str, str] | None] = lambda _record: {}
    # The field of the page's record with the id, if that is not its own: the site of a job.
    record_field: str = "id"


class ListedKind(NamedTuple):
    """A list of related records, with the kind that it lists, and the operations that list and add its records."""

    kind: Kind[Any]
    list_operation: Operation
    create_operation: Operation | None
    shown: RelatedList
