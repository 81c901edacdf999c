"""An organisation as SQL text: copies of it are made at once.

Every test that uses a database waits for an organisation, and the operations that make one take some seventy
statements. A copy has ids and a moment of its own, and its audit trail is a valid chain.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from mainstay.infrastructure import audit_chain
from mainstay.infrastructure.database import DatabaseHandle, Value
from mainstay.infrastructure.row_hashes import find_row, hash_content, hashed_columns_of, read_rows
from mainstay.infrastructure.schema import SchemaTable, read_tables
from mainstay.values.ids import new_id

_ID = r"[a-z]+_[0-9A-Z]{26}"


@dataclass(frozen=True)
class OrganisationTemplate:
    """The parts that are the same in every copy, and between them those that differ."""

    # In both, every second part is replaced.
    script: list[str]
    trail: list[str]
    # The ids, in their order, and the hashes of the trail, in its.
    ids: list[str]
    trail_hashes: list[str]
    # By its hash, what is hashed of each row.
    rows: dict[str, list[str]]

    @classmethod
    def from_rows(cls, db: DatabaseHandle, engine: str, *replaced_names: str) -> "OrganisationTemplate":
        """Make a template of the organisation of this database handle; these names are replaced too."""
        script = "".join(_make_insert(db, table) for table in read_tables(db, engine))
        trail = db.all(
            f"SELECT {audit_chain.ENTRY_COLUMNS}, hash FROM audit WHERE organisation_id = :organisation"
            " ORDER BY sequence"
        )
        links = [str(link) for *_, link in trail]
        contents = {hash_content(content): content.decode() for content in _read_hashed_contents(db)}
        pattern = re.compile("(" + "|".join((_ID, *map(re.escape, (*replaced_names, *links, *contents)))) + ")")
        ids = sorted(set(re.findall(_ID, script)), key=lambda one: one.rpartition("_")[2])
        acts_json = orjson.dumps([kept for *kept, _ in trail]).decode()
        parts = {hash_: pattern.split(content) for hash_, content in contents.items()}
        return cls(pattern.split(script), pattern.split(acts_json), ids, links, parts)

    def make_script(self, replacements: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Return the SQL of a copy, and all replacements; ids without a replacement get a new one."""
        replacements = {one: new_id(one.rpartition("_")[0]) for one in self.ids} | replacements
        replacements |= {
            hash_: hash_content(_fill_parts(parts, replacements).encode()) for hash_, parts in self.rows.items()
        }
        previous = audit_chain.INITIAL_HASH
        for link, kept in zip(self.trail_hashes, orjson.loads(_fill_parts(self.trail, replacements)), strict=True):
            previous = replacements[link] = audit_chain.hash_entry(previous, kept)
        return _fill_parts(self.script, replacements), replacements


def _read_hashed_contents(db: DatabaseHandle) -> Iterator[bytes]:
    """Read the hashed content of each row of the organisation."""
    found = db.all("SELECT DISTINCT record_id FROM audit_record WHERE organisation_id = :organisation")
    for (name,) in found:
        table, key = find_row(str(name)) or ("", "")
        columns = hashed_columns_of(db, table)
        yield from map(columns.content_of, read_rows(db, table, columns, [key]).values())


def _fill_parts(parts: list[str], replacements: dict[str, str]) -> str:
    return "".join([replacements.get(part, part) for part in parts])


def _make_insert(db: DatabaseHandle, table: SchemaTable) -> str:
    """Make the statement that writes the organisation's rows of a table; empty if it has none."""
    owner_column = "id" if table.name == "organisation" else "organisation_id"
    if owner_column not in table.columns:
        return ""
    columns, key = ", ".join(table.columns), ", ".join(table.key)
    found = db.all(f"SELECT {columns} FROM {table.name} WHERE {owner_column} = :organisation ORDER BY {key}")
    values = ", ".join(f"({', '.join(map(_to_sql_literal, row))})" for row in found)
    return f"INSERT INTO {table.name} ({columns}) VALUES {values};\n" if found else ""


def _to_sql_literal(value: Value) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)
