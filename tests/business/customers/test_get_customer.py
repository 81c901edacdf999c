import pytest

from business.customers.test_create_customer import EVERY_FIELD
from mainstay.business.customers.operations import get_customer
from mainstay.business.jobs.operations import update_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden, NotFound
from support.cast import Cast
from support.customers import make_customer, make_job

OFFICE_ONLY = {
    "taxNumber",
    "registrationNumber",
    "eInvoiceAddress",
    "reference",
    "paymentTermsDays",
    "notes",
    "externalRef",
}


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.OFFICE])
def test_the_office_is_told_everything(cast: Cast, role: Role) -> None:
    customer = make_customer(cast, **EVERY_FIELD)
    result = cast.perform(get_customer, role, customerId=customer)
    assert {name: result[name] for name in EVERY_FIELD} == EVERY_FIELD


def test_a_member_is_told_what_the_work_needs_of_the_customers_of_their_own_jobs(cast: Cast) -> None:
    customer = make_customer(cast, **EVERY_FIELD)
    make_job(cast, customer, Role.MEMBER)
    result = cast.perform(get_customer, Role.MEMBER, customerId=customer)
    assert {name: result[name] for name in EVERY_FIELD} == EVERY_FIELD | dict.fromkeys(OFFICE_ONLY)
    assert result["availableActions"] == []


def test_a_member_finds_nobody_else(cast: Cast) -> None:
    mine, other = make_customer(cast), make_customer(cast, "Ryburn")
    job = make_job(cast, mine, Role.MEMBER)
    make_job(cast, other)
    with pytest.raises(NotFound, match=r"^There is no customer with that identifier\.$"):
        cast.perform(get_customer, Role.MEMBER, customerId=other)
    # And not even these, once the work is another's.
    cast.perform(update_job, jobId=job["id"], assigned=[])
    with pytest.raises(NotFound):
        cast.perform(get_customer, Role.MEMBER, customerId=mine)


def test_a_subcontractor_sees_no_customers_at_all(cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, Role.SUBCONTRACTOR)
    with pytest.raises(Forbidden):
        cast.perform(get_customer, Role.SUBCONTRACTOR, customerId=customer)


def test_a_stranger_s_customer_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_customer, customerId=make_customer(other_cast))


@pytest.mark.parametrize("wrong", ["", "customer_1", "Calder", "job_01KA41T9YB7C5D3E1F9G8H6J4K"])
def test_what_is_no_id_of_one_is_not_found(cast: Cast, wrong: str) -> None:
    with pytest.raises(NotFound):
        cast.perform(get_customer, customerId=wrong)
