"""The words of records: the newest stand together, and are looked up by them once there are many."""

import pytest

from cast import Cast
from evidence import contents_of
from mainstay.backing.database import Row
from mainstay.business.jobs.operations import list_jobs, update_job
from mainstay.ledger import words
from mainstay.ledger.words import MOST_FRESH, Words
from mainstay.terms.rights import Role
from trade import a_customer, a_job

NONE = Words(frozenset())


def begin(cast: Cast, numbers: range, *said: str) -> None:
    with cast.stage.database.changing(cast.organisation) as rows:
        for number in numbers:
            words.begin(rows, "thing", f"thing_{number}", Words(frozenset({f"n{number}", *said})))


def table(cast: Cast, name: str) -> list[Row]:
    return [row for row in contents_of(cast)[name] if str(row[1]).startswith("thing")]


def test_there_are_never_very_many_that_are_fresh(cast: Cast) -> None:
    begin(cast, range(MOST_FRESH - 1), "same")
    assert len(table(cast, "search_fresh")) == MOST_FRESH - 1
    assert table(cast, "search_record") == table(cast, "search_word") == []
    begin(cast, range(MOST_FRESH - 1, MOST_FRESH), "same")
    assert table(cast, "search_fresh") == []
    assert len(table(cast, "search_record")) == MOST_FRESH
    pairs = {(word, record) for _, _, word, record in table(cast, "search_word")}
    assert pairs == {(word, f"thing_{n}") for n in range(MOST_FRESH) for word in (f"n{n}", "same")}
    begin(cast, range(MOST_FRESH, MOST_FRESH + 1), "same")
    assert len(table(cast, "search_fresh")) == 1


def test_those_of_another_kind_do_not_count(cast: Cast) -> None:
    begin(cast, range(MOST_FRESH - 1))
    with cast.stage.database.changing(cast.organisation) as rows:
        words.begin(rows, "thing else", "thing_x", Words(frozenset({"x"})))
    assert len(table(cast, "search_fresh")) == MOST_FRESH


@pytest.mark.parametrize("most_fresh", [MOST_FRESH, 1])
def test_a_record_is_known_by_its_newest_words_alone(
    cast: Cast, most_fresh: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "MOST_FRESH", most_fresh)
    begin(cast, range(1), "marks", '"', "50%", "a\\b")
    for said in (
        Words(frozenset({"n0", "other"})),
        Words(frozenset({"n0", "other", "secret"}), frozenset({"secret"})),
        Words(frozenset({"n0", "other", "secret"}), frozenset({"other", "secret"})),
        Words(frozenset({"only"}), frozenset({"only"})),
        Words(frozenset({"n0"})),
        NONE,
        Words(frozenset({"again"})),
    ):
        with cast.stage.database.changing(cast.organisation) as rows:
            words.renew(rows, "thing", "thing_0", said)
            assert words.kept(rows, "thing", "thing_0") == said
        is_fresh = bool(table(cast, "search_fresh"))
        kept = {("thing", word) for word in said.every} | {("thing hidden", word) for word in said.hidden}
        assert {(kind, word) for _, kind, word, _ in table(cast, "search_word")} == (set() if is_fresh else kept)
        assert len(table(cast, "search_fresh")) + len(table(cast, "search_record")) == bool(said.every)


def test_whoever_is_not_shown_a_word_finds_nothing_by_it_though_the_record_was_fresh(cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.MEMBER, title="Ryburn boiler")["id"]

    def found(role: Role) -> list[str]:
        return [record["id"] for record in cast.perform(list_jobs, role, text="ryb")["data"]]

    assert [found(Role.OFFICE), found(Role.MEMBER)] == [[job], [job]]
    # The same words: only what says one of them is not shown to everyone.
    cast.perform(update_job, jobId=job, title="Boiler", customerOrderNumber="Ryburn")
    assert [found(Role.OFFICE), found(Role.MEMBER)] == [[job], []]
