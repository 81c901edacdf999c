"""Undoing changes: by whom, for how long, in which order, and what stops it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest

from mainstay.business.customers.operations import archive_customer, create_customer, get_customer, update_customer
from mainstay.business.customers.sites_and_contacts import save_site
from mainstay.business.equipment.operations import archive_equipment, get_equipment
from mainstay.business.jobs.operations import change_job_status, create_job, get_job, update_job
from mainstay.business.people.operations import get_person, update_person
from mainstay.business.people.roles import change_role
from mainstay.business.quotes.operations import get_quote, revise_quote
from mainstay.business.records.history import get_history
from mainstay.business.records.undo import undo_change
from mainstay.business.schedule.leave import cancel_time_off, decide_time_off, request_time_off
from mainstay.business.schedule.operations import get_visit, move_visit, plan_visit
from mainstay.changes.undo import RETENTION, delete_old
from mainstay.identity.keys import get_key, update_key
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound, Stale
from support.cast import Cast
from support.customers import make_equipment
from support.quotes import issue_quote, make_quote
from support.stored_state import actor_with_key, list_events_of


def do(cast: Cast, operation: Operation, by: Actor | Role = Role.OWNER, **given: object) -> str:
    """Perform a change that can be undone, and return its id."""
    answer = cast.answer(operation, by, None, **given)
    assert answer.undoable_change is not None
    return str(answer.undoable_change)


def undo(cast: Cast, *changes: str, by: Actor | Role = Role.OWNER) -> str:
    """Undo changes, and return the id of the change that did."""
    answer = cast.answer(undo_change, by, changeIds=[*changes])
    return str(answer.undoable_change)


def make_customer(cast: Cast, **given: object) -> str:
    return str(cast.perform(create_customer, name="Calder Property Services", phone="1", **given)["id"])


def later(cast: Cast, time: timedelta) -> Cast:
    """Return the cast at a later time."""
    clock: Callable[[], datetime] = cast.performer.clock
    return replace(cast, performer=replace(cast.performer, clock=lambda: clock() + time))


def test_the_previous_values_are_restored_and_only_those_that_changed(cast: Cast) -> None:
    customer = make_customer(cast, billingAddress={"line1": "Mill Lane"}, makeSite=False)
    change = do(cast, update_customer, customerId=customer, phone="2", billingAddress={"line1": "Bank", "city": "Ely"})
    undo(cast, change)
    shown = cast.perform(get_customer, customerId=customer)
    assert (shown["phone"], shown["billingAddress"]["line1"], shown["billingAddress"]["city"]) == (
        "1",
        "Mill Lane",
        None,
    )
    assert shown["version"] == 3


def test_what_was_changed_since_is_refused_with_the_record_and_the_person(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, update_customer, customerId=customer, phone="2")
    cast.perform(update_customer, Role.OFFICE, customerId=customer, notes="Rings twice.")
    with pytest.raises(Conflict, match=r"^Orla Office has changed Calder Property Services since, so this can't"):
        undo(cast, change)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "2"


def test_a_change_is_undone_once_and_the_undo_can_be_undone(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, update_customer, customerId=customer, phone="2")
    undone = undo(cast, change)
    with pytest.raises(Conflict, match="already undone"):
        undo(cast, change)
    redone = undo(cast, undone)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "2"
    undo(cast, redone)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "1"


def test_several_are_undone_newest_first_and_all_or_none(cast: Cast) -> None:
    customer, other = make_customer(cast), make_customer(cast)
    first = do(cast, update_customer, customerId=customer, phone="2")
    second = do(cast, update_customer, customerId=customer, phone="3", notes="Rings twice.")
    third = do(cast, update_customer, customerId=other, phone="4")
    cast.perform(update_customer, customerId=other, phone="5")
    with pytest.raises(Conflict, match="Olivia Owner has changed"):
        undo(cast, first, second, third)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "3"
    redo = undo(cast, first, second)
    shown = cast.perform(get_customer, customerId=customer)
    assert (shown["phone"], shown["notes"]) == ("1", None)
    undo(cast, redo)
    shown = cast.perform(get_customer, customerId=customer)
    assert (shown["phone"], shown["notes"]) == ("3", "Rings twice.")


def test_between_two_that_are_undone_together_nobody_else_may_have_changed_the_record(cast: Cast) -> None:
    customer = make_customer(cast)
    first = do(cast, update_customer, customerId=customer, phone="2")
    cast.perform(update_customer, Role.OFFICE, customerId=customer, phone="3")
    last = do(cast, update_customer, customerId=customer, phone="4")
    with pytest.raises(Conflict):
        undo(cast, first, last)
    undo(cast, last)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "3"


def test_it_needs_what_the_opposite_change_needs_now(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, update_customer, Role.OFFICE, customerId=customer, phone="2")
    office = cast.people[Role.OFFICE]
    cast.perform(change_role, personId=office, role="member", confirmed=True)
    with pytest.raises(Forbidden):
        cast.answer(undo_change, cast.actor(Role.OFFICE), changeIds=[change])
    undo(cast, change, by=Role.ADMIN)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "1"


def test_fields_that_need_a_permission_are_not_undone_without_it(cast: Cast) -> None:
    member = cast.people[Role.MEMBER]
    change = do(cast, update_person, personId=member, billRate="85.00")
    with pytest.raises(Forbidden):
        undo(cast, change, by=Role.OFFICE)
    undo(cast, change)
    assert cast.perform(get_person, personId=member)["billRate"] is None


def test_members_know_only_their_own_changes(cast: Cast) -> None:
    own = do(cast, update_person, Role.MEMBER, personId=cast.people[Role.MEMBER], phone="1")
    other = do(cast, update_person, personId=cast.people[Role.MEMBER], colour="#3366cc")
    with pytest.raises(NotFound):
        undo(cast, other, by=Role.MEMBER)
    with pytest.raises(NotFound):
        undo(cast, "999999")
    undo(cast, other)
    with pytest.raises(Conflict):
        undo(cast, own, by=Role.MEMBER)


def test_a_credential_that_only_reads_undoes_nothing(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, update_customer, customerId=customer, phone="2")
    with pytest.raises(Forbidden):
        undo(cast, change, by=cast.actor(Role.OWNER, Access.READ))


def test_after_a_day_it_is_too_late_and_nothing_of_it_is_kept(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, update_customer, customerId=customer, phone="2")
    day_later = later(cast, RETENTION)
    with pytest.raises(Conflict, match="more than 24 hours ago"):
        undo(day_later, change)
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        delete_old(db, day_later.performer.clock())
        kept = db.all("SELECT sequence FROM undo WHERE organisation_id = :owner", owner=cast.organisation)
    assert kept == []
    with pytest.raises(Conflict, match="more than 24 hours ago"):
        undo(day_later, change)


def test_what_cannot_be_undone_says_what_to_do_instead(cast: Cast) -> None:
    leave = cast.perform(request_time_off, **{"from": "2038-02-01"})["id"]
    cast.perform(cancel_time_off, timeOffId=leave)
    change = cast.perform(get_history, recordId=leave)["data"][0]["id"]
    with pytest.raises(
        Conflict, match=r"^This can't be undone\. Cancelled time off can't be restored\. Request it again\.$"
    ):
        undo(cast, change)


def test_what_some_changes_did_cannot_be_undone(cast: Cast) -> None:
    leave = cast.perform(request_time_off, **{"from": "2038-02-01"})["id"]
    assert cast.answer(decide_time_off, timeOffId=leave, decision="approve").undoable_change is None
    change = cast.perform(get_history, recordId=leave)["data"][0]["id"]
    with pytest.raises(Conflict, match=r"^This can't be undone\. Approve or decline it instead\."):
        undo(cast, change)


def test_the_trail_and_the_webhooks_tell_both(cast: Cast) -> None:
    customer = make_customer(cast)
    job = cast.perform(create_job, customerId=customer, title="Boiler")["id"]
    change = do(cast, update_job, jobId=job, title="Boilers")
    undo(cast, change)
    entry = cast.perform(get_history, recordId=job)["data"][0]
    assert (entry["operation"], entry["given"], entry["changed"]) == ("undo_change", {"changeIds": [change]}, ["title"])
    titles = [one["data"]["object"]["title"] for one in list_events_of(cast) if one["type"] == "job.updated"]
    assert titles[-2:] == ["Boilers", "Boiler"]


def test_a_number_is_not_used_again(cast: Cast) -> None:
    customer = make_customer(cast)
    first = cast.answer(create_job, customerId=customer, title="Boiler")
    undo(cast, str(first.undoable_change))
    cancelled: dict[str, Any] = orjson.loads(first.body)
    assert cast.perform(get_job, jobId=cancelled["id"])["status"] == "cancelled"
    assert cast.perform(create_job, customerId=customer, title="Boiler")["number"] > cancelled["number"]


def test_a_status_is_undone_by_the_steps_that_are_possible(cast: Cast) -> None:
    job = cast.perform(create_job, customerId=make_customer(cast), title="Boiler", status="enquiry")["id"]
    change = do(cast, change_job_status, jobId=job, status="onHold")
    undo(cast, change)
    assert cast.perform(get_job, jobId=job)["status"] == "enquiry"


def test_a_visit_gets_back_its_time_and_its_person(cast: Cast) -> None:
    times = {"startsAt": "2038-02-01T10:00", "durationMinutes": 60}
    visit = cast.perform(plan_visit, title="Stock", personIds=[cast.people[Role.MEMBER]], **times)
    change = do(
        cast, move_visit, visitId=visit["id"], startsAt="2038-02-02T15:00", personId=cast.people[Role.OFFICE], notes="X"
    )
    undo(cast, change)
    shown = cast.perform(get_visit, visitId=visit["id"])
    same = ("startsAt", "endsAt", "personId", "notes", "status", "timeZone")
    assert {name: shown[name] for name in same} == {name: visit[name] for name in same}


def test_a_whole_series_is_undone_together(cast: Cast) -> None:
    repeat = {"every": 1, "unit": "day", "count": 3}
    first = cast.perform(
        plan_visit,
        title="Stock",
        personIds=[cast.people[Role.MEMBER]],
        startsAt="2038-02-01T10:00",
        durationMinutes=60,
        repeat=repeat,
    )
    change = do(cast, move_visit, visitId=first["id"], startsAt="2038-02-02T10:00", scope="all")
    undone = undo(cast, change)
    assert cast.perform(get_visit, visitId=first["id"])["startsAt"] == first["startsAt"]
    undo(cast, undone)
    assert cast.perform(get_visit, visitId=first["id"])["startsAt"] == "2038-02-02T10:00:00.000Z"


def test_an_email_that_still_waits_is_not_sent(cast: Cast) -> None:
    leave = cast.perform(request_time_off, Role.MEMBER, **{"from": "2038-02-01"})["id"]
    cast.perform(decide_time_off, timeOffId=leave, decision="decline")
    waiting = count_emails(cast)
    change = do(cast, decide_time_off, timeOffId=leave, decision="approve")
    assert count_emails(cast) == waiting + 1
    undo(cast, change)
    # The answer that is given again is emailed; the one that was undone is not.
    assert count_emails(cast) == waiting + 1
    with cast.performer.database.read_transaction(cast.organisation) as db:
        payloads = db.all("SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = 'mail'")
    assert not any("approved your time off" in str(payload) for (payload,) in payloads)


def count_emails(cast: Cast) -> int:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        return len(db.all("SELECT id FROM outbox WHERE organisation_id = :organisation AND kind = 'mail'"))


def test_through_a_door_that_does_not_offer_the_opposite_change_it_is_refused(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, archive_customer, customerId=customer)
    with pytest.raises(Forbidden, match="on the website"):
        undo(cast, change, by=cast.actor(Role.OWNER, door=Door.LINK))


def test_an_agent_undoes_what_is_offered_to_programs_and_no_more(cast: Cast) -> None:
    site = cast.perform(save_site, customerId=make_customer(cast), address={"line1": "Mill Lane"})["id"]
    equipment = make_equipment(cast, site)
    agent = cast.actor(Role.OWNER, door=Door.AGENT)
    undo(cast, do(cast, archive_equipment, equipmentId=equipment), by=agent)
    assert cast.perform(get_equipment, equipmentId=equipment)["status"] == "active"
    key = actor_with_key(cast, cast.make_key()).credential
    change = do(cast, update_key, keyId=key, confirmsInOffice=True)
    for door in (Door.AGENT, Door.API):
        with pytest.raises(Forbidden, match="on the website"):
            undo(cast, change, by=cast.actor(Role.OWNER, door=door))
    with pytest.raises(Forbidden):
        undo(cast, change, by=cast.actor(Role.OFFICE, door=Door.OFFICE))
    undo(cast, change, by=cast.actor(Role.ADMIN, door=Door.OFFICE))
    assert cast.perform(get_key, keyId=key)["confirmsInOffice"] is False


def test_a_record_without_a_version_is_not_undone_if_it_was_changed_since(cast: Cast) -> None:
    key, owner = actor_with_key(cast, cast.make_key()).credential, cast.actor(Role.OWNER, door=Door.OFFICE)
    first, second, third = (do(cast, update_key, keyId=key, confirmsInOffice=one) for one in (True, False, True))
    with pytest.raises(Conflict, match="since, so this can't be undone"):
        undo(cast, first, by=owner)
    with pytest.raises(Conflict, match="since, so this can't be undone"):
        undo(cast, first, third, by=owner)
    undo(cast, undo(cast, first, second, third, by=owner), by=owner)
    assert cast.perform(get_key, keyId=key)["confirmsInOffice"] is True


def test_who_may_not_loosen_a_limit_does_not_undo_it(cast: Cast) -> None:
    key = actor_with_key(cast, cast.make_key(role=Role.ADMIN)).credential
    change = do(cast, update_key, keyId=key, amountLimit="100")
    with pytest.raises((Conflict, Forbidden), match="owner"):
        undo(cast, change, by=cast.actor(Role.ADMIN, door=Door.OFFICE))
    assert cast.perform(get_key, keyId=key)["amountLimit"] == "100.00"
    undo(cast, change, by=cast.actor(Role.OWNER, door=Door.OFFICE))
    assert cast.perform(get_key, keyId=key)["amountLimit"] is None


def test_a_draft_revision_is_withdrawn_and_the_quote_is_as_it_was_sent(cast: Cast) -> None:
    sent = issue_quote(cast, make_quote(cast))
    answer = cast.answer(revise_quote, quoteId=sent["id"])
    undo(cast, str(answer.undoable_change))
    revision = orjson.loads(answer.body)["id"]
    assert cast.perform(get_quote, quoteId=revision)["status"] == "withdrawn"
    assert cast.perform(get_quote, quoteId=sent["id"])["status"] == "sent"


def test_raced_against_an_edit_one_of_them_wins(cast: Cast) -> None:
    changes = []
    for number in range(25):
        customer = make_customer(cast)
        changes.append((customer, do(cast, update_customer, customerId=customer, phone=f"2{number}")))

    def try_undo(change: str) -> bool:
        try:
            undo(cast, change)
        except Conflict:
            return False
        return True

    def edit(customer: str) -> bool:
        try:
            cast.answer(
                update_customer, request=RequestDetails("req_1", frozenset({2})), customerId=customer, notes="X"
            )
        except Stale:
            return False
        return True

    with ThreadPoolExecutor(50) as clients:
        undone = [clients.submit(try_undo, change) for _, change in changes]
        edited = [clients.submit(edit, customer) for customer, _ in changes]
        outcomes = [(one.result(), other.result()) for one, other in zip(undone, edited, strict=True)]

    assert {sum(outcome) for outcome in outcomes} == {1}
    for (customer, _), (was_undone, _) in zip(changes, outcomes, strict=True):
        shown = cast.perform(get_customer, customerId=customer)
        assert ((shown["phone"], shown["notes"]) == ("1", None)) == was_undone


def test_fifty_who_undo_the_same_change_undo_it_once(cast: Cast) -> None:
    customer = make_customer(cast)
    change = do(cast, update_customer, customerId=customer, phone="2")

    def try_undo(_: int) -> bool:
        try:
            undo(cast, change)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(50) as clients:
        outcomes = [*clients.map(try_undo, range(50))]
    assert outcomes.count(True) == 1
    assert cast.perform(get_customer, customerId=customer)["version"] == 3
