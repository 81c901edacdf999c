"""Addresses as they were given beside addresses as they are compared, which are folded anew by `values/mailbox.py`.

Until now both were text without case, by a rule that took some domains for others (straße, strasse). Only addresses
that are not plain ASCII fold differently by the new rule: the others are left alone, in SQL.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mainstay.backing.database import Row, SchemaHandle
from mainstay.values.mailbox import fold_address

_BATCH = 1000
# Counted by both engines without reading a text out.
_NOT_ASCII = "octet_length(email) <> length(email)"

_COLUMNS = """
ALTER TABLE account RENAME COLUMN email TO email_folded;
ALTER TABLE account ADD COLUMN email text NOT NULL DEFAULT '';
ALTER TABLE one_time_link RENAME COLUMN email TO email_folded;
ALTER TABLE one_time_link ADD COLUMN email text NOT NULL DEFAULT '';
-- Why a piece of work can never be done.
ALTER TABLE outbox ADD COLUMN problem text;
"""

# An account's address is that of its person, where that is the one it was made with.
_ACCOUNTS_AS_GIVEN = """
UPDATE account SET email = coalesce(
    (SELECT p.email FROM person p WHERE p.account_id = account.id AND p.email_folded = account.email_folded
     ORDER BY p.status, p.id LIMIT 1),
    email_folded)
"""
_LINKS_AS_GIVEN = """
UPDATE one_time_link SET email = coalesce(
    (SELECT a.email FROM account a WHERE a.id = one_time_link.account_id),
    (SELECT p.email FROM person p WHERE p.organisation_id = one_time_link.organisation_id
     AND p.id = one_time_link.person_id AND p.email_folded = one_time_link.email_folded),
    email_folded)
"""
# They were mailed to an address that may be someone else's. Whoever waits for one asks again.
_DOUBTFUL_RESETS = f"DELETE FROM one_time_link WHERE kind = 'reset' AND {_NOT_ASCII}"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of addresses, and what tells its rows apart."""

    name: str
    key: tuple[str, ...]
    # Within what a folded address is unique.
    within: str = "1 = 1"


_TABLES = (
    # Of several people of an organisation with the same address, an active one has it.
    _Table("person", ("organisation_id", "status", "id"), "other.organisation_id = person.organisation_id"),
    _Table("account", ("id",)),
    _Table("one_time_link", ("id",), "1 = 0"),
)


def apply(handle: SchemaHandle) -> None:
    """Add the columns and fill them."""
    handle.script(_COLUMNS)
    handle.run(_ACCOUNTS_AS_GIVEN)
    handle.run(_LINKS_AS_GIVEN)
    handle.run(_DOUBTFUL_RESETS)
    for table in _TABLES:
        _fold_anew(handle, table)


def _fold_anew(handle: SchemaHandle, table: _Table) -> None:
    # Each first gets what no address folds to, its id: that is unique, and what a row keeps whose address turns out to
    # be the same as an earlier row's. It stays as it is otherwise, and is found by its address no more.
    handle.run(f"UPDATE {table.name} SET email_folded = id WHERE {_NOT_ASCII}")
    taken = f"EXISTS (SELECT 1 FROM {table.name} other WHERE {table.within} AND other.email_folded = :folded)"
    its = " AND ".join(f"{column} = :{column}" for column in table.key)
    for row in _rows(handle, table):
        handle.run(
            f"UPDATE {table.name} SET email_folded = :folded WHERE {its} AND NOT {taken}",
            folded=fold_address(str(row[-1])),
            **dict(zip(table.key, row[:-1], strict=True)),
        )


def _rows(handle: SchemaHandle, table: _Table) -> Iterator[Row]:
    """The rows whose address is not plain ASCII, so many at a time: their keys, then the address."""
    columns, after = ", ".join(table.key), ", ".join(f":{column}" for column in table.key)
    last: Row = ("",) * len(table.key)
    while batch := handle.all(
        f"SELECT {columns}, email FROM {table.name} WHERE {_NOT_ASCII} AND ({columns}) > ({after})"
        f" ORDER BY {columns} LIMIT {_BATCH}",
        **dict(zip(table.key, last, strict=True)),
    ):
        yield from batch
        last = batch[-1][:-1]
