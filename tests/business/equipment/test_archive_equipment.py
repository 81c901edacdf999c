import pytest

from mainstay.business.equipment.operations import archive_equipment, restore_equipment, save_equipment
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden
from support.cast import Cast
from support.customers import make_customer, make_equipment, make_site


def test_it_is_archived_and_restored(cast: Cast) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    archived = cast.perform(archive_equipment, equipmentId=equipment)
    assert (archived["status"], archived["availableActions"]) == ("archived", ["save_equipment", "restore_equipment"])
    with pytest.raises(Conflict, match=r"^Boiler is already archived\.$"):
        cast.perform(archive_equipment, equipmentId=equipment)
    assert cast.perform(restore_equipment, equipmentId=equipment)["status"] == "active"
    with pytest.raises(Conflict, match=r"^Boiler is not archived\.$"):
        cast.perform(restore_equipment, equipmentId=equipment)


def test_an_archived_one_can_still_be_corrected(cast: Cast) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    cast.perform(archive_equipment, equipmentId=equipment)
    assert cast.perform(save_equipment, equipmentId=equipment, notes="Scrapped.")["notes"] == "Scrapped."


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_may_not(cast: Cast, role: Role) -> None:
    equipment = make_equipment(cast, make_site(cast, make_customer(cast)))
    with pytest.raises(Forbidden):
        cast.perform(archive_equipment, role, equipmentId=equipment)
