import pytest

from mainstay.business.customers.operations import archive_customer, list_customers, restore_customer
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job


def test_they_are_listed_again_and_there_can_be_work_for_them(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    assert cast.perform(restore_customer, Role.OFFICE, customerId=customer)["status"] == "active"
    assert [listed["id"] for listed in cast.perform(list_customers)["data"]] == [customer]
    assert make_job(cast, customer)["customerId"] == customer


def test_one_that_is_not_archived_need_not_be(cast: Cast) -> None:
    with pytest.raises(Blocked, match=r"^Calder Property is not archived\.$"):
        cast.perform(restore_customer, customerId=make_customer(cast))


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_brings_nobody_back(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(restore_customer, role, customerId=make_customer(cast))


def test_a_stranger_s_customer_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(restore_customer, customerId=make_customer(other_cast))
