"""An organisation that operations have made, as one text of statements: others just like it are made from it at once.

Every test that stands on a database waits for an organisation, and the operations that make one take some seventy
statements. A copy has ids of its own, is of its own moment, and its audit trail is a chain as good as the first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from mainstay.backing import audit_chain
from mainstay.backing.database import Handle, Value
from mainstay.backing.row_hashes import columns_of, find_row, hash_content, read_rows
from mainstay.backing.schema import Table, read_tables
from mainstay.values.ids import new_id

_ID = r"[a-z]+_[0-9A-Z]{26}"


@dataclass(frozen=True)
class Mould:
    """What is the same in every copy, and between it what is another in each."""

    # Every second part of both is exchanged.
    script: list[str]
    trail: list[str]
    # The ids, in their order, and the hashes of the trail, in its.
    ids: list[str]
    links: list[str]
    # By its hash, what is hashed of each row.
    rows: dict[str, list[str]]

    @classmethod
    def of(cls, rows: Handle, engine: str, *named: str) -> "Mould":
        """Take that of the organisation whose rows these are; what is named is exchanged as well."""
        script = "".join(_inserts(rows, table) for table in read_tables(rows, engine))
        trail = rows.all(
            f"SELECT {audit_chain.COLUMNS}, hash FROM audit WHERE organisation_id = :organisation ORDER BY sequence"
        )
        links = [str(link) for *_, link in trail]
        contents = {hash_content(content): content.decode() for content in _hashed(rows)}
        exchanged = re.compile("(" + "|".join((_ID, *map(re.escape, (*named, *links, *contents)))) + ")")
        ids = sorted(set(re.findall(_ID, script)), key=lambda one: one.rpartition("_")[2])
        hashed = orjson.dumps([kept for *kept, _ in trail]).decode()
        parts = {hash_: exchanged.split(content) for hash_, content in contents.items()}
        return cls(exchanged.split(script), exchanged.split(hashed), ids, links, parts)

    def copy(self, known: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The statements that make another, and what stands in it for what: ids that are not known yet are new."""
        known = {one: new_id(one.rpartition("_")[0]) for one in self.ids} | known
        known |= {hash_: hash_content(_filled(parts, known).encode()) for hash_, parts in self.rows.items()}
        previous = audit_chain.START
        for link, kept in zip(self.links, orjson.loads(_filled(self.trail, known)), strict=True):
            previous = known[link] = audit_chain.link(previous, kept)
        return _filled(self.script, known), known


def _hashed(rows: Handle) -> Iterator[bytes]:
    """What is hashed of each row of the organisation."""
    found = rows.all("SELECT DISTINCT record_id FROM audit_record WHERE organisation_id = :organisation")
    for (name,) in found:
        table, key = find_row(str(name)) or ("", "")
        columns = columns_of(rows, table)
        yield from map(columns.content_of, read_rows(rows, table, columns, [key]).values())


def _filled(parts: list[str], known: dict[str, str]) -> str:
    return "".join([known.get(part, part) for part in parts])


def _inserts(rows: Handle, table: Table) -> str:
    """The statement that writes the organisation's rows of a table, if it has any there."""
    whose = "id" if table.name == "organisation" else "organisation_id"
    if whose not in table.columns:
        return ""
    columns, key = ", ".join(table.columns), ", ".join(table.key)
    found = rows.all(f"SELECT {columns} FROM {table.name} WHERE {whose} = :organisation ORDER BY {key}")
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in found)
    return f"INSERT INTO {table.name} ({columns}) VALUES {values};\n" if found else ""


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)
