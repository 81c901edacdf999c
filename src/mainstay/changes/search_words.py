"""The search words of records, stored in the transaction of each change.

A record has about thirty words. They are stored as one text, to check whether a record has a word (`search_record`),
and one by one in an index, to look up the records with a word (`search_word`). The words of a record are on different
pages of the index, and writing them there was a third of the work of creating a job. So a new record is fresh at first:
its words are only in a text (`search_fresh`). When there are many fresh records, all are added to the index together.
They share many words, so this costs little more than for a single record.
"""

from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

import orjson

from mainstay.infrastructure.database import INSERT_OR_FAIL, DatabaseHandle, Value
from mainstay.values.search_words import MAX_STORED_WORDS

# The most records of a kind that are fresh. Every search reads all of them.
MAX_FRESH_RECORDS = 64

_INSERT_RECORD_TEXTS = "INSERT INTO search_record (organisation_id, kind, record_id, words, open_words)"
_INSERT_WORDS = f"{INSERT_OR_FAIL} search_word (organisation_id, kind, word, record_id)"
WHERE_KIND = "WHERE organisation_id = :organisation AND kind = :of_kind"
_WHERE_RECORD = f"{WHERE_KIND} AND record_id = :record"
_HAS_MANY_FRESH = f"SELECT 1 FROM search_fresh {WHERE_KIND} LIMIT 1 OFFSET :last"
_INDEX_FRESH_RECORDS = (
    f"{_INSERT_RECORD_TEXTS} SELECT organisation_id, kind, record_id, words, NULL FROM search_fresh {WHERE_KIND}",
    # In the order of the index, so that neighbours are written together.
    (
        f"{_INSERT_WORDS} SELECT organisation_id, kind, word, record_id FROM search_fresh_word {WHERE_KIND}"
        " ORDER BY word, record_id ON CONFLICT DO NOTHING"
    ),
    f"DELETE FROM search_fresh {WHERE_KIND}",
)

# Names for the bound words of a statement, of letters only. There are more of them than words of one record.
WORD_PARAMETERS = tuple(
    f"word_{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(3 * MAX_STORED_WORDS)
)


class RecordWords(NamedTuple):
    """The search words of a record."""

    all_words: frozenset[str]
    # Those that are only in columns that not everyone sees.
    hidden_words: frozenset[str] = frozenset()


_NO_WORDS = RecordWords(frozenset())


def insert_words(db: DatabaseHandle, kind: str, record_id: str, words: RecordWords) -> None:
    """Store the words of a new record."""
    if words.hidden_words:
        # Hidden words must be in the index, because `has_hidden_words` looks there.
        _write_words(db, kind, record_id, _NO_WORDS, words)
    elif words.all_words:
        db.run(
            "INSERT INTO search_fresh (organisation_id, kind, record_id, words)"
            " VALUES (:organisation, :of_kind, :record, :words)",
            of_kind=kind,
            record=record_id,
            words=_to_json(words.all_words),
        )
        if db.one(_HAS_MANY_FRESH, of_kind=kind, last=MAX_FRESH_RECORDS - 1):
            _index_fresh_records(db, kind)


def update_words(db: DatabaseHandle, kind: str, record_id: str, words: RecordWords) -> None:
    """Replace the words of a record. Only the differences are written."""
    if db.run(f"DELETE FROM search_fresh {_WHERE_RECORD}", of_kind=kind, record=record_id):
        insert_words(db, kind, record_id, words)
        return
    before = _read_indexed_words(db, kind, record_id)
    if before != words:
        db.run(f"DELETE FROM search_record {_WHERE_RECORD}", of_kind=kind, record=record_id)
        _write_words(db, kind, record_id, before, words)


def read_words(db: DatabaseHandle, kind: str, record_id: str) -> RecordWords:
    """Return the stored words of a record."""
    row = db.one(f"SELECT words FROM search_fresh {_WHERE_RECORD}", of_kind=kind, record=record_id)
    return RecordWords(_from_json(row[0])) if row else _read_indexed_words(db, kind, record_id)


def is_fresh(db: DatabaseHandle, kind: str, record_id: str) -> bool:
    """Return whether the words of a record are not in the index yet."""
    return db.one(f"SELECT 1 FROM search_fresh {_WHERE_RECORD}", of_kind=kind, record=record_id) is not None


def is_indexed_by(db: DatabaseHandle, kind: str, record_id: str, words: Collection[str]) -> bool:
    """Return whether the index has a record under each of these words."""
    row = db.one(_count_sql(len(words)), of_kind=kind, record=record_id, **bind_words(words)) if words else (0,)
    return row is not None and row[0] == len(words)


def count_indexed_words(db: DatabaseHandle, kind: str) -> int:
    """Return how many words the index has for all records of a kind."""
    row = db.one(f"SELECT count(*) FROM search_word {WHERE_KIND}", of_kind=kind)
    return int(row[0] or 0) if row else 0


def hidden_kind(kind: str) -> str:
    """Return the kind under which the index also has the hidden words of records."""
    return f"{kind} hidden"


def quote_prefix(word: str) -> str:
    """Return what the text of a record contains if one of its words has this prefix."""
    return quote_word(word)[:-1]


def quote_word(word: str) -> str:
    """Return what the text of a record contains if it has this word."""
    return orjson.dumps(word).decode()


def bind_words(words: Iterable[str]) -> dict[str, Value]:
    """Return the words as bound parameters."""
    return dict(zip(WORD_PARAMETERS, words, strict=False))


def _index_fresh_records(db: DatabaseHandle, kind: str) -> None:
    """Add the words of all fresh records of a kind to the index."""
    for statement in _INDEX_FRESH_RECORDS:
        db.run(statement, of_kind=kind)


def _read_indexed_words(db: DatabaseHandle, kind: str, record_id: str) -> RecordWords:
    row = db.one(f"SELECT words, open_words FROM search_record {_WHERE_RECORD}", of_kind=kind, record=record_id)
    if row is None:
        return _NO_WORDS
    all_words = _from_json(row[0])
    return RecordWords(all_words, all_words - _from_json(row[1]) if row[1] is not None else frozenset())


def _write_words(db: DatabaseHandle, kind: str, record_id: str, before: RecordWords, after: RecordWords) -> None:
    for of_kind, removed, added in (
        (kind, before.all_words - after.all_words, after.all_words - before.all_words),
        (hidden_kind(kind), before.hidden_words - after.hidden_words, after.hidden_words - before.hidden_words),
    ):
        if removed:
            db.run(_delete_sql(len(removed)), of_kind=of_kind, record=record_id, **bind_words(removed))
        if added:
            db.run(_insert_sql(len(added)), of_kind=of_kind, record=record_id, **bind_words(sorted(added)))
    if after.all_words:
        db.run(
            f"{_INSERT_RECORD_TEXTS} VALUES (:organisation, :of_kind, :record, :words, :open_words)",
            of_kind=kind,
            record=record_id,
            words=_to_json(after.all_words),
            open_words=_to_json(after.all_words - after.hidden_words) if after.hidden_words else None,
        )


def _to_json(words: Collection[str]) -> str:
    return orjson.dumps(sorted(words)).decode()


def _from_json(text: Value) -> frozenset[str]:
    return frozenset(orjson.loads(str(text)))


@cache
def _insert_sql(count: int) -> str:
    values = ", ".join(f"(:organisation, :of_kind, :{name}, :record)" for name in WORD_PARAMETERS[:count])
    return f"{_INSERT_WORDS} VALUES {values} ON CONFLICT DO NOTHING"


@cache
def _delete_sql(count: int) -> str:
    return f"DELETE FROM search_word {_where_words_sql(count)}"


@cache
def _count_sql(count: int) -> str:
    return f"SELECT count(*) FROM search_word {_where_words_sql(count)}"


def _where_words_sql(count: int) -> str:
    names = ", ".join(f":{name}" for name in WORD_PARAMETERS[:count])
    return f"{_WHERE_RECORD} AND word IN ({names})"
