"""The words of records, as they are kept in the transaction of the change that says them.

A record has some thirty words. They stand in one text beside it, which tells whether it has a word (`search_record`);
and each by itself, where records are looked up by it (`search_word`). There every word has its place on another page:
to write each at once was a third of the work of making a job. So the words of the newest records stand in their text
alone (`search_fresh`) until there are many. Of these, many words are the same, and all are written for little more than
those of one.
"""

from collections.abc import Collection, Iterable
from functools import cache
from typing import NamedTuple

import orjson

from mainstay.backing.database import INSERT_OR_FAIL, Handle, Value
from mainstay.values.search import MOST_KEPT

# So many records of a kind are fresh at most: whoever looks for a word looks at all of them.
MOST_FRESH = 64

_INTO_RECORDS = "INSERT INTO search_record (organisation_id, kind, record_id, words, open_words)"
_INTO_WORDS = f"{INSERT_OR_FAIL} search_word (organisation_id, kind, word, record_id)"
OF_KIND = "WHERE organisation_id = :organisation AND kind = :of_kind"
_OF_RECORD = f"{OF_KIND} AND record_id = :record"
_MANY_ARE_FRESH = f"SELECT 1 FROM search_fresh {OF_KIND} LIMIT 1 OFFSET :last"
_IN_ORDER = "ORDER BY word, record_id ON CONFLICT DO NOTHING"
_SETTLING = (
    f"{_INTO_RECORDS} SELECT organisation_id, kind, record_id, words, NULL FROM search_fresh {OF_KIND}",
    # In the order in which they are kept: one is found beside the other.
    f"{_INTO_WORDS} SELECT organisation_id, kind, word, record_id FROM search_fresh_word {OF_KIND} {_IN_ORDER}",
    f"DELETE FROM search_fresh {OF_KIND}",
)

# More names of parameters than a record has words; they have letters only.
NAMES = tuple(f"word_{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(3 * MOST_KEPT))


class Words(NamedTuple):
    """What a record is found by."""

    every: frozenset[str]
    # Those that it has nowhere in what everyone sees of it.
    hidden: frozenset[str] = frozenset()


def begin(rows: Handle, kind: str, record: str, words: Words) -> None:
    """Let a new record be found by these words."""
    if words.hidden:
        # Whether some record has a word hidden is looked up.
        _write(rows, kind, record, Words(frozenset()), words)
    elif words.every:
        rows.run(
            "INSERT INTO search_fresh (organisation_id, kind, record_id, words)"
            " VALUES (:organisation, :of_kind, :record, :words)",
            of_kind=kind,
            record=record,
            words=_text(words.every),
        )
        if rows.one(_MANY_ARE_FRESH, of_kind=kind, last=MOST_FRESH - 1):
            _settle(rows, kind)


def renew(rows: Handle, kind: str, record: str, words: Words) -> None:
    """Let a record be found by these words, whatever it was found by before; only what is different is written."""
    if rows.run(f"DELETE FROM search_fresh {_OF_RECORD}", of_kind=kind, record=record):
        begin(rows, kind, record, words)
        return
    before = _settled(rows, kind, record)
    if before != words:
        rows.run(f"DELETE FROM search_record {_OF_RECORD}", of_kind=kind, record=record)
        _write(rows, kind, record, before, words)


def kept(rows: Handle, kind: str, record: str) -> Words:
    """The words that a record is found by now."""
    row = rows.one(f"SELECT words FROM search_fresh {_OF_RECORD}", of_kind=kind, record=record)
    return Words(_words(row[0])) if row else _settled(rows, kind, record)


def is_fresh(rows: Handle, kind: str, record: str) -> bool:
    """Whether the words of a record stand in their text alone."""
    return rows.one(f"SELECT 1 FROM search_fresh {_OF_RECORD}", of_kind=kind, record=record) is not None


def is_looked_up(rows: Handle, kind: str, record: str, by: Collection[str]) -> bool:
    """Whether a record is looked up by each of these words."""
    row = rows.one(_counting(len(by)), of_kind=kind, record=record, **bound(by)) if by else (0,)
    return row is not None and row[0] == len(by)


def count_looked_up(rows: Handle, kind: str) -> int:
    """By how many words all records of a kind are looked up."""
    row = rows.one(f"SELECT count(*) FROM search_word {OF_KIND}", of_kind=kind)
    return int(row[0] or 0) if row else 0


def hidden(kind: str) -> str:
    """The kind under which the hidden words of records stand once more."""
    return f"{kind} hidden"


def within(word: str) -> str:
    """What stands in the text of a record that has a word which begins like this."""
    return whole(word)[:-1]


def whole(word: str) -> str:
    """What stands in the text of a record that has this word."""
    return orjson.dumps(word).decode()


def bound(words: Iterable[str]) -> dict[str, Value]:
    """Each word under a name of its own."""
    return dict(zip(NAMES, words, strict=False))


def _settle(rows: Handle, kind: str) -> None:
    """Let all records of a kind that are fresh be looked up by their words as well."""
    for statement in _SETTLING:
        rows.run(statement, of_kind=kind)


def _settled(rows: Handle, kind: str, record: str) -> Words:
    row = rows.one(f"SELECT words, open_words FROM search_record {_OF_RECORD}", of_kind=kind, record=record)
    if row is None:
        return Words(frozenset())
    every = _words(row[0])
    return Words(every, every - _words(row[1]) if row[1] is not None else frozenset())


def _write(rows: Handle, kind: str, record: str, before: Words, after: Words) -> None:
    for of_kind, gone, new in (
        (kind, before.every - after.every, after.every - before.every),
        (hidden(kind), before.hidden - after.hidden, after.hidden - before.hidden),
    ):
        if gone:
            rows.run(_removing(len(gone)), of_kind=of_kind, record=record, **bound(gone))
        if new:
            rows.run(_adding(len(new)), of_kind=of_kind, record=record, **bound(sorted(new)))
    if after.every:
        rows.run(
            f"{_INTO_RECORDS} VALUES (:organisation, :of_kind, :record, :words, :open_words)",
            of_kind=kind,
            record=record,
            words=_text(after.every),
            open_words=_text(after.every - after.hidden) if after.hidden else None,
        )


def _text(words: Collection[str]) -> str:
    return orjson.dumps(sorted(words)).decode()


def _words(text: Value) -> frozenset[str]:
    return frozenset(orjson.loads(str(text)))


@cache
def _adding(count: int) -> str:
    values = ", ".join(f"(:organisation, :of_kind, :{name}, :record)" for name in NAMES[:count])
    return f"{_INTO_WORDS} VALUES {values} ON CONFLICT DO NOTHING"


@cache
def _removing(count: int) -> str:
    return f"DELETE FROM search_word {_among(count)}"


@cache
def _counting(count: int) -> str:
    return f"SELECT count(*) FROM search_word {_among(count)}"


def _among(count: int) -> str:
    names = ", ".join(f":{name}" for name in NAMES[:count])
    return f"{_OF_RECORD} AND word IN ({names})"
