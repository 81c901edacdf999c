import pytest

from cast import Cast
from mainstay.backing.among import THESE, among
from scheduling import colleagues

SQL = f"SELECT id FROM person WHERE organisation_id = :organisation AND status = :status AND id IN {THESE}"


@pytest.mark.parametrize("number", [0, 1, 100, 101, 150])
def test_all_rows_with_one_of_the_values_are_found_once_and_no_others(cast: Cast, number: int) -> None:
    colleagues(cast, "left", 150)
    sought = [f"person_{one:026}" for one in range(number)]
    with cast.stage.database.reading(cast.organisation) as rows:
        found = among(rows, SQL, [*sought, *sought, *cast.people.values()], status="left")
    assert sorted(str(one) for (one,) in found) == sought
