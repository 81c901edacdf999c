from typing import Any

import pytest

from mainstay.business.pricelist.suppliers import get_supplier, list_suppliers, save_supplier
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from support.cast import Cast
from support.customers import ADDRESS
from support.prices import make_supplier
from support.stored_state import operations_on, to_event_record

EVERY_FIELD: dict[str, Any] = {
    "name": "Pennine Supplies",
    "email": "orders@pennine.example",
    "phone": "01422 555010",
    "address": ADDRESS,
    "taxNumber": "GB 123",
    "accountNumber": "HAR-01",
    "paymentTermsDays": 30,
    "language": "de",
    "notes": "Deliver before eight.",
    "status": "active",
    "externalRef": "S-7",
}


def test_a_new_one_is_kept_with_everything(cast: Cast) -> None:
    made = cast.perform(save_supplier, Role.OFFICE, **EVERY_FIELD)
    assert {name: made[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert to_event_record(cast.perform(get_supplier, supplierId=made["id"])) == to_event_record(made)
    assert made["url"].endswith(f"/suppliers/{made['id']}")
    assert made["availableActions"] == ["save_supplier"]


def test_a_new_one_needs_a_name(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^name: is required for a new record$"):
        cast.perform(save_supplier, phone="1")


def test_only_what_is_sent_changes_and_null_clears(cast: Cast) -> None:
    supplier = make_supplier(cast, **{name: value for name, value in EVERY_FIELD.items() if name != "name"})
    before = cast.perform(get_supplier, supplierId=supplier)
    cleared = EVERY_FIELD.keys() - {"name", "status", "notes"}
    after = cast.perform(save_supplier, Role.OFFICE, supplierId=supplier, **dict.fromkeys(cleared))
    changed = {name for name in before if before[name] != after[name]} - {"updatedAt", "updatedBy", "version"}
    assert changed == cleared
    assert all(after[name] is None for name in cleared)
    assert operations_on(cast, supplier) == ["save_supplier", "save_supplier"]


@pytest.mark.parametrize("name", ["name", "status"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: "):
        cast.perform(save_supplier, supplierId=make_supplier(cast), **{name: None})


@pytest.mark.parametrize(
    ("name", "given"),
    [("paymentTermsDays", -1), ("paymentTermsDays", 366), ("paymentTermsDays", 1.5), ("email", "nobody"),
     ("language", "it"), ("name", " "), ("name", "a\tb"), ("name", "x" * 201), ("phone", ""), ("status", "gone")],
)  # fmt: skip
def test_what_is_wrong_is_refused(cast: Cast, name: str, given: object) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: "):
        cast.perform(save_supplier, **{"name": "x", name: given})


def test_no_two_share_a_reference_of_another_system(cast: Cast) -> None:
    make_supplier(cast, externalRef="S-7")
    other = make_supplier(cast, "Ryburn")
    for given in ({"supplierId": other}, {"name": "New"}):
        with pytest.raises(
            Conflict, match=r"Pennine Supplies already has the external ID S-7\. Change it there, or use"
        ):
            cast.perform(save_supplier, externalRef="S-7", **given)


def test_it_is_found_by_its_new_name_and_number(cast: Cast) -> None:
    supplier = make_supplier(cast, phone="01422 555010")
    cast.perform(save_supplier, supplierId=supplier, name="Ryburn", accountNumber="HAR-01")

    def found(text: str) -> list[str]:
        return [one["id"] for one in cast.perform(list_suppliers, text=text)["data"]]

    assert found("ryb") == found("har-01") == found("+44 1422 555010") == [supplier]
    assert found("pennine") == []


def test_a_change_to_what_has_changed_since_is_refused(cast: Cast) -> None:
    supplier = make_supplier(cast)
    cast.perform(save_supplier, supplierId=supplier, phone="1")
    with pytest.raises(Stale):
        cast.answer(
            save_supplier,
            Role.OFFICE,
            RequestDetails("r", if_match_versions=frozenset({1})),
            supplierId=supplier,
            phone="2",
        )


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(save_supplier, role, name="x")


def test_what_is_a_stranger_s_is_not_found(cast: Cast, other_cast: Cast) -> None:
    theirs = make_supplier(other_cast)
    with pytest.raises(NotFound, match=r"no supplier"):
        cast.perform(save_supplier, supplierId=theirs, name="x")
