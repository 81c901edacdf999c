"""Find records by their search words.

Each kind of record has words of its own. A search among a hundred thousand records costs no more than among a thousand,
because it reads only what it needs. It looks in the index, and in the few fresh records, which are not indexed yet.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from mainstay.changes.search_words import WHERE_KIND, WORD_PARAMETERS, bind_words, hidden_kind, quote_prefix, quote_word
from mainstay.infrastructure.database import DatabaseHandle, Value
from mainstay.values.search_words import SearchTerms, prefix_end

# If a prefix begins fewer words than this, the newest records of each word are read.
_MAX_WORDS = 12
# If fewer records have a word, they are looked up and sorted. A more common word is soon met in a walk along all
# records: less soon if a record must have several words, and sooner if people walk along their own records.
_SCANNED, _SCANNED_OF_SEVERAL, _SCANNED_FOR_OWN = 2_000, 5_000, 400

_FROM_INDEX = f"FROM search_word {WHERE_KIND}"
_FROM_FRESH = f"FROM search_fresh {WHERE_KIND}"
# One step along the index for each word, however many records have it.
_WORDS_WITH_PREFIX = f"""
WITH RECURSIVE found (word, step) AS (
    SELECT min(word), 1 {_FROM_INDEX} AND word >= :prefix AND word < :end
    UNION ALL
    SELECT (SELECT min(word) {_FROM_INDEX} AND word > found.word AND word < :end), found.step + 1
    FROM found WHERE found.word IS NOT NULL AND found.step < {_MAX_WORDS}
)
SELECT word FROM found WHERE word IS NOT NULL
"""


class RarestWord(NamedTuple):
    """The rarest word of a search, which selects the records to look at; and the words that these must also have."""

    # The spellings of the word, as prefixes: any of them is enough. Empty if no record has it.
    prefixes: tuple[str, ...]
    other_words: tuple[tuple[str, ...], ...]


class Condition(NamedTuple):
    """A condition or a statement, with its bound parameters."""

    sql: str
    parameters: dict[str, Value]


def find_with_words(db: DatabaseHandle, kind: str, words: Collection[str]) -> list[str]:
    """Return the ids of up to two records of a kind that have exactly one of these words."""
    quoted: dict[str, Value] = {f"{name}_within": quote_word(str(word)) for name, word in bind_words(words).items()}
    return [
        str(record)
        for (record,) in db.all(_find_with_words_sql(len(words)), of_kind=kind, **bind_words(words), **quoted)
    ]


def words_condition(record_id: str, kind: str, terms: SearchTerms, *, visible_only: bool = False) -> Condition:
    """Return the condition that the record with the id in this column has these words, or has them visibly."""
    parameter_prefix, texts = ("open_having", "coalesce(open_words, words)") if visible_only else ("having", "words")
    parameters: dict[str, Value] = {"of_kind": kind}
    return Condition(
        " AND ".join(_word_conditions(record_id, parameter_prefix, terms.terms, parameters, texts)), parameters
    )


def has_hidden_words(db: DatabaseHandle, kind: str, terms: SearchTerms) -> bool:
    """Return whether any record of a kind has one of these words only in hidden columns."""
    return any(_count_records(db, hidden_kind(kind), prefix, limit=1) for prefix in chain.from_iterable(terms.terms))


def find_rarest_word(db: DatabaseHandle, kind: str, terms: SearchTerms, *, own_only: bool) -> RarestWord | None:
    """Return the word that the fewest records have; None if many records have each word.

    Then it is better to walk along the records, because many of them match, and check the words of each.
    """
    first, *others = terms.terms
    limit = _SCANNED_FOR_OWN if own_only else _SCANNED_OF_SEVERAL if others else _SCANNED
    rarest, fewest = first, sum(_count_records(db, kind, prefix, limit) for prefix in first)
    for word in others:
        # It is counted only up to the fewest so far: with as many records, it is not rarer.
        if fewest and (found := sum(_count_records(db, kind, prefix, fewest) for prefix in word)) < fewest:
            rarest, fewest = word, found
    if fewest >= limit:
        return None
    return RarestWord(rarest if fewest else (), tuple(word for word in terms.terms if word is not rarest))


def rarest_word_condition(record_id: str, kind: str, rarest: RarestWord) -> Condition:
    """Return the same condition as `words_condition`, but look up the records of the rarest word."""
    if not rarest.prefixes:
        return Condition("1 = 0", {})
    parameters = bind_words(rarest.prefixes)
    statements = [f"SELECT record_id {_FROM_INDEX} AND word >= :{name} AND word < :{name}_end" for name in parameters]
    statements.append(f"SELECT record_id {_FROM_FRESH} AND {_any_word_condition(parameters)}")
    bound_values = {"of_kind": kind, **parameters, **_end_parameters(parameters), **_quoted_parameters(parameters)}
    conditions = [
        f"{record_id} IN ({' UNION ALL '.join(statements)})",
        *_word_conditions(record_id, "other", rarest.other_words, bound_values),
    ]
    return Condition(" AND ".join(conditions), bound_values)


def newest_statement(
    db: DatabaseHandle, kind: str, terms: SearchTerms, after: str | None, rest: str = ""
) -> Condition | None:
    """Return the statement for the ids of the newest records with a word; None if the search has several words.

    It returns up to `:limit` ids for each matching word. `rest` is what else must hold: a statement from `FROM` on, up
    to the name of the column with the id of the record. Then it looks only among the newest `:among` records with each
    word, so there may be more behind them.
    """
    first, *others = terms.terms
    words = [] if others else [_words_with_prefix(db, kind, prefix) for prefix in first]
    if not words or max(map(len, words)) >= _MAX_WORDS:
        return None
    # These are all words with the prefix, so the newest records of each are enough. Fresh records are few.
    parameters, prefixes = bind_words([*chain.from_iterable(words)]), _prefix_parameters(first)
    statements = [
        f"SELECT id FROM ({_newest_sql(name, after, rest)} LIMIT :limit) AS newest_{name}" for name in parameters
    ]
    statements.append(_newest_fresh_sql(prefixes, after, rest))
    return Condition(" UNION ALL ".join(statements), {"of_kind": kind, **parameters, **_quoted_parameters(prefixes)})


def _prefix_parameters(prefixes: Sequence[str]) -> dict[str, Value]:
    return {f"begun_{name}": prefix for name, prefix in bind_words(prefixes).items()}


def _newest_fresh_sql(named: Mapping[str, Value], after: str | None, rest: str) -> str:
    after_condition = " AND record_id < :after" if after else ""
    rest_condition = f" AND {_rest_condition(rest, 'search_fresh')}" if rest else ""
    return f"SELECT record_id AS id {_FROM_FRESH}{after_condition} AND {_any_word_condition(named)}{rest_condition}"


def _newest_sql(name: str, after: str | None, rest: str) -> str:
    after_condition, order = " AND record_id < :after" if after else "", "ORDER BY record_id DESC"
    matching = f"{_FROM_INDEX} AND word = :{name}{after_condition}"
    if not rest:
        return f"SELECT record_id AS id {matching} {order}"
    # The last of these records, or an empty text if there are fewer, in a form for which PostgreSQL uses the index.
    last_candidate = (
        f"SELECT coalesce(max(id), '') FROM (SELECT record_id AS id {matching} {order} LIMIT 1 OFFSET :among) AS last"
    )
    return (
        f"SELECT record_id AS id {matching} AND record_id > ({last_candidate}) AND"
        f" {_rest_condition(rest, 'search_word')} {order}"
    )


def _rest_condition(rest: str, table: str) -> str:
    # With an offset, for the same reason as in `_word_condition`.
    return f"EXISTS (SELECT 1 {rest} = {table}.record_id LIMIT 1 OFFSET 0)"


def _count_records(db: DatabaseHandle, kind: str, prefix: str, limit: int) -> int:
    parameters: dict[str, Value] = {
        "prefix": prefix,
        "prefix_end": prefix_end(prefix),
        "prefix_within": quote_prefix(prefix),
    }
    row = db.one(_COUNT_RECORDS, of_kind=kind, last=limit - 1, **parameters)
    return limit if row is None or row[0] is None else int(row[0])


def _any_word_condition(names: Iterable[str], text: str = "words") -> str:
    """Return the condition that a word of a text begins with one of the prefixes bound under these names."""
    # Both database engines have this function.
    conditions = [f"replace({text}, :{name}_within, '') <> {text}" for name in names]
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


_WITH_PREFIX = f"{_FROM_INDEX} AND word >= :prefix AND word < :prefix_end"
# To skip this many rows is less work than to count them.
_COUNT_RECORDS = (
    f"SELECT CASE WHEN EXISTS (SELECT 1 {_WITH_PREFIX} LIMIT 1 OFFSET :last) THEN NULL ELSE (SELECT"
    f" count(*) {_WITH_PREFIX}) END"
    f" + (SELECT count(*) {_FROM_FRESH} AND {_any_word_condition(['prefix'])})"
)


def _words_with_prefix(db: DatabaseHandle, kind: str, prefix: str) -> list[str]:
    """Return the first words with this prefix."""
    return [str(word) for (word,) in db.all(_WORDS_WITH_PREFIX, of_kind=kind, prefix=prefix, end=prefix_end(prefix))]


def _word_conditions(
    record_id: str,
    parameter_prefix: str,
    words: Sequence[tuple[str, ...]],
    parameters: dict[str, Value],
    text: str = "words",
) -> list[str]:
    """Return the conditions that a record has each of these words, in any spelling."""
    conditions, names = [], iter(WORD_PARAMETERS)
    for word in words:
        spellings: dict[str, Value] = {f"{parameter_prefix}_{next(names)}": prefix for prefix in word}
        parameters |= _quoted_parameters(spellings)
        conditions.append(
            f"({_word_condition(record_id, 'search_record', spellings, text)} OR"
            f" {_word_condition(record_id, 'search_fresh', spellings)})"
        )
    return conditions


def _word_condition(record_id: str, table: str, named: Mapping[str, Value], text: str = "words") -> str:
    record = f"FROM {table} {WHERE_KIND} AND record_id = {record_id} AND {_any_word_condition(named, text)}"
    # The offset makes the engine check each record. Without it, it may read all records with the word to join them.
    return f"EXISTS (SELECT 1 {record} LIMIT 1 OFFSET 0)"


def _end_parameters(named: Mapping[str, Value]) -> dict[str, Value]:
    return {f"{name}_end": prefix_end(str(prefix)) for name, prefix in named.items()}


def _quoted_parameters(named: Mapping[str, Value]) -> dict[str, Value]:
    return {f"{name}_within": quote_prefix(str(prefix)) for name, prefix in named.items()}


@cache
def _find_with_words_sql(count: int) -> str:
    names = WORD_PARAMETERS[:count]
    indexed = f"SELECT record_id {_FROM_INDEX} AND word IN ({', '.join(f':{name}' for name in names)})"
    return f"{indexed} UNION SELECT record_id {_FROM_FRESH} AND {_any_word_condition(names)} LIMIT 2"
