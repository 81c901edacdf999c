"""The list of one kind of record: narrowed, ordered and counted as its address says, on a page or as a file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from mainstay.doors.http import Response
from mainstay.doors.office.address import ListAddress
from mainstay.doors.office.arrangement import Arrangement, label_of_new
from mainstay.doors.office.desk import Desk, Guest, told
from mainstay.doors.office.export import Export, export
from mainstay.doors.office.references import AsTold, References
from mainstay.doors.pages.asking import Asked, asked_of
from mainstay.doors.pages.forms import query_words
from mainstay.doors.pages.showing import is_amount, known, labels, visible
from mainstay.doors.pages.words import date_words
from mainstay.kernel.operation import Operation
from mainstay.terms.faults import accept
from mainstay.terms.listed import COUNTED
from mainstay.terms.refusal import Invalid
from mainstay.terms.shapes import ListInput

# What a list is narrowed by in other ways than by its filters: tabs, and an order.
_BESIDE = {"status", "order"}
# The field of a list by which one looks for a text, and that by which it goes on.
SEARCH = "text"
_CURSOR = "startingAfter"
# What a list may be narrowed by that is neither chosen from a list nor typed there: it comes with a link.
_PLAIN = {"date", "flag"}
# The tabs that narrow nothing.
_ALL = ("", "all")
_EMPTY: AsTold = {"data": [], "hasMore": False, "count": 0}


@dataclass(frozen=True)
class RecordList:
    """The page of a list, and the file of it."""

    desk: Desk
    of: Arrangement
    lists: Operation

    async def index(self, guest: Guest, shown: Mapping[str, Any]) -> Response:
        """The list; what is shown is in the address."""
        of, lists = self.of, self.lists
        choices, at, written = await self._address(guest)
        problem, left_out, fixed, asked = None, "", None, self._asked(at, choices)
        try:
            page = await self.desk.list(guest, lists, asked)
            fixed = _fixed_order(lists, asked)
            left_out = "" if fixed else await self._left_out(guest, asked, page["count"])
        except Invalid as invalid:
            page, problem = _nothing_found(invalid)
        order = fixed or at.chosen.get("order", of.order)
        return self.desk.page(
            "index.html",
            guest,
            of=of,
            at=at,
            count=told(page["count"]),
            heads=self._heads(guest, choices if fixed is None else _without_order(choices), at, order),
            filters=[one for name, one in choices.items() if name not in _BESIDE and one.choices],
            chips=_chips(choices, at, written),
            tabs=await self._tabs(guest, at, choices),
            orders=choices.get("order"),
            order=order,
            has_fixed_order=fixed is not None,
            left_out=left_out,
            rows=[self._row(guest, record) for record in page["data"]],
            next=at.next(page["data"][-1]["id"]) if page["hasMore"] else None,
            creates=self._creating(guest),
            searches=SEARCH in lists.input.model_fields,
            problem=problem,
            notice=self.desk.notice(guest),
            **shown,
        )

    def _columns(self, guest: Guest) -> list[str]:
        return visible(self.lists.output, self.of.columns, guest.actor.rights)

    def _row(self, guest: Guest, record: AsTold) -> dict[str, Any]:
        of = self.of
        cells = of.cells(self.lists.output, self._columns(guest), record, guest.here)
        return {
            "record": record,
            "called": of.called_here(record, guest.here),
            "below": of.below(record),
            "apart": [cell.text for cell in known(cells) if cell.name in of.apart],
            "path": of.path_of(record["id"]),
            "cells": cells,
            "actions": of.actions(self.desk, record),
        }

    def _heads(
        self, guest: Guest, choices: Mapping[str, Asked], at: ListAddress, order: str | None
    ) -> list[dict[str, Any]]:
        """What stands above the columns; where the list can be ordered by one, with the address of that."""
        orders = dict(choices["order"].choices) if "order" in choices else {}
        columns = {"name": "Name"} | labels(self.lists.output, self._columns(guest))
        heads = []
        for name, label in columns.items():
            amount = is_amount(self.lists.output, name)
            # An order by a date is called without what tells dates: `due` is by `dueOn`, and never by an amount.
            by = None if amount else name.removesuffix("On")
            to = at.with_(order=by) if by in orders else None
            head = {"label": label, "to": to, "leads": by is not None and by == order, "amount": amount}
            heads.append(head | {"yields": name in self.of.yields})
        return heads

    async def _address(self, guest: Guest) -> tuple[dict[str, Asked], ListAddress, dict[str, str]]:
        """What the list can be narrowed to, what it is narrowed to, and how people call that."""
        idle = self._idle(guest)
        asked = [one for one in asked_of(self.lists, guest.actor.rights) if one.name not in idle]
        words = query_words(guest.request)
        offered, written = await References(self.desk).narrowing(guest, asked, words)
        choices = {one.name: one for one in offered if one.choices or one.refers or one.kind in _PLAIN}
        names = frozenset(choices) | ({SEARCH} & self.lists.input.model_fields.keys())
        return choices, ListAddress.read(self.of.path, words, names), written

    def _idle(self, guest: Guest) -> frozenset[str]:
        """The fields of the list that narrow nothing for whoever looks."""
        fields, listing = self.lists.input.model_fields, self.of.gets.on
        idle = listing.own.idle(listing.filters, guest.actor.may) if listing and listing.own else ()
        return frozenset({_CURSOR, *(fields[name].alias or name for name in idle)})

    async def _tabs(self, guest: Guest, at: ListAddress, choices: Mapping[str, Asked]) -> list[dict[str, Any]]:
        """The states of the list, each with how many there are in it of what is shown."""
        chosen = at.chosen.get("status") or next(iter(self.of.tabs), "")
        others = {name: value for name, value in _turned(at.chosen, choices).items() if name not in _BESIDE}
        tabs = []
        for value, words in self.of.tabs.items():
            state = {"status": value} if value not in _ALL else {}
            try:
                page = await self.desk.list(guest, self.lists, {**others, **state, "limit": 1})
            except Invalid:
                page = _EMPTY
            told_so = {"words": words, "to": at.with_(status=value), "count": told(page["count"])}
            tabs.append(told_so | {"here": value == chosen})
        return tabs

    async def _left_out(self, guest: Guest, asked: Mapping[str, object], shown: int) -> str:
        """What those records have none of that are missing only because of the order of the list, if any are."""
        listing, order = self.of.gets.on, str(asked.get("order", ""))
        without = listing.orders[order].without if listing and order in listing.orders else ""
        if not without:
            return ""
        usual = {name: value for name, value in asked.items() if name not in {"order", _CURSOR}}
        every = await self.desk.list(guest, self.lists, {**usual, "limit": 1})
        # Where counting has stopped there may be some.
        return without if shown < every["count"] or shown >= COUNTED else ""

    def _asked(self, at: ListAddress, choices: Mapping[str, Asked]) -> dict[str, object]:
        """What the list's operation is given: what the address says, and what is meant where it says nothing."""
        usual = {"status": next(iter(self.of.tabs), ""), "order": self.of.order}
        asked = {name: value for name, value in usual.items() if value} | _turned(at.asked, choices)
        return {name: value for name, value in asked.items() if name != "status" or value not in _ALL}

    async def export(self, guest: Guest) -> Response:
        """The whole list as a file, narrowed and ordered like its page."""
        choices, at, _ = await self._address(guest)
        asked = self._asked(replace(at, after=None), choices)
        return await export(self.desk, guest, Export.of(self.desk, guest, self.lists, asked), self.of.title)

    def _creating(self, guest: Guest) -> dict[str, str] | None:
        creates = self.of.creates
        if creates is None or not guest.may(creates):
            return None
        return {"label": label_of_new(creates), "path": f"{self.of.path}/{self.of.create_path}"}


def _fixed_order(lists: Operation, asked: Mapping[str, object]) -> str | None:
    """Return the order that the list has as it is narrowed, if it can be in no other."""
    given = accept(lists.input, orjson.dumps(dict(asked)))
    return given.fixed_order() if isinstance(given, ListInput) else None


def _without_order(choices: Mapping[str, Asked]) -> dict[str, Asked]:
    return {name: one for name, one in choices.items() if name != "order"}


def _turned(asked: Mapping[str, object], choices: Mapping[str, Asked]) -> dict[str, object]:
    """What an address says, as an operation takes it: what is there at all is meant."""
    return {name: True if name in choices and choices[name].kind == "flag" else value for name, value in asked.items()}


def _chips(choices: Mapping[str, Asked], at: ListAddress, written: Mapping[str, str]) -> list[dict[str, str]]:
    """What else the list is narrowed to, each with the way back: a record that its address names."""
    return [
        {
            "name": name,
            "value": at.chosen[name],
            "label": one.label,
            "called": _called(one, written[name]),
            "to": at.with_(**{name: ""}),
        }
        for name, one in choices.items()
        if name in at.chosen and not one.choices
    ]


def _called(one: Asked, written: str) -> str:
    return "Yes" if one.kind == "flag" else date_words(written) if one.kind == "date" else written


def _nothing_found(invalid: Invalid) -> tuple[AsTold, str]:
    """An empty page for whoever looked for too little, and what to do; whatever else is wrong was not typed."""
    for fault in invalid.faults:
        if fault.field != SEARCH:
            raise invalid
    return _EMPTY, f"What you look for {invalid.faults[0].problem}."
