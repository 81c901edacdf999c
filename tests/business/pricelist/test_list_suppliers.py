import pytest

from cast import Cast
from mainstay.business.pricelist.suppliers import list_suppliers
from mainstay.terms.refusal import Forbidden
from mainstay.terms.rights import Role
from wares import a_supplier


def names(cast: Cast, **given: object) -> list[str]:
    return [supplier["name"] for supplier in cast.perform(list_suppliers, Role.OFFICE, **given)["data"]]


def test_those_in_use_are_listed_newest_first_or_by_name(cast: Cast, stranger: Cast) -> None:
    a_supplier(stranger)
    made = [a_supplier(cast, name) for name in ("ryburn", "Calder", "\u00c4ther")]
    a_supplier(cast, "Gone", status="archived")
    assert names(cast) == ["\u00c4ther", "Calder", "ryburn"]
    assert names(cast, startingAfter=made[1]) == ["ryburn"]
    assert names(cast, order="name") == ["\u00c4ther", "Calder", "ryburn"]
    assert names(cast, order="name", startingAfter=made[1], limit=1) == ["ryburn"]
    assert names(cast, status="archived") == ["Gone"]


def test_they_are_found_by_name_mail_phone_and_number(cast: Cast) -> None:
    a_supplier(cast, email="orders@pennine.example", phone="01422 555010", accountNumber="HAR-01", notes="Secret")
    a_supplier(cast, "Ryburn")
    for text in ("penn", "orders@pennine.example", "@pennine.example", "555010", "har 01"):
        assert names(cast, text=text) == ["Pennine Supplies"], text
    assert names(cast, text="secret") == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_has_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_suppliers, role)
