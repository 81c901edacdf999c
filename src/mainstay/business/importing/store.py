"""Where files that are brought over wait and are worked on, and how the records are found that their rows mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import orjson

from mainstay.backing.database import Handle, Row
from mainstay.business.importing.model import KINDS, OWN_REFERENCE, Kind
from mainstay.business.importing.run import Run, RunStatus
from mainstay.terms.refusal import NotFound
from mainstay.values.ids import new_id
from mainstay.values.moments import moment_text
from mainstay.values.words import folded

# A file is there so long for the one who brought it; what became of its rows stays.
KEPT = timedelta(days=2)
KEPT_INTERRUPTED = timedelta(days=30)
# Of the ids of runs.
PREFIX = "import"


@dataclass(frozen=True, slots=True)
class Fresh:
    """A file as it arrives."""

    kind: Kind
    file_name: str
    remarks: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Columns:
    """What someone says about the columns of a file: which one is which field, and which decimal sign they have."""

    mapping: dict[str, int]
    signs: dict[str, str]


def insert(rows: Handle, fresh: Fresh, now: datetime) -> str:
    """Keep a file, with the columns that its headings tell; the id of the run."""
    identity = new_id(PREFIX)
    rows.run(
        "INSERT INTO import_run (organisation_id, id, person_id, made_at, kind, file_name, remarks, headings, mapping,"
        " status, row_count) VALUES (:organisation, :id, :me, :at, :kind, :name, :remarks, :headings, :mapping,"
        " 'mapping', :row_count)",
        id=identity,
        at=moment_text(now),
        kind=fresh.kind.name,
        name=fresh.file_name,
        remarks=_text(list(fresh.remarks)),
        headings=_text(list(fresh.headings)),
        mapping=_text(fresh.kind.guess(fresh.headings)),
        row_count=len(fresh.rows),
    )
    rows.run(
        "INSERT INTO import_cells (organisation_id, run_id, cells) VALUES (:organisation, :id, :cells)",
        id=identity,
        cells=_text(fresh.rows),
    )
    return identity


def fetch(rows: Handle, identity: str) -> Run:
    """A run of the one who asks."""
    row = rows.one(f"{_RUNS} AND id = :id", id=identity)
    if row is None:
        raise NotFound("import")
    return _run(row)


def recent(rows: Handle, most: int) -> list[Run]:
    """The runs of the one who asks that are still there, the newest first."""
    return [_run(row) for row in rows.all(f"{_RUNS} ORDER BY id DESC LIMIT :most", most=most)]


_RUNS = (
    "SELECT id, made_at, kind, file_name, remarks, headings, mapping, signs, status, result, row_count,"
    " done_rows, attempt FROM import_run"
    " WHERE organisation_id = :organisation AND person_id = :me"
)


def _run(row: Row) -> Run:
    identity, made_at, kind, name, remarks, headings, mapping, signs, status, result, *counts = map(str, row)
    return Run(
        identity,
        made_at,
        KINDS[kind],
        name,
        orjson.loads(remarks),
        orjson.loads(headings),
        orjson.loads(mapping),
        orjson.loads(signs),
        cast("RunStatus", status),
        orjson.loads(result) if row[9] else None,
        *map(int, counts),
    )


def cells(rows: Handle, identity: str) -> list[tuple[int, list[str]]]:
    """The rows of its file."""
    row = rows.one("SELECT cells FROM import_cells WHERE organisation_id = :organisation AND run_id = :id", id=identity)
    return [(number, texts) for number, texts in orjson.loads(str(row[0]))] if row else []


def begin(rows: Handle, run: Run, status: RunStatus, columns: Columns | None = None) -> bool:
    """Begin to work on a run; False if somebody else has done so meanwhile. New columns start it afresh."""
    return bool(
        rows.run(
            "UPDATE import_run SET status = :status, mapping = coalesce(:mapping, mapping),"
            " signs = coalesce(:signs, signs), attempt = attempt + 1,"
            " result = CASE WHEN :mapping IS NULL THEN result END"
            " WHERE organisation_id = :organisation AND id = :id AND status = :was AND attempt = :attempt",
            id=run.id,
            was=run.status,
            attempt=run.attempt,
            status=status,
            mapping=_text(columns.mapping) if columns else None,
            signs=_text(columns.signs) if columns else None,
        )
    )


def advance(rows: Handle, run: Run, status: RunStatus, done_rows: int, result: Mapping[str, Any]) -> bool:
    """Store how far a run is; False if this attempt is no longer the latest, or the run is gone."""
    return bool(
        rows.run(
            "UPDATE import_run SET status = :status, done_rows = :done, result = :result"
            " WHERE organisation_id = :organisation AND id = :id AND attempt = :attempt",
            id=run.id,
            attempt=run.attempt,
            status=status,
            done=done_rows,
            result=_text(result),
        )
    )


def forget_old(rows: Handle, now: datetime) -> None:
    """Remove the files that were imported some days ago, in the whole installation.

    An import that was interrupted is there for longer: it can be continued or undone only from its page.
    """
    old = "made_at <= :before AND (status NOT IN ('importing', 'undoing') OR made_at <= :long_before)"
    moments = {"before": moment_text(now - KEPT), "long_before": moment_text(now - KEPT_INTERRUPTED)}
    of_old = f"(organisation_id, run_id) IN (SELECT organisation_id, id FROM import_run WHERE {old})"
    for table in ("import_change", "import_cells"):
        rows.run(f"DELETE FROM {table} WHERE {of_old}", **moments)
    rows.run(f"DELETE FROM import_run WHERE {old}", **moments)


def find_by_reference(rows: Handle, table: str, reference: str) -> str | None:
    """The record that another system calls this; of a customer that was merged, the one who took over."""
    who = "coalesce(merged_into_id, id)" if table == "customer" else "id"
    row = rows.one(_KNOWN_AS.format(who, table), reference=reference)
    return str(row[0]) if row else None


_KNOWN_AS = "SELECT {} FROM {} WHERE organisation_id = :organisation AND external_ref = :reference"


def find_called(rows: Handle, table: str, name: str, *, without_reference: bool = False) -> list[str]:
    """Those that are called exactly so, but for case and accents; of more than one, two."""
    found = rows.all(
        f"SELECT id FROM {table} WHERE organisation_id = :organisation AND name_folded = :name"
        f" AND {_MEANT[table]}{' AND external_ref IS NULL' if without_reference else ''} ORDER BY id LIMIT 2",
        name=folded(name),
    )
    return [str(row[0]) for row in found]


# Those that a name may mean.
_MEANT = {"customer": "merged_into_id IS NULL", "supplier": "status = 'active'", "price_item": "status = 'active'"}


def find_coded(rows: Handle, code: str, *, without_reference: bool = False) -> list[str]:
    """The item of this code; perhaps only if no other system has a name for it."""
    unnamed = f" AND (external_ref IS NULL OR external_ref LIKE '{OWN_REFERENCE}%')" if without_reference else ""
    row = rows.one(
        f"SELECT id FROM price_item WHERE organisation_id = :organisation AND code = :code{unnamed}", code=code.upper()
    )
    return [str(row[0])] if row else []


def find_rates(rows: Handle, name: str) -> list[str]:
    """The tax rates in use that are called exactly so, but for case and accents."""
    found = rows.all("SELECT id, name FROM tax_rate WHERE organisation_id = :organisation AND status = 'active'")
    return [str(identity) for identity, called in found if folded(str(called)) == folded(name)]


def find_names_of_customer(rows: Handle, table: str, customer: str) -> dict[str, list[str]]:
    """Return the ids of a customer's sites or contacts by their folded names."""
    found: dict[str, list[str]] = {}
    sql = f"SELECT id, name FROM {table} WHERE organisation_id = :organisation AND customer_id = :customer ORDER BY id"
    for identity, name in rows.all(sql, customer=customer):
        found.setdefault(folded(str(name)), []).append(str(identity))
    return found


def _text(value: object) -> str:
    return orjson.dumps(value).decode()
