"""The words that records are found by, written in the transaction of the change that says them.

Each kind of record has its own; what is found stays as cheap among a hundred thousand records as among a thousand,
because no more is looked at than is needed.
"""

from collections.abc import Collection, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from mainstay.backing.database import INSERT_OR_FAIL, Handle, Value
from mainstay.values.search import MOST_KEPT, Sought, end_of

# A prefix stands for fewer words than this, where the newest records with each of them are enough.
_MOST_WORDS = 12
# What fewer records have is looked up and sorted. What more have is common, and a walk along all soon meets it: later
# where several words must meet in one record, and sooner where people walk along their own.
_SCANNED, _SCANNED_OF_SEVERAL, _SCANNED_FOR_OWN = 2_000, 5_000, 400

_WORDS = "FROM search_word WHERE organisation_id = :organisation"
_OF_KIND = f"{_WORDS} AND kind = :of_kind"
_OF_RECORD = f"SELECT word {_OF_KIND} AND record_id = :record"
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


class Narrowed(NamedTuple):
    """A condition, or a statement, and what is bound in it."""

    condition: str
    bound: dict[str, Value]


# More names of parameters than a record has words; they have letters only.
_NAMES = tuple(f"word_{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(3 * MOST_KEPT))


def rewrite(rows: Handle, kind: str, record: str, before: frozenset[str], after: frozenset[str]) -> None:
    """Let a record be found by other words than before; only what is different is written."""
    if gone := before - after:
        rows.run(_removing(len(gone)), of_kind=kind, record=record, **_bound(gone))
    write(rows, kind, record, after - before)


def renew(rows: Handle, kind: str, record: str, words: frozenset[str]) -> None:
    """Let a record be found by these words, whatever it was found by before."""
    rewrite(rows, kind, record, kept(rows, kind, record), words)


def kept(rows: Handle, kind: str, record: str) -> frozenset[str]:
    """The words that a record is found by now."""
    return frozenset(str(word) for (word,) in rows.all(_OF_RECORD, of_kind=kind, record=record))


def write(rows: Handle, kind: str, record: str, words: Collection[str]) -> None:
    """Let a record be found by these words as well."""
    if words:
        # In their order, in which they are kept: one is found beside the other.
        rows.run(_adding(len(words)), of_kind=kind, record=record, **_bound(sorted(words)))


def with_any(rows: Handle, kind: str, words: Collection[str]) -> list[str]:
    """The ids of one or two records of a kind with exactly one of these words."""
    return [str(record) for (record,) in rows.all(_with_any(len(words)), of_kind=kind, **_bound(words))]


def having(identity: str, kind: str, sought: Sought, *, openly: bool = False) -> Narrowed:
    """The condition that the record of this column has such words, asked of each record; or has them openly."""
    mark, but = ("open_", _NOT_HIDDEN) if openly else ("", "")
    bound: dict[str, Value] = {"hidden_kind": hidden(kind)} if openly else {"of_kind": kind}
    each = _has_each(identity, f"{mark}having", sought.words, bound, but)
    return Narrowed(" AND ".join(each), bound)


def hidden(kind: str) -> str:
    """The kind under which those words of a record stand once more that it has nowhere in what everyone sees of it."""
    return f"{kind} hidden"


def is_hidden(rows: Handle, kind: str, sought: Sought) -> bool:
    """Whether some record of a kind has any such word hidden, so that it matters whether others have theirs openly."""
    return any(_counted(rows, hidden(kind), prefix, most=1) for prefix in chain.from_iterable(sought.words))


_NOT_HIDDEN = (
    " AND NOT EXISTS (SELECT 1 FROM search_word AS hidden WHERE hidden.organisation_id = :organisation"
    " AND hidden.kind = :hidden_kind AND hidden.word = search_word.word AND hidden.record_id = search_word.record_id)"
)


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


def driven(identity: str, kind: str, by: Driver) -> Narrowed:
    """The same condition, where the rarest of the words says which records are looked at at all."""
    if not by.beginnings:
        return Narrowed("1 = 0", {})
    named = _bound(by.beginnings)
    each = [f"SELECT record_id {_OF_KIND} AND word >= :{name} AND word < :{name}_end" for name in named]
    ends: dict[str, Value] = {f"{name}_end": end_of(str(prefix)) for name, prefix in named.items()}
    bound = named | ends | {"of_kind": kind}
    conditions = [f"{identity} IN ({' UNION ALL '.join(each)})"]
    conditions += _has_each(identity, "other", by.others, bound)
    return Narrowed(" AND ".join(conditions), bound)


def newest(rows: Handle, kind: str, sought: Sought, after: str | None, rest: str = "") -> Narrowed | None:
    """The statement for the ids of the newest records with a word, `:limit` of each that will do; None for several.

    `rest` is what else must hold: a statement without what it selects, up to where it names the id of a record. Then
    they are looked for among the newest `:among` with each word, and there may be others behind these.
    """
    first, *others = sought.words
    words = [] if others else [_beginning(rows, kind, prefix) for prefix in first]
    if not words or max(map(len, words)) >= _MOST_WORDS:
        return None
    # All there are: so many of the newest with each of them are enough.
    named = _bound([*chain.from_iterable(words)])
    each = [f"SELECT id FROM ({_newest(name, after, rest)} LIMIT :limit) AS newest_{name}" for name in named]
    nothing = f"SELECT record_id AS id {_OF_KIND} AND 1 = 0"
    return Narrowed(" UNION ALL ".join(each) or nothing, named | {"of_kind": kind})


def _newest(name: str, after: str | None, rest: str) -> str:
    behind, order = " AND record_id < :after" if after else "", "ORDER BY record_id DESC"
    having = f"{_OF_KIND} AND word = :{name}{behind}"
    if not rest:
        return f"SELECT record_id AS id {having} {order}"
    # The last of them, or what comes before any, in a form that PostgreSQL looks up behind its fences.
    last = f"SELECT coalesce(max(id), '') FROM (SELECT record_id AS id {having} {order} LIMIT 1 OFFSET :among) AS last"
    # With an offset, for the same reason as below.
    holds = f"EXISTS (SELECT 1 {rest} = search_word.record_id LIMIT 1 OFFSET 0)"
    return f"SELECT record_id AS id {having} AND record_id > ({last}) AND {holds} {order}"


def _counted(rows: Handle, kind: str, prefix: str, most: int) -> int:
    row = rows.one(_COUNTED, of_kind=kind, prefix=prefix, end=end_of(prefix), last=most - 1)
    return most if row is None or row[0] is None else int(row[0])


_BEGINS = f"{_OF_KIND} AND word >= :prefix AND word < :end"
# So many are stepped over, which is less work than to count them.
_COUNTED = (
    f"SELECT CASE WHEN EXISTS (SELECT 1 {_BEGINS} LIMIT 1 OFFSET :last) THEN NULL ELSE (SELECT count(*) {_BEGINS}) END"
)


def _beginning(rows: Handle, kind: str, prefix: str) -> list[str]:
    """The first words that begin like this."""
    return [str(word) for (word,) in rows.all(_BEGINNING, of_kind=kind, prefix=prefix, end=end_of(prefix))]


def _has_each(
    identity: str, mark: str, words: Sequence[tuple[str, ...]], bound: dict[str, Value], but: str = ""
) -> list[str]:
    """The conditions that a record has each of these words, in any of its spellings."""
    each, names = [], iter(_NAMES)
    for word in words:
        any_of = [_has(identity, f"{mark}_{next(names)}", prefix, bound, but) for prefix in word]
        each.append(any_of[0] if len(any_of) == 1 else f"({' OR '.join(any_of)})")
    return each


def _has(identity: str, name: str, prefix: str, bound: dict[str, Value], but: str = "") -> str:
    bound |= {name: prefix, f"{name}_end": end_of(prefix)}
    found = f"{_WORDS} AND record_id = {identity} AND word >= :{name} AND word < :{name}_end{but}"
    # With an offset it is asked of each record: without, an engine may read all that have the word, to join them.
    return f"EXISTS (SELECT 1 {found} LIMIT 1 OFFSET 0)"


def _bound(words: Collection[str]) -> dict[str, Value]:
    """Each word under a name of its own."""
    return dict(zip(_NAMES, words, strict=False))


@cache
def _with_any(count: int) -> str:
    names = ", ".join(f":{name}" for name in _NAMES[:count])
    return f"SELECT DISTINCT record_id {_OF_KIND} AND word IN ({names}) LIMIT 2"


@cache
def _removing(count: int) -> str:
    names = ", ".join(f":{name}" for name in _NAMES[:count])
    return f"DELETE {_OF_KIND} AND record_id = :record AND word IN ({names})"


@cache
def _adding(count: int) -> str:
    values = ", ".join(f"(:organisation, :of_kind, :{name}, :record)" for name in _NAMES[:count])
    into = f"{INSERT_OR_FAIL} search_word (organisation_id, kind, word, record_id)"
    return f"{into} VALUES {values} ON CONFLICT DO NOTHING"
