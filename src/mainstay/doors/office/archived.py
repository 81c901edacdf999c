"""What is in the archive of everything, read off the catalogue: which lists, what each is asked for, what goes with it.

A list that is added to the catalogue is in it without another line.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.business.issuing.printed import PDF, MadeOut
from mainstay.doors.office.table import Column, columns_for, columns_of
from mainstay.doors.pages.showing import told
from mainstay.kernel.catalogue import Catalogue, is_admitted
from mainstay.kernel.context import Context
from mainstay.kernel.listing import Listing
from mainstay.kernel.operation import Operation
from mainstay.terms.actor import Actor, Door
from mainstay.terms.shapes import ListInput, Page, Shown

# Lists of the office that are not in it, each with the reason.
LEFT_OUT = {
    "list_messages": "mails stand beside the record that they are about, one by one",
    "get_history": "it lists what one did oneself; what happened to a record stands beside it, page by page",
    "list_deliveries": "what was sent to webhooks is kept for some days only, and tells of records that are here",
}
# What a list is asked for so that it holds everything, where it would begin with today.
_FROM_THE_BEGINNING: Mapping[str, dict[str, object]] = {
    "list_visits": {"order": "latest"},
    "list_time_off": {"order": "latest"},
}
# What people know the document by to which a line belongs, and what its amounts are.
_WHOSE_LINE = ("number", "revision", "supplierNumber", "customerName", "supplierName", "currency")


def exported(catalogue: Catalogue, actor: Actor) -> list[Operation]:
    """The lists that are in the archive for someone."""
    return [
        operation
        for operation in catalogue.operations
        if operation.lists
        and Door.OFFICE in operation.offered
        and operation.name not in LEFT_OUT
        and is_admitted(operation, actor)
    ]


def name_of(lists: Operation) -> str:
    """What the files of a list are called."""
    return lists.name.removeprefix("list_").replace("_", "-")


def askings(catalogue: Catalogue, lists: Operation) -> list[dict[str, object]]:
    """What a list is asked for, so that the answers together hold every record and none of them twice."""
    usual = _FROM_THE_BEGINNING.get(lists.name, {})
    listing = next((operation.on for operation in catalogue.on(lists.output) if operation.on), None)
    for name in listing.otherwise if listing else ():
        # Without this filter some would be left out: so it is asked for each of its values.
        field = lists.input.model_fields[name]
        [values] = [get_args(part) or tuple(part) for part in get_args(field.annotation) if part is not type(None)]
        return [{**usual, field.alias or name: value} for value in values]
    return [usual]


def whole(catalogue: Catalogue, lists: Operation) -> Operation:
    """The same list with all that is in each record, as one is told that is got by itself.

    A page of it is one statement, as a page of the list is.
    """
    gets = _gets(catalogue, lists)
    if gets is None or gets.on is None or gets.output is lists.output:
        return lists
    return replace(lists, output=gets.output, right=gets.right, function=gets.on.page)


def papers(catalogue: Catalogue, actor: Actor, lists: Operation) -> Operation | None:
    """A list of the files of the same documents, page by page as well; None where someone is given none."""
    gets = _gets(catalogue, lists)
    gives = next((one for one in catalogue.operations if gets and one.on is gets.on and one.gives == PDF), None)
    if gives is None or gives.on is None or not is_admitted(gives, actor):
        return None
    return replace(lists, output=MadeOut, right=gives.right, function=partial(_made, gives.on))


def _made(listing: Listing[Any], ctx: Context, given: ListInput) -> Page[MadeOut]:
    # Where the files are, is one of the facts that nobody is shown.
    page = listing.page(replace(ctx, envelope=ctx.envelope._replace(actions=True)), given)
    return Page(MadeOut, [MadeOut.row(listing.keep(row)) for row in page.rows], page.has_more)


def _gets(catalogue: Catalogue, lists: Operation) -> Operation | None:
    """What gets a record of a list by itself."""
    return next((one for prefix, one in catalogue.gets.items() if catalogue.lists.get(prefix) is lists), None)


def columns_of_lines(model: type[Shown], zone: str) -> list[Column]:
    """The columns of a table of all lines of such documents; none where they have no lines."""
    if "lines" not in told(model):
        return []
    line: type[BaseModel] = get_args(told(model)["lines"][1])[0]
    whose = [name for name in _WHOSE_LINE if name in told(model)]
    return [*columns_for(model, whose, zone), *columns_of(line, zone)]
