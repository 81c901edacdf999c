"""Which tests of operations `make test` does not repeat on PostgreSQL."""

from pathlib import Path

import pytest

from mainstay.infrastructure.database import UniqueViolation
from support.cast import Cast
from support.engines import NOT_REPEATED, engines_of
from support.statement_recorder import StatementRecorder, choose_not_repeated, read_records

STATEMENTS = {
    "business/test_a.py::test_much": {"one", "two", "three"},
    "business/test_a.py::test_more_of_it": {"one", "two"},
    "business/test_a.py::test_something_else": {"four"},
    "business/test_a.py::test_nothing": set[str](),
    "kernel/test_b.py::test_the_same": {"two", "three"},
}


def test_those_are_left_out_whose_statements_others_run() -> None:
    assert choose_not_repeated(STATEMENTS) == ["business/test_a.py::test_much", "business/test_a.py::test_nothing"]


def test_what_is_left_out_runs_on_sqlite_only_except_in_the_long_run(request: pytest.FixtureRequest) -> None:
    listed = NOT_REPEATED.read_text().splitlines()[-1]
    test = _name_test(listed, request.session)
    assert engines_of(test, every=False) == ("sqlite",)
    assert engines_of(test, every=True) == engines_of(test, every=False, as_listed=False) == ("sqlite", "postgresql")
    assert engines_of(_name_test(f"{listed}_now", request.session), every=False) == ("sqlite", "postgresql")


class _NamedTest(pytest.Item):
    """A test of which only the name matters."""

    def runtest(self) -> None:
        """Test nothing."""


def _name_test(name: str, session: pytest.Session) -> _NamedTest:
    return _NamedTest.from_parent(session, name="one", nodeid=f"tests/{name}")


@pytest.mark.only_on("postgresql")
def test_values_beyond_ascii_and_outcomes_are_told_apart(
    request: pytest.FixtureRequest, only_cast: Cast, tmp_path: Path
) -> None:
    recorder, database = StatementRecorder(tmp_path, "only"), only_cast.performer.database
    sql = "SELECT 1 FROM organisation WHERE name = :name"

    def ask(**given: str) -> None:
        with database.read_transaction(only_cast.organisation) as db:
            db.one(sql, **given)

    with recorder.recording(request.node):
        for name in ("Calder", "Ryburn", "Größe"):
            ask(name=name)
        with pytest.raises(UniqueViolation), database.write_transaction(only_cast.organisation) as db:
            db.run("INSERT INTO organisation SELECT * FROM organisation WHERE id = :organisation")
    recorder.pytest_sessionfinish()

    (found,) = read_records(tmp_path).values()
    told = {tuple(one.split("\n")) for one in found}
    assert {one[1:] for one in told if one[0] == sql} == {
        ("name str", "0"),
        ("name text beyond ASCII", "0"),
    }
    assert [one[-1] for one in told if one[0].startswith("INSERT INTO organisation")] == ["UniqueViolation"]
