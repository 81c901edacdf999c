"""Row-level security on PostgreSQL, generated from the schema.

A transaction names its organisation to the server and sees the rows of no other. Every table with a column
`organisation_id` gets a policy for this as soon as a step of the schema has created it. FORCE binds the owner of the
tables too, because the application's role owns them.
"""

from collections.abc import Mapping

from mainstay.infrastructure.database import ALL_ORGANISATIONS, SchemaHandle

# Tables with a column `organisation_id` but no policy, and why: they are read before the organisation is known.
EXEMPT_TABLES: Mapping[str, str] = {
    "api_key": "a request is signed in by the hash of its key",
    "oauth_token": "a request is signed in by the hash of its token",
    "oauth_code": "an app exchanges a code by its hash",
    "session": "a browser is signed in by the hash of its session, perhaps to no organisation yet",
    "one_time_link": "an invitation or a password reset is found by the id in its link",
    "calendar_link": "a calendar is found by the hash of its link",
    "outbox": "the worker takes tasks of all organisations",
}

_UNSECURED_TABLES = """
SELECT CAST(c.relname AS text), CAST(a.attname AS text) FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
AND a.attname = CASE c.relname WHEN 'organisation' THEN 'id' ELSE 'organisation_id' END
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace AND NOT c.relrowsecurity
AND pg_has_role(c.relowner, 'USAGE')
ORDER BY c.relname
"""

_ENABLE_ROW_SECURITY = f"""
ALTER TABLE "{{table}}" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "{{table}}" FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_rows ON "{{table}}";
CREATE POLICY own_rows ON "{{table}}"
USING (current_setting('mainstay.organisation', true) IN ("{{column}}", '{ALL_ORGANISATIONS}'));
"""


def enable_row_security(db: SchemaHandle) -> None:
    """Enable row-level security on every table of organisations that lacks it; SQLite has none."""
    if db.engine != "postgresql":
        return
    found = [(str(table), str(column)) for table, column in db.all(_UNSECURED_TABLES)]
    scripts = [
        _ENABLE_ROW_SECURITY.format(table=table, column=column) for table, column in found if table not in EXEMPT_TABLES
    ]
    if scripts:
        db.run_script("".join(scripts))
