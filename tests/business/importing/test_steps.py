"""An import is written in steps: others can write between them, and an interruption loses nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainstay.business.customers.operations import create_customer, list_customers
from mainstay.business.importing import store
from mainstay.business.importing.import_model import DONE, IMPORTING
from mainstay.business.importing.import_run import Superseded
from mainstay.business.importing.steps import Pace, pace_for
from mainstay.composition import open_performer
from mainstay.settings import Settings
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.imports import ROW_BY_ROW, FileImport, upload_import
from support.stored_state import operations_on

HEADINGS = ["Name", "Phone", "Ref"]
LINES = [[f"Customer {number}", f"+44 1422 {number:06}", f"C-{number}"] for number in range(6)]


class Interrupted(BaseException):
    """Stands for the end of the server process."""


def make_pace(*hooks: Callable[[], object]) -> Pace:
    """Return a pace of one row a step that calls one hook after each of the first steps."""
    hooks_left = iter(hooks)

    def pause() -> None:
        for hook in hooks_left:
            hook()
            return

    return Pace(0.0, pause)


def make_interrupting_pace(steps: int) -> Pace:
    def stop() -> None:
        raise Interrupted

    return make_pace(*[lambda: None] * (steps - 1), stop)


def list_customer_names(cast: Cast) -> list[str]:
    return sorted(one["name"] for one in cast.perform(list_customers, Role.OFFICE, limit=100)["data"])


def import_until_interrupted(file_import: FileImport, steps: int) -> None:
    with pytest.raises(Interrupted):
        file_import.import_rows(make_interrupting_pace(steps))


def test_others_get_their_turn_between_two_steps(settings: Settings, cast: Cast, other_cast: Cast) -> None:
    # As another server process does, with connections of its own.
    elsewhere = open_performer(settings)
    seen: list[tuple[str, int, int]] = []
    with ThreadPoolExecutor(1) as others:

        def change(acting_cast: Cast) -> None:
            there = Cast(elsewhere, acting_cast.organisation, acting_cast.people)
            made = others.submit(there.perform, create_customer, name="Meanwhile").result(timeout=60)
            seen.append((made["name"], len(list_customer_names(other_cast)), len(list_customer_names(cast))))

        one = upload_import(cast, "customers", HEADINGS, LINES)
        assert one.import_rows(make_pace(lambda: change(other_cast), lambda: change(cast))).created == len(LINES)
    elsewhere.database.close()
    # The neighbour's after the first row, and the organisation's own after the second.
    assert seen == [("Meanwhile", 1, 1), ("Meanwhile", 1, 3)]
    assert len(list_customer_names(cast)) == len(LINES) + 1


def test_others_get_their_turn_while_rows_are_checked(cast: Cast) -> None:
    one = upload_import(cast, "customers", HEADINGS, LINES)
    paused: list[list[str]] = []

    def add() -> None:
        cast.perform(create_customer, name=f"Meanwhile {len(paused)}")
        paused.append(list_customer_names(cast))

    assert one.check(make_pace(add, add)).created == len(LINES)
    assert paused == [["Meanwhile 0"], ["Meanwhile 0", "Meanwhile 1"]]


def test_a_step_ends_when_its_time_is_over_and_not_before() -> None:
    assert list(Pace(0.0, lambda: None).limit("abc")) == ["a"]
    assert list(Pace(600.0, lambda: None).limit("abc")) == ["a", "b", "c"]
    assert list(Pace(0.0, lambda: None).limit("")) == []


def test_the_usual_step_is_a_fraction_of_what_a_neighbour_may_wait(cast: Cast) -> None:
    assert pace_for(cast.performer.database.engine).seconds <= 0.1


def test_an_interrupted_import_says_how_far_it_came_and_is_half_done_in_no_row(cast: Cast) -> None:
    one = upload_import(cast, "customers", HEADINGS, LINES)
    one.check()
    import_until_interrupted(one, 2)
    run = one.run
    assert (run.status, run.done_rows, run.row_count, one.outcome.created) == (IMPORTING, 2, 6, 2)
    assert list_customer_names(cast) == ["Customer 0", "Customer 1"]
    assert (run.not_importable(), run.not_undoable()) == ([], [])
    assert [reason.text for reason in run.not_checkable()] == ["Continue or undo this import first."]


def test_a_continued_import_comes_to_the_same_as_one_without_interruption(cast: Cast, other_cast: Cast) -> None:
    lines = [*LINES, ["By hand", "+44 1422 555 9999", "C-7"], ["Same", "1", "C-8"]]
    results = []
    for whose, steps in ((cast, (2, 5)), (other_cast, ())):
        whose.perform(create_customer, name="By hand")
        whose.perform(create_customer, name="Same", phone="1", externalRef="C-8")
        one = upload_import(whose, "customers", HEADINGS, lines)
        one.check()
        for done in steps:
            import_until_interrupted(one, done - one.run.done_rows)
            assert one.run.done_rows == done
        outcome = one.import_rows(ROW_BY_ROW)
        assert (outcome.created, outcome.changed, outcome.unchanged) == (6, 1, 1)
        assert one.run.status == DONE
        results.append([customer_values(customer) for customer in whose.perform(list_customers, limit=100)["data"]])
    assert results[0] == results[1]


def customer_values(customer: dict[str, Any]) -> tuple[object, ...]:
    return tuple(customer[name] for name in ("name", "phone", "externalRef", "version", "status"))


def test_each_row_is_one_act_in_the_trail_however_many_are_in_a_step(cast: Cast) -> None:
    upload_import(cast, "customers", HEADINGS, LINES).import_rows()
    for customer in cast.perform(list_customers, limit=100)["data"]:
        assert operations_on(cast, customer["id"]) == ["create_customer"]


def test_only_the_latest_attempt_writes(cast: Cast) -> None:
    one = upload_import(cast, "customers", HEADINGS, LINES)
    first = one.begin(IMPORTING, make_pace(lambda: one.import_rows(ROW_BY_ROW)))
    # It sleeps for so long after its first row that it is taken for dead, and somebody continues.
    with pytest.raises(Superseded):
        first.import_rows()
    assert (one.run.status, one.outcome.created, list_customer_names(cast)) == (
        DONE,
        6,
        sorted(line[0] for line in LINES),
    )


def test_nobody_begins_twice(cast: Cast) -> None:
    one = upload_import(cast, "customers", HEADINGS, LINES)
    one.check()
    seen = one.run
    with cast.performer.database.write_transaction(cast.organisation) as db:
        assert [store.begin_run(db, seen, IMPORTING) for _ in range(2)] == [True, False]
    interrupted = one.run
    with cast.performer.database.write_transaction(cast.organisation) as db:
        # Nor continues what was interrupted.
        assert [store.begin_run(db, interrupted, IMPORTING) for _ in range(2)] == [True, False]
