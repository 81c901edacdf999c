"""That records are there, are found, and are seen by those who see only their own; and that kept files are kept.

These are about every kind of record that the catalogue knows, so that none can be left out.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from mainstay.backing.proof import Books, Flaw, Proof, follows
from mainstay.business.records.forgetting import NAMED_IN
from mainstay.kernel.listing import Listing
from mainstay.ledger import words
from mainstay.terms.rights import Right

Listings = Mapping[str, tuple[Listing[Any], Right]]

_CHUNK = 1 << 20


def lost_files(books: Books) -> Iterator[Flaw]:
    """The records that name a file which is not there, or has something else in it."""
    for column in NAMED_IN:
        table = column.partition(".")[0]
        named = books.rows.each(f"SELECT {column}, {table}.id FROM {table} WHERE {column} IS NOT NULL ORDER BY 1")
        for name, naming in groupby(named, key=lambda row: row[0]):
            problem = _problem_of_file(books, str(name))
            if problem:
                yield from (
                    Flaw(f"{table} {identity}", f"has the file {name}, which {problem}") for _, identity in naming
                )


def _problem_of_file(books: Books, name: str) -> str | None:
    digest = hashlib.sha256()
    try:
        with books.files.path(name).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as fault:
        return f"cannot be read: {fault.strerror}"
    return None if digest.hexdigest() == name else "is not what was kept: its content has another hash"


_STORED = """
SELECT id, storage_bytes, counted FROM (
    SELECT id, storage_bytes, logo_bytes + CAST(coalesce((
        SELECT sum(bytes + thumbnail_bytes) FROM document WHERE organisation_id = :organisation
    ), 0) AS bigint) AS counted FROM organisation WHERE id = :organisation
) AS totals WHERE storage_bytes <> counted
"""
STORAGE = follows(
    "stored_bytes",
    "Each organisation stores as many bytes as its files have",
    _STORED,
    "is said to store {0} bytes, and its files have {1}",
)


def shared_papers(books: Books) -> Iterator[Flaw]:
    """The documents whose printed file is that of another one: the numbers on them differ, so the files do."""
    for column in NAMED_IN:
        table, _, name = column.partition(".")
        if name.endswith("_sha256"):
            shared = books.rows.each(
                f"SELECT min(id), max(id) FROM {table} WHERE organisation_id = :organisation AND {name} IS NOT NULL"
                f" GROUP BY {name} HAVING count(*) > 1"
            )
            for first, last in shared:
                yield Flaw(f"{table.replace('_', ' ')} {last}", f"has the same file as {first}")


PAPERS = Proof("papers", "Each document that was sent has files of its own", shared_papers)
FILES = Proof("files", "Every file is there, with its hash", lost_files, whole=True)


def still_there(listings: Listings, removable: Collection[str], removed_by: str) -> Proof:
    """The proof that what the trail says was made is there, but for the kinds that can be removed.

    Of the others, only what one act removes may be missing, and the trail must say that it did.
    """

    def flaws(books: Books) -> Iterator[Flaw]:
        for prefix, (listing, _) in listings.items():
            if prefix in removable or listing.tenant != "organisation_id":
                continue
            lost = books.rows.each(
                f"SELECT DISTINCT record_id FROM audit_record WHERE organisation_id = :organisation"
                f" AND substr(record_id, 1, :length) = :prefix AND NOT EXISTS (SELECT 1 FROM {listing.table}"
                f" WHERE {listing.table}.organisation_id = :organisation AND {listing.table}.id = record_id)"
                f" AND NOT EXISTS (SELECT 1 FROM audit_record removal JOIN audit"
                f" ON audit.organisation_id = removal.organisation_id AND audit.sequence = removal.sequence"
                f" WHERE removal.organisation_id = :organisation AND removal.record_id = audit_record.record_id"
                f" AND audit.operation = :removed_by)",
                removed_by=removed_by,
                prefix=f"{prefix}_",
                length=len(prefix) + 1,
            )
            for (identity,) in lost:
                yield Flaw(str(identity), f"is in the audit trail, and there is no such {listing.what}")

    return Proof("records", "Whatever the audit trail tells of is there", flaws)


def found_by_words(listings: Listings, renewing: Collection[str]) -> Proof:
    """The proof that each record is found by what it says, unless work of these kinds is still to write words."""

    def flaws(books: Books) -> Iterator[Flaw]:
        waits = "SELECT 1 FROM outbox WHERE organisation_id = :organisation AND kind = :kind LIMIT 1"
        if any(books.rows.one(waits, kind=kind) for kind in renewing):
            return
        for listing, _ in listings.values():
            if listing.found_by:
                yield from _unfound(books, listing)

    return Proof("search_words", "Each record is found by its words", flaws)


def _unfound(books: Books, listing: Listing[Any]) -> Iterator[Flaw]:
    kind, looked_up = listing.prefix, Counter[str]()
    for row in books.rows.each(listing.everything):
        record = listing.keep(row)
        said = listing.finding.said(record)
        each = {kind: said.every, words.hidden(kind): said.hidden}
        settled = not words.is_fresh(books.rows, kind, record.id)
        looked_up.update({of_kind: len(some) for of_kind, some in each.items() if settled})
        missing = settled and not all(
            words.is_looked_up(books.rows, of_kind, record.id, some) for of_kind, some in each.items()
        )
        if missing or words.kept(books.rows, kind, record.id) != said:
            yield Flaw(f"{listing.what} {record.id}", "is not found by the words that it says")
    for of_kind in (kind, words.hidden(kind)):
        if words.count_looked_up(books.rows, of_kind) > looked_up[of_kind]:
            yield Flaw(listing.what, "is found by words that none says")


def copies_agree(listings: Listings) -> Proof:
    """The proof that what is copied of records, for those who see only their own, is what they say."""

    def flaws(books: Books) -> Iterator[Flaw]:
        for listing, _ in listings.values():
            if listing.own and listing.own.granted:
                mine, table = listing.own.granted, listing.table
                differs = " OR ".join(f"{mine}.{name} IS DISTINCT FROM {table}.{name}" for name in listing.own.copies)
                different = books.rows.each(
                    f"SELECT {mine}.id, {mine}.person_id FROM {mine} JOIN {table} ON {table}.organisation_id ="
                    f" {mine}.organisation_id AND {table}.id = {mine}.id"
                    f" WHERE {mine}.organisation_id = :organisation AND ({differs})"
                )
                for identity, person in different:
                    yield Flaw(f"{listing.what} {identity}", f"is listed for {person} as something it is not any more")

    return Proof("own_records", "Those who see only their own are shown it as it is", flaws)
