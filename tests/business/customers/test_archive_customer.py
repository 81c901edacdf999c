import pytest

from mainstay.business.customers.operations import archive_customer, get_customer
from mainstay.business.customers.sites_and_contacts import save_contact, save_site
from mainstay.business.jobs.operations import change_job_status, create_job
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Blocked, Forbidden, NotFound
from support.cast import Cast
from support.customers import ADDRESS, make_customer, make_job


def test_it_leaves_the_lists_and_can_be_brought_back(cast: Cast) -> None:
    customer = make_customer(cast)
    archived = cast.perform(archive_customer, Role.OFFICE, customerId=customer)
    assert archived["status"] == "archived"
    assert archived["availableActions"] == ["update_customer", "restore_customer", "send_statement"]
    assert cast.perform(get_customer, customerId=customer)["version"] == 2


def test_a_second_time_is_refused(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    with pytest.raises(Blocked, match=r"^Calder Property is already archived\.$"):
        cast.perform(archive_customer, customerId=customer)


@pytest.mark.parametrize("status", ["enquiry", "open", "inProgress", "onHold"])
def test_while_there_is_work_for_them_it_is_refused(cast: Cast, status: str) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer, status="enquiry")
    for step in {"inProgress": ["open", "inProgress"], "open": ["open"], "onHold": ["onHold"]}.get(status, []):
        cast.perform(change_job_status, jobId=job["id"], status=step)
    with pytest.raises(Blocked, match=r"has unfinished jobs\. Finish, close or cancel them first\.$") as refusal:
        cast.perform(archive_customer, customerId=customer)
    assert [reason.first for reason in refusal.value.reasons] == ["list_jobs"]
    assert "archive_customer" not in cast.perform(get_customer, customerId=customer)["availableActions"]


@pytest.mark.parametrize("status", ["done", "closed"])
def test_work_that_is_over_is_no_reason(cast: Cast, status: str) -> None:
    customer = make_customer(cast)
    job = make_job(cast, customer)["id"]
    for step in ("done", "closed")[: ("done", "closed").index(status) + 1]:
        cast.perform(change_job_status, jobId=job, status=step)
    assert cast.perform(archive_customer, customerId=customer)["status"] == "archived"


def test_there_is_no_new_work_for_them_and_the_refusal_says_what_to_do(cast: Cast) -> None:
    customer = make_customer(cast)
    cast.perform(archive_customer, customerId=customer)
    for operation, given in (
        (create_job, {"title": "Mend"}),
        (save_site, {"address": ADDRESS}),
        (save_contact, {"name": "Ann"}),
    ):
        with pytest.raises(Blocked, match=r"^Calder Property is archived\. Restore the customer first\.$") as refusal:
            cast.perform(operation, customerId=customer, **given)
        assert [reason.first for reason in refusal.value.reasons] == ["restore_customer"]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_puts_nobody_away(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(archive_customer, role, customerId=make_customer(cast))


def test_a_stranger_s_customer_is_not_found(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound):
        cast.perform(archive_customer, customerId=make_customer(other_cast))
