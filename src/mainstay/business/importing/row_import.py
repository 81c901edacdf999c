"""Imports the rows of a file by the same operations as everyone uses, or finds out what would happen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import orjson

from mainstay.backing.database import Handle
from mainstay.business.importing import store
from mainstay.business.importing.amounts import AmountFormat
from mainstay.business.importing.lines import reference_of, shortly, texts_of, told_with, values_of
from mainstay.business.importing.model import (
    CODE,
    CUSTOMER,
    NAMES_ANOTHER,
    REFERENCE,
    SITE,
    SUPPLIER,
    TAX_RATE,
    Kind,
)
from mainstay.business.importing.run import Outcome, RecordChange, RowFault
from mainstay.business.importing.steps import Pace
from mainstay.kernel.context import Envelope
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Stage, StandingNow
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Fault, Invalid, Refusal
from mainstay.values.words import folded, words_of

Rows = Sequence[tuple[int, Sequence[str]]]

_ANYTHING = "-"


class RowRefused(Exception):
    """A row cannot be imported, though nothing was wrong with it when it was checked."""

    def __init__(self, fault: RowFault) -> None:
        super().__init__(fault.problem)
        self.fault = fault


@dataclass
class RowImporter:
    """Imports the rows of one file for one person."""

    actor: Actor
    kind: Kind
    mapping: Mapping[str, int]
    # By which the audit trail knows what this import did.
    request: str
    amounts: AmountFormat = field(default_factory=AmountFormat)
    outcome: Outcome = field(default_factory=Outcome)
    # In which row a reference or a record was seen.
    _seen: dict[str, int] = field(default_factory=dict)
    # The ids of other records by what rows call them. Kept for one step only: others may change them between two.
    _others: dict[tuple[str, str], str] = field(default_factory=dict)
    # The ids of a customer's sites or contacts by their folded names, and those that were read in this step.
    _names: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)
    _read: set[tuple[str, str]] = field(default_factory=set)

    def check(self, stage: Stage, rows: Rows, pace: Pace, report: Callable[[int], None]) -> Outcome:
        """Find out what would become of the rows: they are imported, and every step is rolled back."""
        done = 0
        self._ask_for_signs()
        while done < len(rows):
            with stage.together(self.actor.organisation, keep=False) as step:
                self._begin_step()
                for number, cells in pace.limit(islice(rows, done, None)):
                    faults, change = self._try(step, number, texts_of(cells, self.mapping))
                    self.outcome.faults += [self._row_fault(number, fault) for fault in faults]
                    if not faults:
                        self.outcome.count(change)
                    done += 1
            report(done)
            if done < len(rows):
                pace.pause()
        return self.outcome

    def _ask_for_signs(self) -> None:
        """Let a column whose amounts may mean two things be a fault, once."""
        for name, (row, example) in self.amounts.unclear.items():
            self.outcome.unclear.append(name)
            problem = f"may have a dot or a comma as its decimal sign ({example}): choose it below"
            self.outcome.faults.append(self._row_fault(row, Fault(name, problem)))

    def import_some(self, step: Stage, rows: Iterator[tuple[int, Sequence[str]]]) -> Iterator[RecordChange | None]:
        """Import rows within a step; what each did. The first that is refused ends the step."""
        self._begin_step()
        # Nobody else changes anything during a step: what the person may do is read once.
        step = replace(step, standing=_read_once(step.standing))
        for number, cells in rows:
            faults, change = self._try(step, number, texts_of(cells, self.mapping))
            if faults:
                raise RowRefused(self._row_fault(number, faults[0]))
            self.outcome.count(change)
            yield change

    def skip(self, rows: Handle, done: Rows) -> None:
        """Know the rows that were imported before an interruption, as if they had just been."""
        for number, cells in done:
            texts = texts_of(cells, self.mapping)
            reference = reference_of(self.kind, texts)
            known = _by_reference(rows, self.kind.table, reference)
            self._if_twice(number, reference, texts, known)

    def _begin_step(self) -> None:
        self._others.clear()
        self._read.clear()
        # A customer may have thousands of sites. They are not read again for each step in which jobs name them.
        self._names = {of: names for of, names in self._names.items() if of[0] != self.kind.table}

    def _try(self, stage: Stage, number: int, texts: Mapping[str, str]) -> tuple[list[Fault], RecordChange | None]:
        """Import one row; or else return all that is wrong with it.

        It is tried once more without what is wrong, until that tells nothing new: whoever corrects the file is told
        everything at once. Nothing of such a row is ever kept.
        """
        reference = reference_of(self.kind, texts)
        with stage.database.reading(self.actor.organisation) as rows:
            known = _by_reference(rows, self.kind.table, reference)
        told = self._if_twice(number, reference, texts, known)
        if _is_about(CODE, told):
            texts = self._mended(texts, told)
        while True:
            try:
                return told, self._import(stage, number, reference, known, texts)
            except Invalid as invalid:
                told += [told_with(texts, fault) for fault in invalid.faults if not _is_about(fault.field, told)]
            except Refusal as refusal:
                return [*told, Fault("", refusal.text)], None
            right = self._mended(texts, told)
            if right == texts:
                return told, None
            texts = right

    def _mended(self, texts: Mapping[str, str], told: Sequence[Fault]) -> dict[str, str]:
        """A row without what is wrong with it; what must be called something is called anything."""
        needed = [one.field for one in self.kind.columns if one.required and one.field not in NAMES_ANOTHER]
        right = {name: text for name, text in texts.items() if not _is_about(name, told)}
        return right | {name: _ANYTHING for name in needed if _is_about(name, told)}

    def _if_twice(self, number: int, reference: str, texts: Mapping[str, str], known: Sequence[str]) -> list[Fault]:
        """Return what is wrong with a row that is about the same record as another one before it."""
        before = self._seen.setdefault(reference, number)
        if before != number:
            return [Fault(REFERENCE, _the_same(before, given=REFERENCE in texts))]
        if code := texts.get(CODE):
            before = self._seen.setdefault(f"code {code.upper()}", number)
            if before != number:
                return [Fault(CODE, f"is the same as in row {before}")]
        same = [self._seen.setdefault(identity, number) for identity in known]
        return [Fault(REFERENCE, _merged(self.kind.what, before)) for before in same if before != number]

    def _import(
        self, stage: Stage, number: int, reference: str, referred: Sequence[str], texts: Mapping[str, str]
    ) -> RecordChange | None:
        """Make a new record, or change what is different of a known one: known by its reference, or else its name."""
        values = values_of(texts, self.amounts)
        with stage.database.reading(self.actor.organisation) as rows:
            values |= self._named(rows, texts)
            known = referred[0] if referred else self._known(rows, texts, values.get(CUSTOMER))
        if known is None:
            made = self._perform(stage, self.kind.makes, {**values, **self.kind.of_new, REFERENCE: reference})
            self._note_name(made)
            return RecordChange(number, made["id"], made["version"], None)
        if referred:
            # It may be that of a customer who was merged into this one, which has its own.
            values.pop(REFERENCE, None)
        current = self._perform(stage, self.kind.gets, {self.kind.id_field: known})
        if CUSTOMER in values and self.kind.name != "customers" and current[CUSTOMER] != values[CUSTOMER]:
            raise Invalid([Fault(CUSTOMER, f"is another one than that of the {self.kind.what} here")])
        changes = _different(current, {name: values[name] for name in values.keys() - self.kind.only_new})
        if not changes:
            return None
        after = self._perform(stage, self.kind.changes, {self.kind.id_field: known, **changes})
        if after.get("name") != current.get("name"):
            self._names.clear()
            self._read.clear()
        if after["version"] == current["version"]:
            return None
        return RecordChange(number, known, after["version"], _previous(current, changes))

    def _perform(self, stage: Stage, operation: Operation, given: Mapping[str, object]) -> dict[str, Any]:
        answer = stage.perform(operation, self.actor, orjson.dumps(dict(given)), Envelope(self.request, bare=True))
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
                _by_reference(rows, "site", called) or self._of_customer(rows, "site", named.get(CUSTOMER, ""), called),
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
            found = self._of_customer(rows, self.kind.table, customer, name)
        return _only("name", name or "", found) if found else None

    def _of_customer(self, rows: Handle, table: str, customer: str, name: str) -> Sequence[str]:
        """Return a customer's sites or contacts that are called exactly so, but for case and accents."""
        of = (table, customer)
        found = self._names.get(of, {}).get(folded(name), ())
        if not found and of not in self._read:
            self._names[of] = store.find_names_of_customer(rows, table, customer)
            self._read.add(of)
            found = self._names[of].get(folded(name), ())
        return found

    def _note_name(self, made: Mapping[str, Any]) -> None:
        names = self._names.get((self.kind.table, made.get(CUSTOMER, "")))
        if names is not None:
            names.setdefault(folded(made["name"]), []).append(made["id"])

    def _row_fault(self, row: int, fault: Fault) -> RowFault:
        return RowFault(row, self._label(fault.field), fault.problem)

    def _label(self, name: str) -> str:
        """What people call a field: the heading of its column, as the page offers it."""
        labels = {column.field: column.label for column in self.kind.columns}
        plain = name.rstrip(".0123456789") if name not in labels else name
        return labels.get(plain) or words_of(plain.rpartition(".")[2].removesuffix("Id"))


def _read_once(standing: StandingNow) -> StandingNow:
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


def _previous(current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an operation takes to change a record back."""
    previous = {}
    for name in changes:
        value = current.get(name)
        if name in current.get("fromParts", ()):
            # The price of a kit that follows its parts: it does so again without one of its own.
            value = None
        if isinstance(value, dict):
            value = {part: text for part, text in value.items() if text is not None}
        previous[name] = value
    return previous


# How a record is found that a row names, whatever else the row says.
_FINDING: Mapping[str, Callable[[Handle, str], Sequence[str]]] = {
    CUSTOMER: _named_in("customer"),
    SUPPLIER: _named_in("supplier"),
    TAX_RATE: store.find_rates,
}
