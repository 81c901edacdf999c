"""Finding records by their words.

Each kind of record has its own; what is found stays as cheap among a hundred thousand records as among a thousand,
because no more is looked at than is needed. Whatever is looked up is looked for among the few that are fresh as well.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from mainstay.backing.database import Handle, Value
from mainstay.ledger.words import NAMES, OF_KIND, bound, hidden, whole, within
from mainstay.values.search import Sought, end_of

# A prefix stands for fewer words than this, where the newest records with each of them are enough.
_MOST_WORDS = 12
# What fewer records have is looked up and sorted. What more have is common, and a walk along all soon meets it: later
# where several words must meet in one record, and sooner where people walk along their own.
_SCANNED, _SCANNED_OF_SEVERAL, _SCANNED_FOR_OWN = 2_000, 5_000, 400

_OF_KIND = f"FROM search_word {OF_KIND}"
_FRESH = f"FROM search_fresh {OF_KIND}"
# One step along the index for each word that there is, however many records have it.
_BEGINNING = f"""
WITH RECURSIVE found (word, step) AS (
    SELECT min(word), 1 {_OF_KIND} AND word >= :prefix AND word < :end
    UNION ALL
    SELECT (SELECT min(word) {_OF_KIND} AND word > found.word AND word < :end), found.step + 1
    FROM found WHERE found.word IS NOT NULL AND found.step < {_MOST_WORDS}
)
SELECT word FROM found WHERE word IS NOT NULL
"""


class Driver(NamedTuple):
    """What says which records are looked at, so that none is left out; and what else these must have."""

    # Beginnings of words, any of which will do.
    beginnings: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]


class Condition(NamedTuple):
    """A condition, or a statement, and what is bound in it."""

    condition: str
    bound: dict[str, Value]


def with_any(rows: Handle, kind: str, words: Collection[str]) -> list[str]:
    """The ids of one or two records of a kind with exactly one of these words."""
    wholes: dict[str, Value] = {f"{name}_within": whole(str(word)) for name, word in bound(words).items()}
    return [str(record) for (record,) in rows.all(_with_any(len(words)), of_kind=kind, **bound(words), **wholes)]


def having(identity: str, kind: str, sought: Sought, *, openly: bool = False) -> Condition:
    """The condition that the record of this column has such words, asked of each record; or has them openly."""
    mark, texts = ("open_having", "coalesce(open_words, words)") if openly else ("having", "words")
    named: dict[str, Value] = {"of_kind": kind}
    return Condition(" AND ".join(_has_each(identity, mark, sought.words, named, texts)), named)


def is_hidden(rows: Handle, kind: str, sought: Sought) -> bool:
    """Whether some record of a kind has any such word hidden, so that it matters whether others have theirs openly."""
    return any(_counted(rows, hidden(kind), prefix, most=1) for prefix in chain.from_iterable(sought.words))


def driver(rows: Handle, kind: str, sought: Sought, *, own: bool) -> Driver | None:
    """What fewest records have of all that is looked for; None where many have each of it.

    Then whoever asks walks along the records, many of which will do, and asks each for its words.
    """
    first, *others = sought.words
    most = _SCANNED_FOR_OWN if own else _SCANNED_OF_SEVERAL if others else _SCANNED
    rarest, fewest = first, sum(_counted(rows, kind, prefix, most) for prefix in first)
    for word in others:
        # No further than it matters: what as many have is no rarer.
        if fewest and (found := sum(_counted(rows, kind, prefix, fewest) for prefix in word)) < fewest:
            rarest, fewest = word, found
    if fewest >= most:
        return None
    return Driver(rarest if fewest else (), tuple(word for word in sought.words if word is not rarest))


def driven(identity: str, kind: str, by: Driver) -> Condition:
    """The same condition, where the rarest of the words says which records are looked at at all."""
    if not by.beginnings:
        return Condition("1 = 0", {})
    named = bound(by.beginnings)
    each = [f"SELECT record_id {_OF_KIND} AND word >= :{name} AND word < :{name}_end" for name in named]
    each.append(f"SELECT record_id {_FRESH} AND {_with_any_of(named)}")
    given = {"of_kind": kind, **named, **_ends(named), **_within(named)}
    conditions = [f"{identity} IN ({' UNION ALL '.join(each)})", *_has_each(identity, "other", by.others, given)]
    return Condition(" AND ".join(conditions), given)


def newest(rows: Handle, kind: str, sought: Sought, after: str | None, rest: str = "") -> Condition | None:
    """The statement for the ids of the newest records with a word, `:limit` of each that will do; None for several.

    `rest` is what else must hold: a statement without what it selects, up to where it names the id of a record. Then
    they are looked for among the newest `:among` with each word, and there may be others behind these.
    """
    first, *others = sought.words
    words = [] if others else [_beginning(rows, kind, prefix) for prefix in first]
    if not words or max(map(len, words)) >= _MOST_WORDS:
        return None
    # All there are: so many of the newest with each of them are enough. Those that are fresh are few.
    named, begun = bound([*chain.from_iterable(words)]), _begun(first)
    each = [f"SELECT id FROM ({_newest(name, after, rest)} LIMIT :limit) AS newest_{name}" for name in named]
    each.append(_newest_fresh(begun, after, rest))
    return Condition(" UNION ALL ".join(each), {"of_kind": kind, **named, **_within(begun)})


def _begun(prefixes: Sequence[str]) -> dict[str, Value]:
    return {f"begun_{name}": prefix for name, prefix in bound(prefixes).items()}


def _newest_fresh(named: Mapping[str, Value], after: str | None, rest: str) -> str:
    behind = " AND record_id < :after" if after else ""
    holds = f" AND {_holds(rest, 'search_fresh')}" if rest else ""
    return f"SELECT record_id AS id {_FRESH}{behind} AND {_with_any_of(named)}{holds}"


def _newest(name: str, after: str | None, rest: str) -> str:
    behind, order = " AND record_id < :after" if after else "", "ORDER BY record_id DESC"
    having = f"{_OF_KIND} AND word = :{name}{behind}"
    if not rest:
        return f"SELECT record_id AS id {having} {order}"
    # The last of them, or what comes before any, in a form that PostgreSQL looks up behind its fences.
    last = f"SELECT coalesce(max(id), '') FROM (SELECT record_id AS id {having} {order} LIMIT 1 OFFSET :among) AS last"
    return f"SELECT record_id AS id {having} AND record_id > ({last}) AND {_holds(rest, 'search_word')} {order}"


def _holds(rest: str, table: str) -> str:
    # With an offset, for the same reason as below.
    return f"EXISTS (SELECT 1 {rest} = {table}.record_id LIMIT 1 OFFSET 0)"


def _counted(rows: Handle, kind: str, prefix: str, most: int) -> int:
    named: dict[str, Value] = {"prefix": prefix, "prefix_end": end_of(prefix), "prefix_within": within(prefix)}
    row = rows.one(_COUNTED, of_kind=kind, last=most - 1, **named)
    return most if row is None or row[0] is None else int(row[0])


def _with_any_of(names: Iterable[str], text: str = "words") -> str:
    """The condition that one of what is bound under these names begins a word of a text."""
    # A function that both engines have.
    each = [f"replace({text}, :{name}_within, '') <> {text}" for name in names]
    return each[0] if len(each) == 1 else f"({' OR '.join(each)})"


_BEGINS = f"{_OF_KIND} AND word >= :prefix AND word < :prefix_end"
# So many are stepped over, which is less work than to count them.
_COUNTED = (
    f"SELECT CASE WHEN EXISTS (SELECT 1 {_BEGINS} LIMIT 1 OFFSET :last) THEN NULL ELSE (SELECT count(*) {_BEGINS}) END"
    f" + (SELECT count(*) {_FRESH} AND {_with_any_of(['prefix'])})"
)


def _beginning(rows: Handle, kind: str, prefix: str) -> list[str]:
    """The first words that begin like this."""
    return [str(word) for (word,) in rows.all(_BEGINNING, of_kind=kind, prefix=prefix, end=end_of(prefix))]


def _has_each(
    identity: str, mark: str, words: Sequence[tuple[str, ...]], given: dict[str, Value], text: str = "words"
) -> list[str]:
    """The conditions that a record has each of these words, in any of its spellings."""
    each, names = [], iter(NAMES)
    for word in words:
        named: dict[str, Value] = {f"{mark}_{next(names)}": prefix for prefix in word}
        given |= _within(named)
        each.append(f"({_has(identity, 'search_record', named, text)} OR {_has(identity, 'search_fresh', named)})")
    return each


def _has(identity: str, table: str, named: Mapping[str, Value], text: str = "words") -> str:
    record = f"FROM {table} {OF_KIND} AND record_id = {identity} AND {_with_any_of(named, text)}"
    # With an offset it is asked of each record: without, an engine may read all that have the word, to join them.
    return f"EXISTS (SELECT 1 {record} LIMIT 1 OFFSET 0)"


def _ends(named: Mapping[str, Value]) -> dict[str, Value]:
    return {f"{name}_end": end_of(str(prefix)) for name, prefix in named.items()}


def _within(named: Mapping[str, Value]) -> dict[str, Value]:
    return {f"{name}_within": within(str(prefix)) for name, prefix in named.items()}


@cache
def _with_any(count: int) -> str:
    names = NAMES[:count]
    settled = f"SELECT record_id {_OF_KIND} AND word IN ({', '.join(f':{name}' for name in names)})"
    return f"{settled} UNION SELECT record_id {_FRESH} AND {_with_any_of(names)} LIMIT 2"
