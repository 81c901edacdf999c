import pytest

from cast import Cast
from labour import at, logged
from mainstay.business.hours.operations import get_time_entry
from mainstay.terms.refusal import NotFound
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE, Role.MEMBER])
def test_it_is_shown_to_whoever_sees_it(cast: Cast, role: Role) -> None:
    entry = logged(at(cast), note="Flushed the pipes")
    assert cast.perform(get_time_entry, role, timeEntryId=entry["id"])["note"] == "Flushed the pipes"


def test_nobody_else_finds_it(cast: Cast, stranger: Cast) -> None:
    entry = logged(at(cast))
    for who, role in ((cast, Role.SUBCONTRACTOR), (stranger, Role.OWNER)):
        with pytest.raises(NotFound, match=r"^There is no time entry with that identifier\.$"):
            who.perform(get_time_entry, role, timeEntryId=entry["id"])
    with pytest.raises(NotFound):
        cast.perform(get_time_entry, timeEntryId=new_id("entry"))


@pytest.mark.parametrize(
    ("status", "own", "office"),
    [
        ("draft", ["update_hours", "delete_hours"], ["update_hours", "delete_hours"]),
        ("submitted", [], ["update_hours", "delete_hours"]),
        ("approved", [], []),
        ("rejected", ["update_hours", "delete_hours"], ["update_hours", "delete_hours"]),
    ],
)
def test_it_tells_what_can_be_done_with_it(cast: Cast, status: str, own: list[str], office: list[str]) -> None:
    entry = logged(at(cast), status=status)
    for role, actions in ((Role.MEMBER, own), (Role.OFFICE, office)):
        assert cast.perform(get_time_entry, role, timeEntryId=entry["id"])["availableActions"] == actions
