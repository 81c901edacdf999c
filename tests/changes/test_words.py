"""The search words of records: recent ones are stored together, and indexed by word once there are many."""

import pytest

from mainstay.business.jobs.operations import list_jobs, update_job
from mainstay.changes import search_words
from mainstay.changes.search_words import MAX_FRESH_RECORDS, RecordWords
from mainstay.infrastructure.database import Row
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.customers import make_customer, make_job
from support.stored_state import read_rows_of

NO_WORDS = RecordWords(frozenset())


def add_words(cast: Cast, numbers: range, *words: str) -> None:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        for number in numbers:
            search_words.insert_words(db, "thing", f"thing_{number}", RecordWords(frozenset({f"n{number}", *words})))


def read_table(cast: Cast, name: str) -> list[Row]:
    return [row for row in read_rows_of(cast)[name] if str(row[1]).startswith("thing")]


def test_there_are_never_very_many_that_are_fresh(cast: Cast) -> None:
    add_words(cast, range(MAX_FRESH_RECORDS - 1), "same")
    assert len(read_table(cast, "search_fresh")) == MAX_FRESH_RECORDS - 1
    assert read_table(cast, "search_record") == read_table(cast, "search_word") == []
    add_words(cast, range(MAX_FRESH_RECORDS - 1, MAX_FRESH_RECORDS), "same")
    assert read_table(cast, "search_fresh") == []
    assert len(read_table(cast, "search_record")) == MAX_FRESH_RECORDS
    pairs = {(word, record) for _, _, word, record in read_table(cast, "search_word")}
    assert pairs == {(word, f"thing_{n}") for n in range(MAX_FRESH_RECORDS) for word in (f"n{n}", "same")}
    add_words(cast, range(MAX_FRESH_RECORDS, MAX_FRESH_RECORDS + 1), "same")
    assert len(read_table(cast, "search_fresh")) == 1


def test_those_of_another_kind_do_not_count(cast: Cast) -> None:
    add_words(cast, range(MAX_FRESH_RECORDS - 1))
    with cast.performer.database.write_transaction(cast.organisation) as db:
        search_words.insert_words(db, "thing else", "thing_x", RecordWords(frozenset({"x"})))
    assert len(read_table(cast, "search_fresh")) == MAX_FRESH_RECORDS


@pytest.mark.parametrize("max_fresh_records", [MAX_FRESH_RECORDS, 1])
def test_a_record_is_known_by_its_newest_words_alone(
    cast: Cast, max_fresh_records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_words, "MAX_FRESH_RECORDS", max_fresh_records)
    add_words(cast, range(1), "marks", '"', "50%", "a\\b")
    for said in (
        RecordWords(frozenset({"n0", "other"})),
        RecordWords(frozenset({"n0", "other", "secret"}), frozenset({"secret"})),
        RecordWords(frozenset({"n0", "other", "secret"}), frozenset({"other", "secret"})),
        RecordWords(frozenset({"only"}), frozenset({"only"})),
        RecordWords(frozenset({"n0"})),
        NO_WORDS,
        RecordWords(frozenset({"again"})),
    ):
        with cast.performer.database.write_transaction(cast.organisation) as db:
            search_words.update_words(db, "thing", "thing_0", said)
            assert search_words.read_words(db, "thing", "thing_0") == said
        is_fresh = bool(read_table(cast, "search_fresh"))
        kept = {("thing", word) for word in said.all_words} | {("thing hidden", word) for word in said.hidden_words}
        assert {(kind, word) for _, kind, word, _ in read_table(cast, "search_word")} == (set() if is_fresh else kept)
        assert len(read_table(cast, "search_fresh")) + len(read_table(cast, "search_record")) == bool(said.all_words)


def test_whoever_is_not_shown_a_word_finds_nothing_by_it_though_the_record_was_fresh(cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, title="Ryburn boiler")["id"]

    def found(role: Role) -> list[str]:
        return [record["id"] for record in cast.perform(list_jobs, role, text="ryb")["data"]]

    assert [found(Role.OFFICE), found(Role.MEMBER)] == [[job], [job]]
    # The same words: only what says one of them is not shown to everyone.
    cast.perform(update_job, jobId=job, title="Boiler", customerOrderNumber="Ryburn")
    assert [found(Role.OFFICE), found(Role.MEMBER)] == [[job], []]
