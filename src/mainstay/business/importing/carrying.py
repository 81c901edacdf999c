"""Brings the rows of a file over, by the same operations as everyone's: to see what would happen, or for good."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic, sleep
from typing import Any

import orjson

from mainstay.backing.database import Handle
from mainstay.business.importing import store
from mainstay.business.importing.lines import reference_of, shortly, texts_of, told_with, values_of
from mainstay.business.importing.model import (
    CODE,
    CUSTOMER,
    NAMES_ANOTHER,
    REFERENCE,
    SITE,
    SUPPLIER,
    TAX_RATE,
    Became,
    Kind,
    Outcome,
    RowFault,
)
from mainstay.kernel.context import Envelope
from mainstay.kernel.perform import Stage, StandingNow
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Fault, Invalid, Refusal
from mainstay.values.words import words_of

Rows = Sequence[tuple[int, Sequence[str]]]

# So many rows are tried at once, and taken back: between them others get their turn.
_CHUNK = 100
# For so long at least everyone else gets a turn in between.
_TURN_SECONDS = 0.1
_ANYTHING = "-"
# How often it is told how far it is.
_TOLD_EVERY = 25


class _TakenBack(Exception):
    """Some rows are wrong, so none is brought over."""


@dataclass
class Carrying:
    """One file, for one person."""

    stage: Stage
    actor: Actor
    kind: Kind
    mapping: Mapping[str, int]
    # The id of the request that it is for, and what is told how many rows are done.
    request: str
    tell: Callable[[int], None]
    # That of the organisation.
    country: str | None = None
    outcome: Outcome = field(default_factory=Outcome)
    # In which row a reference was seen, and the ids of other records by what rows call them.
    _seen: dict[str, int] = field(default_factory=dict)
    _others: dict[tuple[str, str], str] = field(default_factory=dict)
    _done: int = 0

    def check(self, rows: Rows) -> Outcome:
        """What would become of the rows; nothing does."""
        for chunk in _chunks(rows):
            began = monotonic()
            with self.stage.together(self.actor.organisation, keep=False) as stage:
                self._carry_all(stage, chunk)
            # As long again for everyone else: whoever waits for a turn looks for one only now and then.
            sleep(max(monotonic() - began, _TURN_SECONDS))
        return self.outcome

    def bring(self, rows: Rows, done: Callable[[Handle, Outcome], object]) -> Outcome:
        """Bring all of them over and note it as done or, where one is wrong, none; then what is wrong with each."""
        with suppress(_TakenBack), self.stage.together(self.actor.organisation, apart=False) as stage:
            # Nobody else changes anything meanwhile: what the one who brings them over may is asked once.
            self._carry_all(replace(stage, standing=_asked_once(stage.standing)), rows, stop=True)
            with stage.database.changing(self.actor.organisation) as handle:
                done(handle, self.outcome)
            return self.outcome
        return replace(self, outcome=Outcome(), _seen={}, _others={}, _done=0).check(rows)

    def _carry_all(self, stage: Stage, rows: Rows, *, stop: bool = False) -> None:
        for number, cells in rows:
            for fault in self._faults(stage, number, texts_of(cells, self.mapping)):
                if stop:
                    raise _TakenBack
                self.outcome.faults.append(RowFault(number, self._label(fault.field), fault.problem))
            self._done += 1
            if self._done % _TOLD_EVERY == 0:
                self.tell(self._done)

    def _faults(self, stage: Stage, number: int, texts: Mapping[str, str]) -> Iterator[Fault]:
        """Carry one row, and tell all that is wrong with it.

        It is tried once more without what is wrong, until that tells nothing new: whoever mends it is told everything
        at once. Nothing of such a row is ever kept.
        """
        reference = reference_of(self.kind, texts)
        with stage.database.reading(self.actor.organisation) as rows:
            known = _by_reference(rows, self.kind.table, reference)
        told = self._if_twice(number, reference, known, given=REFERENCE in texts)
        yield from told
        while True:
            try:
                became = self._carry(stage, reference, known, texts)
            except Invalid as invalid:
                found = [told_with(texts, fault) for fault in invalid.faults if not _is_about(fault.field, told)]
            except Refusal as refusal:
                yield Fault("", refusal.text)
                return
            else:
                if not told:
                    self.outcome.count(became)
                return
            yield from found
            told += found
            right = self._mended(texts, told)
            if right == texts:
                return
            texts = right

    def _mended(self, texts: Mapping[str, str], told: Sequence[Fault]) -> dict[str, str]:
        """A row without what is wrong with it; what must be called something is called anything."""
        needed = [one.field for one in self.kind.columns if one.required and one.field not in NAMES_ANOTHER]
        right = {name: text for name, text in texts.items() if not _is_about(name, told)}
        return right | {name: _ANYTHING for name in needed if _is_about(name, told)}

    def _if_twice(self, number: int, reference: str, known: Sequence[str], *, given: bool) -> list[Fault]:
        """What is wrong with a row that is about the same as another one before it."""
        before = self._seen.setdefault(reference, number)
        if before != number:
            return [Fault(REFERENCE, _the_same(before, given=given))]
        same = [self._seen.setdefault(identity, number) for identity in known]
        return [Fault(REFERENCE, _merged(self.kind.what, before)) for before in same if before != number]

    def _carry(self, stage: Stage, reference: str, referred: Sequence[str], texts: Mapping[str, str]) -> Became:
        """A new record, or what is different of one that is known: by its reference, or else by its name."""
        values = values_of(texts, self.country)
        with stage.database.reading(self.actor.organisation) as rows:
            values |= self._named(rows, texts)
            known = referred[0] if referred else self._known(rows, texts, values.get(CUSTOMER))
        if known is None:
            self._perform(stage, self.kind.makes.name, values | {REFERENCE: reference})
            return "made"
        if referred:
            # It may be that of a customer who was merged into this one, which has its own.
            values.pop(REFERENCE, None)
        current = self._perform(stage, self.kind.gets.name, {self.kind.id_field: known})
        if CUSTOMER in values and self.kind.name != "customers" and current[CUSTOMER] != values[CUSTOMER]:
            raise Invalid([Fault(CUSTOMER, f"is another one than that of the {self.kind.what} here")])
        changes = _different(current, {name: values[name] for name in values.keys() - self.kind.only_new})
        changed = bool(changes)
        if changes:
            after = self._perform(stage, self.kind.changes.name, {self.kind.id_field: known, **changes})
            changed = after["version"] != current["version"]
        return "changed" if changed else "unchanged"

    def _perform(self, stage: Stage, operation: str, given: Mapping[str, object]) -> dict[str, Any]:
        declared = {one.name: one for one in (self.kind.gets, self.kind.makes, self.kind.changes)}[operation]
        answer = stage.perform(declared, self.actor, orjson.dumps(dict(given)), Envelope(self.request, bare=True))
        result: dict[str, Any] = orjson.loads(answer.body)
        return result

    def _named(self, rows: Handle, texts: Mapping[str, str]) -> dict[str, str]:
        """The ids of the records that a row names."""
        named: dict[str, str] = {}
        for name, find in _FINDING.items():
            if called := texts.get(name):
                named[name] = self._other(rows, name, called, find)
        if called := texts.get(SITE):
            named[SITE] = _only(
                SITE,
                called,
                _by_reference(rows, "site", called)
                or store.find_of_customer(rows, "site", named.get(CUSTOMER, ""), called),
            )
        return named

    def _other(self, rows: Handle, name: str, called: str, find: Callable[[Handle, str], Sequence[str]]) -> str:
        known = self._others.get((name, called))
        if known is None:
            known = self._others[name, called] = _only(name, called, find(rows, called))
        return known

    def _known(self, rows: Handle, texts: Mapping[str, str], customer: str | None) -> str | None:
        """The record that a row is about, if one is known by what it is called."""
        found: Sequence[str] = ()
        name, code = texts.get("name"), texts.get(CODE)
        # What was added by hand has no reference yet: what the file calls it from now on becomes it.
        without_reference = REFERENCE in texts
        if code:
            found = store.find_coded(rows, code, without_reference=without_reference)
        elif name and self.kind.by_name:
            found = store.find_called(rows, self.kind.table, name, without_reference=without_reference)
        elif name and customer and not without_reference:
            found = store.find_of_customer(rows, self.kind.table, customer, name)
        return _only("name", name or "", found) if found else None

    def _label(self, name: str) -> str:
        """What people call a field: the heading of its column, as the page offers it."""
        labels = {column.field: column.label for column in self.kind.columns}
        plain = name.rstrip(".0123456789") if name not in labels else name
        return labels.get(plain) or words_of(plain.rpartition(".")[2].removesuffix("Id"))


def _asked_once(standing: StandingNow) -> StandingNow:
    known: dict[Actor, Actor] = {}

    def stands(rows: Handle, actor: Actor) -> Actor:
        if actor not in known:
            known[actor] = standing(rows, actor)
        return known[actor]

    return stands


def _named_in(table: str) -> Callable[[Handle, str], Sequence[str]]:
    """What finds a record by its reference or, if none has that, by its name."""
    return lambda rows, called: _by_reference(rows, table, called) or store.find_called(rows, table, called)


def _by_reference(rows: Handle, table: str, reference: str) -> list[str]:
    found = store.find_by_reference(rows, table, reference)
    return [found] if found else []


def _only(name: str, called: str, found: Sequence[str]) -> str:
    if not found:
        raise Invalid(
            [Fault(name, f"is not known here: {shortly(called)}. Bring it over first, or look how it is written")]
        )
    if len(found) > 1:
        raise Invalid([Fault(name, f"is that of several: {shortly(called)}. Use references to tell them apart")])
    return found[0]


def _the_same(before: int, *, given: bool) -> str:
    if given:
        return f"is the same as in row {before}"
    return f"is missing, and the row is about the same as row {before}. Add a column of references if both are meant"


def _merged(what: str, before: int) -> str:
    return f"leads to the same {what} as that of row {before}: the two were merged here. Leave one of the rows out"


def _is_about(name: str, faults: Sequence[Fault]) -> bool:
    """Whether it was told that a field, a part of it, or the whole that it is a part of is wrong.

    A site is one of its customer's: without that, nobody knows which is meant.
    """
    wrong = {f"{fault.field}." for fault in faults}
    if f"{CUSTOMER}." in wrong:
        wrong.add(f"{SITE}.")
    return any(field.startswith(f"{name}.") or f"{name}.".startswith(field) for field in wrong)


def _different(current: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """What a row would change; parts of an address that it does not tell stay."""
    different = {}
    for name, value in values.items():
        whole = {**(current.get(name) or {}), **value} if isinstance(value, dict) else value
        if whole != current.get(name):
            told = (
                {part: text for part, text in whole.items() if text is not None} if isinstance(whole, dict) else whole
            )
            different[name] = told
    return different


def _chunks(rows: Rows) -> Iterator[Rows]:
    coming = iter(rows)
    while chunk := list(islice(coming, _CHUNK)):
        yield chunk


# How a record is found that a row names, whatever else the row says.
_FINDING: Mapping[str, Callable[[Handle, str], Sequence[str]]] = {
    CUSTOMER: _named_in("customer"),
    SUPPLIER: _named_in("supplier"),
    TAX_RATE: store.find_rates,
}
