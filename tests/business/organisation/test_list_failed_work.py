import pytest

from cast import Cast
from mainstay.business.organisation.work import list_failed_work
from mainstay.business.people.operations import invite_person
from mainstay.catalogue import CATALOGUE
from mainstay.identity.mails import mail
from mainstay.ledger.outbox import EVENT, Letter
from mainstay.terms.actor import Door
from mainstay.terms.refusal import Forbidden
from mainstay.terms.rights import Role
from parking import PROBLEM, park


def test_what_failed_is_listed_newest_first_and_nothing_that_waits(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="n@new.example", role="member")
    first, second = park(cast), park(cast, mail("kim@new.example", "Come", "secret text"))
    third = park(cast, Letter(EVENT, {"event": "evt_1"}))
    page = cast.perform(list_failed_work)
    assert [work["id"] for work in page["data"]] == [third, second, first]
    assert [work["about"] for work in page["data"]] == [
        "What follows something that happened",
        "Mail to kim@new.example: Come",
        "A fax to x",
    ]
    assert {(work["status"], work["problem"]) for work in page["data"]} == {("failed", PROBLEM)}
    assert all(work["failedAt"] for work in page["data"])
    assert b"secret text" not in cast.answer(list_failed_work).body


def test_another_organisation_s_is_not_seen(cast: Cast, stranger: Cast) -> None:
    park(cast)
    assert cast.perform(list_failed_work)["data"]
    assert stranger.perform(list_failed_work)["data"] == []


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_it_is_for_owners_and_admins(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden):
        cast.perform(list_failed_work, role)


def test_agents_and_the_api_are_offered_none_of_it() -> None:
    offered = {operation.name: operation.offered for operation in CATALOGUE.operations if "_work" in operation.name}
    assert offered == dict.fromkeys(
        ("list_failed_work", "get_work", "retry_work", "drop_work"), frozenset({Door.OFFICE, Door.CLI})
    )
