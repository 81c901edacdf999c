from typing import Any

import pytest

from business.customers.test_create_customer import EVERY_FIELD
from cast import Cast
from evidence import history
from mainstay.business.customers.operations import archive_customer, get_customer, list_customers, update_customer
from mainstay.kernel.context import Envelope
from mainstay.terms.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from mainstay.terms.rights import Role
from trade import a_customer, a_job, left_to_do

MAY_BE_EMPTY = sorted(EVERY_FIELD.keys() - {"name", "kind"})


def names(cast: Cast, text: str) -> list[str]:
    return [customer["name"] for customer in cast.perform(list_customers, text=text)["data"]]


def test_every_field_can_be_changed(cast: Cast) -> None:
    customer = a_customer(cast)
    changed = cast.perform(update_customer, Role.OFFICE, customerId=customer, **EVERY_FIELD)
    assert {name: changed[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert changed["version"] == 2
    assert history(cast, customer) == ["create_customer", "update_customer"]


def test_what_is_left_out_stays_and_what_is_the_same_is_no_change(cast: Cast) -> None:
    customer = a_customer(cast, **{name: EVERY_FIELD[name] for name in MAY_BE_EMPTY})
    before = cast.perform(get_customer, customerId=customer)
    after = cast.perform(update_customer, customerId=customer, phone="2")
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"updatedAt", "updatedBy"} == {"phone", "version"}
    assert cast.perform(update_customer, customerId=customer, phone="2")["version"] == after["version"]


@pytest.mark.parametrize("name", MAY_BE_EMPTY)
def test_null_clears(cast: Cast, name: str) -> None:
    customer = a_customer(cast, **{name: EVERY_FIELD[name] for name in MAY_BE_EMPTY})
    assert cast.perform(update_customer, customerId=customer, **{name: None})[name] is None


@pytest.mark.parametrize("name", ["name", "kind"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: "):
        cast.perform(update_customer, customerId=a_customer(cast), **{name: None})


def test_they_are_found_by_what_is_known_of_them_now(cast: Cast) -> None:
    customer = a_customer(cast, phone="01422 555010", email="office@calder.example")
    cast.perform(update_customer, customerId=customer, name="Ryburn Estates", phone=None, email=None)
    assert names(cast, "calder") == names(cast, "555010") == names(cast, "@calder.example") == []
    assert names(cast, "ryburn est") == ["Ryburn Estates"]


def test_only_another_name_leaves_work_for_what_bears_it(cast: Cast) -> None:
    customer = a_customer(cast)
    cast.perform(update_customer, customerId=customer, phone="1", name="Calder Property")
    assert left_to_do(cast) == []
    cast.perform(update_customer, customerId=customer, name="Ryburn Estates")
    assert left_to_do(cast) == ["reword_records_of_customer"]


def test_a_reference_of_another_customer_is_refused_and_one_s_own_is_not(cast: Cast) -> None:
    a_customer(cast, "Calder", externalRef="C-7")
    other = a_customer(cast, "Ryburn", externalRef="C-8")
    with pytest.raises(Conflict, match="Calder has the reference C-7 already"):
        cast.perform(update_customer, customerId=other, externalRef="C-7")
    assert cast.perform(update_customer, customerId=other, externalRef="C-8", phone="1")["phone"] == "1"


def test_a_change_to_what_has_changed_since_is_refused(cast: Cast) -> None:
    customer = a_customer(cast)
    cast.perform(update_customer, customerId=customer, phone="1")
    with pytest.raises(Stale):
        cast.answer(
            update_customer, Role.OFFICE, Envelope("r", versions=frozenset({1})), customerId=customer, phone="2"
        )


def test_an_archived_customer_s_details_can_still_be_put_right(cast: Cast) -> None:
    customer = a_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    assert cast.perform(update_customer, customerId=customer, phone="1")["phone"] == "1"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none_of_them(cast: Cast, role: Role) -> None:
    customer = a_customer(cast)
    a_job(cast, customer, role)
    with pytest.raises(Forbidden):
        cast.perform(update_customer, role, customerId=customer, phone="1")


def test_a_stranger_s_customer_is_not_found(cast: Cast, stranger: Cast) -> None:
    given: dict[str, Any] = {"customerId": a_customer(stranger), "phone": "1"}
    with pytest.raises(NotFound, match=r"^There is no customer with that identifier\.$"):
        cast.perform(update_customer, **given)
