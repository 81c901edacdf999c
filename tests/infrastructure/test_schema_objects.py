"""A schema is compared by what it means, not by how SQLite came to write it down."""

import apsw
import pytest

from mainstay.infrastructure.schema_objects import normalise_statement

FINAL_TABLE = """
CREATE TABLE child (
    -- Its key.
    id text NOT NULL PRIMARY KEY,
    renamed text DEFAULT 'it''s -- (one), two', -- a remark
    amount bigint NOT NULL DEFAULT 0 CHECK (amount IN (0, 1)),
    UNIQUE (renamed, amount),
    CHECK (amount <> 2)
)
"""


def read_stored_statement(script: str) -> str:
    """The statement of the table `child` as SQLite has it after a script."""
    connection = apsw.Connection(":memory:")
    connection.execute(script)
    return str(connection.execute("SELECT sql FROM sqlite_master WHERE name = 'child'").fetchall()[0][0])


def test_a_table_is_the_same_however_it_came_about() -> None:
    altered = read_stored_statement(
        "CREATE TABLE first (id text NOT NULL PRIMARY KEY, given text DEFAULT 'it''s -- (one), two',"
        " UNIQUE (given), CHECK (given <> '2'));"
        "ALTER TABLE first RENAME TO child; ALTER TABLE child RENAME COLUMN given TO renamed;"
        "ALTER TABLE child ADD COLUMN amount BIGINT NOT NULL DEFAULT 0 CHECK (amount IN (0,1));"
    )
    at_once = read_stored_statement(
        "CREATE TABLE child (\n    -- Its key.\n    id text NOT NULL PRIMARY KEY,\n"
        "    renamed text DEFAULT 'it''s -- (one), two', -- a remark\n"
        "    amount bigint NOT NULL DEFAULT 0 CHECK (amount IN (0, 1)),\n"
        "    UNIQUE (renamed),\n    CHECK (renamed <> '2')\n)"
    )
    assert altered != at_once
    assert normalise_statement(altered) == normalise_statement(at_once)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id text NOT NULL PRIMARY KEY", "id text PRIMARY KEY"),
        ("'it''s -- (one), two'", "'it''s -- (one), Two'"),
        ("bigint", "text"),
        ("UNIQUE (renamed, amount),", ""),
        ("UNIQUE (renamed, amount)", "UNIQUE (amount, renamed)"),
        ("(0, 1)", "(0, 1, 2)"),
        ("<> 2", "< 2"),
        ("    renamed text", "    other text,\n    renamed text"),
        ("\n)", "\n) WITHOUT ROWID"),
    ],
)
def test_what_means_something_else_differs(old: str, new: str) -> None:
    assert old in FINAL_TABLE
    assert normalise_statement(FINAL_TABLE.replace(old, new)) != normalise_statement(FINAL_TABLE)


def test_the_order_of_columns_is_a_difference_and_that_of_columns_and_constraints_is_not() -> None:
    assert normalise_statement("CREATE TABLE a (b text, c text)") != normalise_statement(
        "CREATE TABLE a (c text, b text)"
    )
    assert normalise_statement("CREATE TABLE a (CHECK (1), b text)") == normalise_statement(
        "CREATE TABLE a (b text, CHECK (1))"
    )
