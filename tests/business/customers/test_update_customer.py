from typing import Any

import pytest

from business.customers.test_create_customer import EVERY_FIELD
from mainstay.business.customers.operations import archive_customer, get_customer, list_customers, update_customer
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from support.cast import Cast
from support.customers import list_task_kinds, make_customer, make_job
from support.stored_state import operations_on

MAY_BE_EMPTY = sorted(EVERY_FIELD.keys() - {"name", "kind"})


def list_customer_names(cast: Cast, text: str) -> list[str]:
    return [customer["name"] for customer in cast.perform(list_customers, text=text)["data"]]


def test_every_field_can_be_changed(cast: Cast) -> None:
    customer = make_customer(cast)
    changed = cast.perform(update_customer, Role.OFFICE, customerId=customer, **EVERY_FIELD)
    assert {name: changed[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert changed["version"] == 2
    assert operations_on(cast, customer) == ["create_customer", "update_customer"]


def test_what_is_left_out_stays_and_what_is_the_same_is_no_change(cast: Cast) -> None:
    customer = make_customer(cast, **{name: EVERY_FIELD[name] for name in MAY_BE_EMPTY})
    before = cast.perform(get_customer, customerId=customer)
    after = cast.perform(update_customer, customerId=customer, phone="2")
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"updatedAt", "updatedBy"} == {"phone", "version"}
    assert cast.perform(update_customer, customerId=customer, phone="2")["version"] == after["version"]


@pytest.mark.parametrize("name", MAY_BE_EMPTY)
def test_null_clears(cast: Cast, name: str) -> None:
    customer = make_customer(cast, **{name: EVERY_FIELD[name] for name in MAY_BE_EMPTY})
    assert cast.perform(update_customer, customerId=customer, **{name: None})[name] is None


@pytest.mark.parametrize("name", ["name", "kind"])
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: "):
        cast.perform(update_customer, customerId=make_customer(cast), **{name: None})


def test_they_are_found_by_what_is_known_of_them_now(cast: Cast) -> None:
    customer = make_customer(cast, phone="01422 555010", email="office@calder.example")
    cast.perform(update_customer, customerId=customer, name="Ryburn Estates", phone=None, email=None)
    assert (
        list_customer_names(cast, "calder")
        == list_customer_names(cast, "555010")
        == list_customer_names(cast, "@calder.example")
        == []
    )
    assert list_customer_names(cast, "ryburn est") == ["Ryburn Estates"]


def test_only_another_name_leaves_work_for_what_bears_it(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(update_customer, customerId=customer, phone="1", name="Calder Property")
    assert list_task_kinds(cast) == []
    cast.perform(update_customer, customerId=customer, name="Ryburn Estates")
    assert list_task_kinds(cast) == ["reword_records_of_customer"]


def test_a_reference_of_another_customer_is_refused_and_one_s_own_is_not(cast: Cast) -> None:
    make_customer(cast, "Calder", externalRef="C-7")
    other = make_customer(cast, "Ryburn", externalRef="C-8")
    with pytest.raises(Conflict, match="Calder already has the external ID C-7"):
        cast.perform(update_customer, customerId=other, externalRef="C-7")
    assert cast.perform(update_customer, customerId=other, externalRef="C-8", phone="1")["phone"] == "1"


def test_a_change_to_what_has_changed_since_is_refused(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(update_customer, customerId=customer, phone="1")
    with pytest.raises(Stale):
        cast.answer(
            update_customer,
            Role.OFFICE,
            RequestDetails("r", if_match_versions=frozenset({1})),
            customerId=customer,
            phone="2",
        )


def test_an_archived_customer_s_details_can_still_be_put_right(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    assert cast.perform(update_customer, customerId=customer, phone="1")["phone"] == "1"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_changes_none_of_them(cast: Cast, role: Role) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, role)
    with pytest.raises(Forbidden):
        cast.perform(update_customer, role, customerId=customer, phone="1")


def test_a_stranger_s_customer_is_not_found(cast: Cast, other_cast: Cast) -> None:
    given: dict[str, Any] = {"customerId": make_customer(other_cast), "phone": "1"}
    with pytest.raises(NotFound, match=r"^There is no customer with that identifier\.$"):
        cast.perform(update_customer, **given)
