import pytest

from mainstay.business.pricelist.suppliers import list_suppliers
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.prices import make_supplier


def list_names(cast: Cast, **given: object) -> list[str]:
    return [supplier["name"] for supplier in cast.perform(list_suppliers, Role.OFFICE, **given)["data"]]


def test_those_in_use_are_listed_newest_first_or_by_name(cast: Cast, other_cast: Cast) -> None:
    make_supplier(other_cast)
    made = [make_supplier(cast, name) for name in ("ryburn", "Calder", "\u00c4ther")]
    make_supplier(cast, "Gone", status="archived")
    assert list_names(cast) == ["\u00c4ther", "Calder", "ryburn"]
    assert list_names(cast, startingAfter=made[1]) == ["ryburn"]
    assert list_names(cast, order="name") == ["\u00c4ther", "Calder", "ryburn"]
    assert list_names(cast, order="name", startingAfter=made[1], limit=1) == ["ryburn"]
    assert list_names(cast, status="archived") == ["Gone"]


def test_they_are_found_by_name_mail_phone_and_number(cast: Cast) -> None:
    make_supplier(cast, email="orders@pennine.example", phone="01422 555010", accountNumber="HAR-01", notes="Secret")
    make_supplier(cast, "Ryburn")
    for text in ("penn", "orders@pennine.example", "@pennine.example", "555010", "har 01"):
        assert list_names(cast, text=text) == ["Pennine Supplies"], text
    assert list_names(cast, text="secret") == []


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_has_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_suppliers, role)
