"""What older rows lack: names as they are ordered, addresses in parts, and stamps that say what acted."""

import orjson

from mainstay.backing.database import SchemaHandle
from mainstay.values.words import folded

_BATCH = 1000
# The tables whose rows carry stamps, and those columns. The trail stays as it was written: its hashes are over it.
_STAMPED = {
    "organisation": ("created_by", "updated_by"),
    "person": ("created_by", "updated_by"),
    "webhook": ("created_by", "updated_by"),
    "event": ("actor",),
}
_PARTS = ("line1", "line2", "city", "region", "postalCode", "country")


def apply(handle: SchemaHandle) -> None:
    """Fill them."""
    for table, columns in _STAMPED.items():
        for column in columns:
            for person, kind in (('{"person":null', "operator"), ('{"person":', "person")):
                handle.run(
                    f"UPDATE {table} SET {column} = replace({column}, '{{\"person\":', :stamped)"
                    f" WHERE {column} LIKE :begins",
                    stamped=f'{{"kind":"{kind}","person":',
                    begins=f"{person}%",
                )
    _fold_names(handle)
    _part_addresses(handle)


def _fold_names(handle: SchemaHandle) -> None:
    last = ("", "")
    while batch := handle.all(
        "SELECT organisation_id, id, name FROM person WHERE (organisation_id, id) > (:owner, :id)"
        f" ORDER BY organisation_id, id LIMIT {_BATCH}",
        owner=last[0],
        id=last[1],
    ):
        for owner, identity, name in batch:
            handle.run(
                "UPDATE person SET name_folded = :name WHERE organisation_id = :owner AND id = :id",
                owner=owner,
                id=identity,
                name=folded(str(name)),
            )
        last = (str(batch[-1][0]), str(batch[-1][1]))


def _part_addresses(handle: SchemaHandle) -> None:
    """The first line stays the first, the others the second: nobody can tell a town from a county by its place."""
    for identity, text, country in handle.all(
        "SELECT id, address, country FROM organisation WHERE address IS NOT NULL"
    ):
        first, *others = [line.strip() for line in str(text).splitlines() if line.strip()]
        parts = {"line1": first[:200], "line2": ", ".join(others)[:200] or None, "country": country}
        handle.run(
            "UPDATE organisation SET address = :address WHERE id = :id",
            id=identity,
            address=orjson.dumps({part: parts.get(part) for part in _PARTS}).decode(),
        )
