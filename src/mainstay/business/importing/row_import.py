"""Imports the rows of a file with the normal operations, or checks what would happen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

import orjson

from mainstay.business.importing import store
from mainstay.business.importing.amounts import AmountFormat
from mainstay.business.importing.import_model import ImportOutcome, RecordChange, RowFault
from mainstay.business.importing.record_kinds import (
    CODE_FIELD,
    CUSTOMER_FIELD,
    LINK_FIELDS,
    REFERENCE_FIELD,
    SITE_FIELD,
    SUPPLIER_FIELD,
    TAX_RATE_FIELD,
    ImportKind,
)
from mainstay.business.importing.row_inputs import add_cell_text, reference_of, shorten, texts_of, to_values
from mainstay.business.importing.steps import Pace
from mainstay.infrastructure.database import DatabaseHandle
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer, RereadActor
from mainstay.values.choices import fold_text, to_label
from mainstay.values.message import Message
from mainstay.values.stored_message import dump_message
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal

FileRows = Sequence[tuple[int, Sequence[str]]]

_PLACEHOLDER = "-"


class RowRefused(Exception):
    """A row cannot be imported, although the check found no fault."""

    def __init__(self, fault: RowFault) -> None:
        super().__init__(fault.problem)
        self.fault = fault


@dataclass
class RowImporter:
    """Imports the rows of one file for one person."""

    actor: Actor
    kind: ImportKind
    mapping: Mapping[str, int]
    # The request id under which the audit trail records this import.
    request_id: str
    amounts: AmountFormat = field(default_factory=AmountFormat)
    outcome: ImportOutcome = field(default_factory=ImportOutcome)
    # The first row with each reference, `code` and code, and record id.
    _first_rows: dict[str, int] = field(default_factory=dict)
    # The ids of linked records by field and text. Kept for one step only, because others may change them in between.
    _linked_ids: dict[tuple[str, str], str] = field(default_factory=dict)
    # For a table and a customer: the ids of the customer's sites or contacts by folded name.
    _ids_by_name: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)
    # For which tables and customers these were read in this step.
    _read_this_step: set[tuple[str, str]] = field(default_factory=set)

    def check_rows(
        self, performer: Performer, rows: FileRows, pace: Pace, report: Callable[[int], None]
    ) -> ImportOutcome:
        """Check the rows by importing them and rolling every step back."""
        done = 0
        self._report_ambiguous_columns()
        while done < len(rows):
            with performer.open_batch(self.actor.organisation, commit=False) as step_performer:
                self._begin_step()
                for number, cells in pace.limit(islice(rows, done, None)):
                    faults, change = self._try_row(step_performer, number, texts_of(cells, self.mapping))
                    self.outcome.faults += [self._to_row_fault(number, fault) for fault in faults]
                    if not faults:
                        self.outcome.count(change)
                    done += 1
            report(done)
            if done < len(rows):
                pace.pause()
        return self.outcome

    def _report_ambiguous_columns(self) -> None:
        """Add one fault for each column whose amounts can be read in two ways."""
        for name, (row, example) in self.amounts.ambiguous_columns.items():
            self.outcome.ambiguous.append(name)
            problem = Message(
                "can be read with a decimal point or a decimal comma ({example}); choose below", example=example
            )
            self.outcome.faults.append(self._to_row_fault(row, Fault(name, problem)))

    def import_rows(
        self, step_performer: Performer, rows: Iterator[tuple[int, Sequence[str]]]
    ) -> Iterator[RecordChange | None]:
        """Import rows within a step, and yield the change of each. The first refused row ends the step."""
        self._begin_step()
        # Nobody else changes anything during a step, so the person's permissions are read once.
        cached_performer = replace(step_performer, reread_actor=_cache_actors(step_performer.reread_actor))
        for number, cells in rows:
            faults, change = self._try_row(cached_performer, number, texts_of(cells, self.mapping))
            if faults:
                raise RowRefused(self._to_row_fault(number, faults[0]))
            self.outcome.count(change)
            yield change

    def remember_imported(self, db: DatabaseHandle, rows: FileRows) -> None:
        """Remember the rows that were imported before an interruption, so that duplicates of them are found."""
        for number, cells in rows:
            texts = texts_of(cells, self.mapping)
            reference = reference_of(self.kind, texts)
            referenced_ids = _find_by_reference(db, self.kind.table, reference)
            self._remember_row(number, reference, texts, referenced_ids)

    def _begin_step(self) -> None:
        self._linked_ids.clear()
        self._read_this_step.clear()
        # The names of other kinds are kept: a customer may have thousands of sites that jobs name in each step.
        self._ids_by_name = {key: ids for key, ids in self._ids_by_name.items() if key[0] != self.kind.table}

    def _try_row(
        self, performer: Performer, number: int, texts: Mapping[str, str]
    ) -> tuple[list[Fault], RecordChange | None]:
        """Import one row, or return all its faults.

        A row with faults is tried again without the faulty cells, until no new fault appears. So the person who
        corrects the file sees all faults at once. Nothing of such a row is kept.
        """
        reference = reference_of(self.kind, texts)
        with performer.database.read_transaction(self.actor.organisation) as db:
            referenced_ids = _find_by_reference(db, self.kind.table, reference)
        faults = self._remember_row(number, reference, texts, referenced_ids)
        if _has_fault(CODE_FIELD, faults):
            texts = self._without_faulty_cells(texts, faults)
        while True:
            try:
                return faults, self._import_row(performer, number, reference, referenced_ids, texts)
            except Invalid as invalid:
                faults += [
                    add_cell_text(texts, fault) for fault in invalid.faults if not _has_fault(fault.field, faults)
                ]
            except Refusal as refusal:
                return [*faults, Fault("", refusal.message)], None
            remaining = self._without_faulty_cells(texts, faults)
            if remaining == texts:
                return faults, None
            texts = remaining

    def _without_faulty_cells(self, texts: Mapping[str, str], faults: Sequence[Fault]) -> dict[str, str]:
        """Return a row without its faulty cells. Required fields get a placeholder."""
        required = [one.field for one in self.kind.columns if one.required and one.field not in LINK_FIELDS]
        remaining = {name: text for name, text in texts.items() if not _has_fault(name, faults)}
        return remaining | {name: _PLACEHOLDER for name in required if _has_fault(name, faults)}

    def _remember_row(
        self, number: int, reference: str, texts: Mapping[str, str], referenced_ids: Sequence[str]
    ) -> list[Fault]:
        """Remember which record a row is about, and return its faults if an earlier row is about the same record."""
        first_row = self._first_rows.setdefault(reference, number)
        if first_row != number:
            return [Fault(REFERENCE_FIELD, _describe_duplicate(first_row, has_reference=REFERENCE_FIELD in texts))]
        if code := texts.get(CODE_FIELD):
            first_row = self._first_rows.setdefault(f"code {code.upper()}", number)
            if first_row != number:
                return [Fault(CODE_FIELD, Message("is the same as in row {row}", row=first_row))]
        earlier_rows = [self._first_rows.setdefault(record_id, number) for record_id in referenced_ids]
        return [
            Fault(REFERENCE_FIELD, _describe_merged(self.kind.record_kind.label, first_row))
            for first_row in earlier_rows
            if first_row != number
        ]

    def _import_row(
        self, performer: Performer, number: int, reference: str, referenced_ids: Sequence[str], texts: Mapping[str, str]
    ) -> RecordChange | None:
        """Create a record, or update the existing one with this reference or else this name."""
        values = to_values(texts, self.amounts)
        with performer.database.read_transaction(self.actor.organisation) as db:
            values |= self._find_linked_ids(db, texts)
            # The customer of some records is that of their site. Then it only helped to find the site.
            values = {name: value for name, value in values.items() if name in self.kind.input_names}
            record_id = (
                referenced_ids[0] if referenced_ids else self._find_existing(db, texts, values.get(CUSTOMER_FIELD))
            )
        if record_id is None:
            created = self._perform(
                performer, self.kind.create_operation, {**values, **self.kind.create_values, REFERENCE_FIELD: reference}
            )
            self._remember_name(created)
            return RecordChange(number, created["id"], created["version"], None)
        if referenced_ids:
            # It may be the reference of a customer who was merged into this one. This one keeps its own reference.
            values.pop(REFERENCE_FIELD, None)
        current = self._perform(performer, self.kind.get_operation, {self.kind.id_field: record_id})
        if (
            CUSTOMER_FIELD in values
            and self.kind.name != "customers"
            and current[CUSTOMER_FIELD] != values[CUSTOMER_FIELD]
        ):
            problem = Message("is not the customer of this {record}", record=self.kind.record_kind.label)
            raise Invalid([Fault(CUSTOMER_FIELD, problem)])
        changes = _find_differences(
            current, {name: values[name] for name in values.keys() - self.kind.create_only_fields}
        )
        if not changes:
            return None
        after = self._perform(performer, self.kind.update_operation, {self.kind.id_field: record_id, **changes})
        if after.get("name") != current.get("name"):
            self._ids_by_name.clear()
            self._read_this_step.clear()
        if after["version"] == current["version"]:
            return None
        return RecordChange(number, record_id, after["version"], _to_previous_values(current, changes))

    def _perform(self, performer: Performer, operation: Operation, values: Mapping[str, object]) -> dict[str, Any]:
        answer = performer.perform(
            operation, self.actor, orjson.dumps(dict(values)), RequestDetails(self.request_id, record_only=True)
        )
        result: dict[str, Any] = orjson.loads(answer.body)
        return result

    def _find_linked_ids(self, db: DatabaseHandle, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the ids of the other records that a row names, by field."""
        linked_ids: dict[str, str] = {}
        for name, find in _FINDERS.items():
            if text := texts.get(name):
                linked_ids[name] = self._find_linked_id(db, name, text, find)
        if text := texts.get(SITE_FIELD):
            linked_ids[SITE_FIELD] = _require_one(
                SITE_FIELD,
                text,
                _find_by_reference(db, "site", text)
                or self._find_ids_of_customer(db, "site", linked_ids.get(CUSTOMER_FIELD, ""), text),
            )
        return linked_ids

    def _find_linked_id(
        self, db: DatabaseHandle, name: str, text: str, find: Callable[[DatabaseHandle, str], Sequence[str]]
    ) -> str:
        linked_id = self._linked_ids.get((name, text))
        if linked_id is None:
            linked_id = self._linked_ids[name, text] = _require_one(name, text, find(db, text))
        return linked_id

    def _find_existing(self, db: DatabaseHandle, texts: Mapping[str, str], customer_id: str | None) -> str | None:
        """Return the id of the existing record with the code or the name in a row, or None."""
        ids: Sequence[str] = ()
        name, code = texts.get("name"), texts.get(CODE_FIELD)
        # If the row has a reference, it can mean a record that has none yet because it was added by hand.
        only_without_reference = REFERENCE_FIELD in texts
        if code:
            ids = store.find_by_code(db, code, only_without_reference=only_without_reference)
        elif name and self.kind.is_unique_by_name:
            ids = store.find_ids_with_name(db, self.kind.table, name, only_without_reference=only_without_reference)
        elif name and customer_id and not only_without_reference:
            ids = self._find_ids_of_customer(db, self.kind.table, customer_id, name)
        return _require_one("name", name or "", ids) if ids else None

    def _find_ids_of_customer(self, db: DatabaseHandle, table: str, customer_id: str, name: str) -> Sequence[str]:
        """Return the ids of a customer's sites or contacts with this name, regardless of case and accents."""
        key = (table, customer_id)
        ids = self._ids_by_name.get(key, {}).get(fold_text(name), ())
        if not ids and key not in self._read_this_step:
            self._ids_by_name[key] = store.map_names_to_ids(db, table, customer_id)
            self._read_this_step.add(key)
            ids = self._ids_by_name[key].get(fold_text(name), ())
        return ids

    def _remember_name(self, created: Mapping[str, Any]) -> None:
        ids_by_name = self._ids_by_name.get((self.kind.table, created.get(CUSTOMER_FIELD, "")))
        if ids_by_name is not None:
            ids_by_name.setdefault(fold_text(created["name"]), []).append(created["id"])

    def _to_row_fault(self, row: int, fault: Fault) -> RowFault:
        return RowFault(row, self._label_of(fault.field), dump_message(fault.message))

    def _label_of(self, name: str) -> str:
        """Return the label of the column for a field, also for one within a list, such as `tags.0`."""
        labels = {column.field: column.label for column in self.kind.columns}
        base_name = name.rstrip(".0123456789") if name not in labels else name
        return labels.get(base_name) or to_label(base_name.rpartition(".")[2].removesuffix("Id"))


def _cache_actors(reread_actor: RereadActor) -> RereadActor:
    cache: dict[Actor, Actor] = {}

    def reread_cached(db: DatabaseHandle, actor: Actor, now: datetime) -> Actor:
        if actor not in cache:
            cache[actor] = reread_actor(db, actor, now)
        return cache[actor]

    return reread_cached


def _make_finder(table: str) -> Callable[[DatabaseHandle, str], Sequence[str]]:
    """Return a function that finds records by reference or, if none has it, by name."""
    return lambda db, text: _find_by_reference(db, table, text) or store.find_ids_with_name(db, table, text)


def _find_by_reference(db: DatabaseHandle, table: str, reference: str) -> list[str]:
    """Return a list with the id of the record that has this reference, or an empty one."""
    record_id = store.find_by_reference(db, table, reference)
    return [record_id] if record_id else []


def _require_one(name: str, text: str, ids: Sequence[str]) -> str:
    """Return the only id that was found for the text of a field. Raise Invalid if there is none or several."""
    if not ids:
        raise Invalid(
            [Fault(name, Message("was not found: {text}. Import it first, or check the spelling", text=shorten(text)))]
        )
    if len(ids) > 1:
        problem = Message("matches several records: {text}. Use external IDs to tell them apart", text=shorten(text))
        raise Invalid([Fault(name, problem)])
    return ids[0]


def _describe_duplicate(row: int, *, has_reference: bool) -> Message:
    if has_reference:
        return Message("is the same as in row {row}", row=row)
    return Message("is missing, and row {row} looks the same. Add external IDs if they are different records", row=row)


def _describe_merged(what: str, row: int) -> Message:
    return Message(
        "is now the same {record} as in row {row}, because they were merged. Remove one of the rows",
        record=what,
        row=row,
    )


def _has_fault(name: str, faults: Sequence[Fault]) -> bool:
    """Return whether a field, a part of it, or the field that it is a part of has a fault.

    A faulty customer makes the site faulty too, because a site is looked up among the sites of its customer.
    """
    prefixes = {f"{fault.field}." for fault in faults}
    if f"{CUSTOMER_FIELD}." in prefixes:
        prefixes.add(f"{SITE_FIELD}.")
    return any(prefix.startswith(f"{name}.") or f"{name}.".startswith(prefix) for prefix in prefixes)


def _find_differences(current: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a row would change. Parts of an address that are not in the row stay."""
    different = {}
    for name, value in values.items():
        new_value = {**(current.get(name) or {}), **value} if isinstance(value, dict) else value
        if new_value != current.get(name):
            change = (
                {part: text for part, text in new_value.items() if text is not None}
                if isinstance(new_value, dict)
                else new_value
            )
            different[name] = change
    return different


def _to_previous_values(current: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values before the changes, as input that restores the record."""
    previous = {}
    for name in changes:
        value = current.get(name)
        if name in current.get("fromParts", ()):
            # The price of this kit follows from its parts. It does so again when its own price is cleared.
            value = None
        if isinstance(value, dict):
            value = {part: text for part, text in value.items() if text is not None}
        previous[name] = value
    return previous


# How linked records are found that do not depend on other cells of the row.
_FINDERS: Mapping[str, Callable[[DatabaseHandle, str], Sequence[str]]] = {
    CUSTOMER_FIELD: _make_finder("customer"),
    SUPPLIER_FIELD: _make_finder("supplier"),
    TAX_RATE_FIELD: store.find_tax_rates,
}
