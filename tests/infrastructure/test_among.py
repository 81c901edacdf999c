import pytest

from mainstay.infrastructure.batched_select import BATCH_VALUES, select_batched
from support.cast import Cast
from support.visits import insert_colleagues

SQL = f"SELECT id FROM person WHERE organisation_id = :organisation AND status = :status AND id IN {BATCH_VALUES}"


@pytest.mark.parametrize("number", [0, 1, 100, 101, 150])
def test_all_rows_with_one_of_the_values_are_found_once_and_no_others(cast: Cast, number: int) -> None:
    insert_colleagues(cast, "left", 150)
    sought = [f"person_{one:026}" for one in range(number)]
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = select_batched(db, SQL, [*sought, *sought, *cast.people.values()], status="left")
    assert sorted(str(one) for (one,) in found) == sought
