"""What a schema is made of: tables, indexes, triggers and the like, to be compared with what the migrations make."""

from collections.abc import Mapping
from typing import NamedTuple

from mainstay.backing.database import Handle


class SchemaObject(NamedTuple):
    """Something that a migration makes: its kind, the table it belongs to, and its name."""

    kind: str
    table: str
    name: str


def read_objects(rows: Handle) -> Mapping[SchemaObject, str]:
    """Return what the current schema is made of, each object with its definition on one line."""
    schema = rows.one("SELECT CAST(current_schema() AS text)") if rows.engine == "postgresql" else None
    prefix = f"{schema[0]}." if schema else "\0"
    return {
        SchemaObject(str(kind), str(table), str(name)): " ".join(str(definition).replace(prefix, "").split())
        for kind, table, name, definition in rows.all(_OBJECTS[rows.engine])
    }


_OURS = "relnamespace = current_schema()::regnamespace"
_OBJECTS = {
    "sqlite": "SELECT type, tbl_name, name, sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'",
    "postgresql": f"""
SELECT 'table', c.relname, c.relname, concat_ws(' ',
    CASE WHEN c.relrowsecurity THEN 'ROW LEVEL SECURITY' END,
    CASE WHEN c.relforcerowsecurity THEN 'FORCED' END)
FROM pg_class AS c WHERE c.relkind = 'r' AND c.{_OURS}
UNION ALL
SELECT 'view', c.relname, c.relname, pg_get_viewdef(c.oid) FROM pg_class AS c WHERE c.relkind = 'v' AND c.{_OURS}
UNION ALL
SELECT 'column', c.relname, c.relname || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    CASE WHEN a.attcollation <> t.typcollation THEN 'COLLATE ' || l.collname END,
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relkind = 'r' AND c.{_OURS}
UNION ALL
SELECT 'index', c.relname, i.relname,
    pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END
FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
WHERE c.relkind = 'r' AND c.{_OURS}
UNION ALL
SELECT 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid WHERE c.relkind = 'r' AND c.{_OURS}
UNION ALL
SELECT 'trigger', c.relname, g.tgname,
    pg_get_triggerdef(g.oid) || CASE g.tgenabled WHEN 'O' THEN '' ELSE ' DISABLED' END
FROM pg_trigger AS g JOIN pg_class AS c ON c.oid = g.tgrelid WHERE NOT g.tgisinternal AND c.{_OURS}
UNION ALL
SELECT 'policy', c.relname, c.relname || '.' || p.polname, concat_ws(' ', p.polpermissive, p.polcmd, p.polroles::text,
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid WHERE c.{_OURS}
UNION ALL
SELECT 'function', '', f.proname, f.prosrc FROM pg_proc AS f WHERE f.pronamespace = current_schema()::regnamespace
""",
}
