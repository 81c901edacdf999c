"""Read the objects of a schema, such as tables and triggers, to compare them with what the migrations create."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mainstay.infrastructure.database import DatabaseHandle


class SchemaObject(NamedTuple):
    """Something that a migration creates: its kind, the table it belongs to, and its name."""

    kind: str
    table: str
    name: str


def read_schema_objects(db: DatabaseHandle) -> Mapping[SchemaObject, str]:
    """Return the objects of the current schema, each with its definition on one line."""
    schema = db.one("SELECT CAST(current_schema() AS text)") if db.engine == "postgresql" else None
    prefix = f"{schema[0]}." if schema else "\0"
    normalise = normalise_statement if db.engine == "sqlite" else _collapse_spaces
    return {
        SchemaObject(str(kind), str(table), str(name)): normalise(str(definition).replace(prefix, ""))
        for kind, table, name, definition in db.all(_OBJECT_QUERIES[db.engine])
    }


def normalise_statement(sql: str) -> str:
    """Return a CREATE statement as SQLite would have stored it if the whole object had been created at once.

    SQLite stores the text of a statement. `ALTER TABLE` appends columns behind the constraints and quotes names, and
    comments stay in it: none of these is a difference of the schema.
    """
    tokens = [plain or (quoted if quoted[0] == "'" else quoted[1:-1]) for quoted, plain in _TOKEN.findall(sql)]
    words = [token if token.startswith("'") else token.lower() for token in tokens if not token.startswith("--")]
    if words[:2] == ["create", "table"]:
        words = _put_constraints_last(words)
    return " ".join(words).replace("( ", "(").replace(" )", ")").replace(" ,", ",")


_TOKEN = re.compile(r"""('(?:[^']|'')*'|"[^"]*")|(--[^\n]*|\w+|[<>=!|]+|[^\s\w])""")
_CONSTRAINT_WORDS = {"constraint", "primary", "foreign", "unique", "check"}


def _put_constraints_last(words: Sequence[str]) -> list[str]:
    """Put the columns of a table, each in its place, before its constraints."""
    begins, ends = words.index("("), len(words) - words[::-1].index(")") - 1
    parts = sorted(_split_at_commas(words[begins + 1 : ends]), key=lambda part: part[0] in _CONSTRAINT_WORDS)
    inner = [word for part in parts for word in (",", *part)]
    return [*words[: begins + 1], *inner[1:], *words[ends:]]


def _split_at_commas(words: Sequence[str]) -> Iterator[list[str]]:
    """Split at the commas that are in no parentheses."""
    depth, part = 0, list[str]()
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _collapse_spaces(definition: str) -> str:
    return " ".join(definition.split())


_IN_SCHEMA = "relnamespace = current_schema()::regnamespace"
_OBJECT_QUERIES = {
    "sqlite": "SELECT type, tbl_name, name, sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'",
    "postgresql": f"""
SELECT 'table', c.relname, c.relname, concat_ws(' ',
    CASE WHEN c.relrowsecurity THEN 'ROW LEVEL SECURITY' END,
    CASE WHEN c.relforcerowsecurity THEN 'FORCED' END)
FROM pg_class AS c WHERE c.relkind = 'r' AND c.{_IN_SCHEMA}
UNION ALL
SELECT 'view', c.relname, c.relname, pg_get_viewdef(c.oid) FROM pg_class AS c WHERE c.relkind = 'v' AND c.{_IN_SCHEMA}
UNION ALL
SELECT 'column', c.relname, c.relname || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attcollation <> t.typcollation THEN 'COLLATE ' || l.collname END,
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relkind = 'r' AND c.{_IN_SCHEMA}
UNION ALL
SELECT 'index', c.relname, i.relname,
    pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END
FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
WHERE c.relkind = 'r' AND c.{_IN_SCHEMA}
UNION ALL
SELECT 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
WHERE c.relkind = 'r' AND k.contype <> 'n' AND c.{_IN_SCHEMA}
UNION ALL
SELECT 'trigger', c.relname, g.tgname,
    pg_get_triggerdef(g.oid) || CASE g.tgenabled WHEN 'O' THEN '' ELSE ' DISABLED' END
FROM pg_trigger AS g JOIN pg_class AS c ON c.oid = g.tgrelid WHERE NOT g.tgisinternal AND c.{_IN_SCHEMA}
UNION ALL
SELECT 'policy', c.relname, c.relname || '.' || p.polname, concat_ws(' ', p.polpermissive, p.polcmd, p.polroles::text,
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid WHERE c.{_IN_SCHEMA}
UNION ALL
SELECT 'function', '', f.proname, f.prosrc FROM pg_proc AS f WHERE f.pronamespace = current_schema()::regnamespace
""",
}
