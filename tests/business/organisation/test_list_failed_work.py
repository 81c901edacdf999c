import pytest

from mainstay.business.organisation.failed_work import list_failed_work
from mainstay.business.people.operations import invite_person
from mainstay.catalogue import CATALOGUE
from mainstay.changes.outbox import EVENT, OutboxTask
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Forbidden
from support.cast import Cast
from support.failed_work import PROBLEM, park_new_task
from support.outbox_tasks import make_email_task


def test_what_failed_is_listed_newest_first_and_nothing_that_waits(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="n@new.example", role="member")
    first, second = park_new_task(cast), park_new_task(cast, make_email_task("kim@new.example", "Come", "secret text"))
    third = park_new_task(cast, OutboxTask(EVENT, {"event": "evt_1"}))
    page = cast.perform(list_failed_work)
    assert [work["id"] for work in page["data"]] == [third, second, first]
    assert [work["about"] for work in page["data"]] == [
        "Follow-up to a change",
        "Email to kim@new.example: Come",
        "A fax to x",
    ]
    assert {(work["status"], work["problem"]) for work in page["data"]} == {("failed", PROBLEM)}
    assert all(work["failedAt"] for work in page["data"])
    assert b"secret text" not in cast.answer(list_failed_work).body


def test_another_organisation_s_is_not_seen(cast: Cast, other_cast: Cast) -> None:
    park_new_task(cast)
    assert cast.perform(list_failed_work)["data"]
    assert other_cast.perform(list_failed_work)["data"] == []


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_it_is_for_owners_and_admins(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_failed_work, role)


def test_agents_and_the_api_are_offered_none_of_it() -> None:
    offered = {operation.name: operation.doors for operation in CATALOGUE.operations if "_work" in operation.name}
    assert offered == dict.fromkeys(
        ("list_failed_work", "get_work", "retry_work", "drop_work"), frozenset({Door.OFFICE, Door.CLI})
    )
