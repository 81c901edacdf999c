"""Undoing in the office: beside the notice of what was done, and in the histories."""

import re

import pytest

from mainstay.business.customers.operations import create_customer, get_customer, update_customer
from mainstay.business.schedule.operations import get_visit
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.servers import RunningServer
from support.visits import DAY, plan_test_visit

pytestmark = pytest.mark.engines("sqlite", "postgresql")


def test_the_notice_of_a_change_offers_to_undo_it_and_that_to_undo_this(server: RunningServer, cast: Cast) -> None:
    customer = cast.perform(create_customer, name="Hill Farm", phone="1")["id"]
    session = sign_in_cast(server, cast, Role.OFFICE)
    answer = session.submit_form(f"/customers/{customer}/edit", name="Hill Farm", kind="company", phone="2")
    page = session.follow_redirect(answer).text
    assert "Hill Farm updated. Undo" in visible_text(page)
    page = session.press_undo(page).text
    assert cast.perform(get_customer, customerId=customer)["phone"] == "1"
    assert "Change undone. Undo" in visible_text(page)
    session.press_undo(page)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "2"


def test_a_page_that_is_opened_later_by_its_address_offers_nothing(server: RunningServer, cast: Cast) -> None:
    customer = cast.perform(create_customer, name="Hill Farm")["id"]
    cast.perform(update_customer, customerId=customer, phone="2")
    page = sign_in_cast(server, cast, Role.OFFICE).get(f"/customers/{customer}?done=update_customer").text
    assert "Hill Farm updated." in visible_text(page)
    assert 'form="undo"' not in page


def test_a_moved_visit_says_whose_it_is_and_when_and_moves_back(server: RunningServer, cast: Cast) -> None:
    visit = plan_test_visit(cast)
    session = sign_in_cast(server, cast, Role.OFFICE)
    form = session.get(f"/schedule/visits/{visit['id']}/move").text
    fields = {"kind": "work", "personId": cast.people[Role.OFFICE]}
    fields |= {"startsAt": "11/01/2038 15:00", "durationMinutes": "60"}
    answer = session.submit_page(form, f"/schedule/visits/{visit['id']}/move", **fields)
    page = session.follow_redirect(answer).text
    assert re.search(r" changed: Orla Office, .*15:00.*16:00.*Undo", visible_text(page))
    # The schedule tells the same after it was dragged there.
    board = session.get(f"/schedule?view=day&on={DAY}&done=move_visit").text
    assert re.search(r" changed: Orla Office, .*15:00.*16:00.*Undo", visible_text(board))
    page = session.press_undo(board).text
    assert "Change undone." in visible_text(page)
    assert "Monday 11 January" in visible_text(page)
    after = cast.perform(get_visit, visitId=visit["id"])
    assert (after["startsAt"], after["personId"]) == (visit["startsAt"], visit["personId"])


def test_the_history_of_a_record_offers_what_can_be_undone(server: RunningServer, cast: Cast) -> None:
    customer = cast.perform(create_customer, name="Hill Farm", phone="1")["id"]
    cast.perform(update_customer, Role.OFFICE, customerId=customer, phone="2")
    session = sign_in_cast(server, cast, Role.ADMIN)
    page = session.get(f"/customers/{customer}").text
    assert page.count('class="undo"') == 1
    page = session.press_undo(page).text
    assert cast.perform(get_customer, customerId=customer)["phone"] == "1"
    # What was undone is not offered again, but that it was undone can be.
    assert page.count('class="undo"') == 1
    session.press_undo(page)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "2"
    activity = sign_in_cast(server, cast, Role.ADMIN).get("/settings/activity").text
    assert 'class="undo"' in activity


def test_what_somebody_changed_since_is_refused_by_name(server: RunningServer, cast: Cast) -> None:
    customer = cast.perform(create_customer, name="Hill Farm", phone="1")["id"]
    session = sign_in_cast(server, cast, Role.OFFICE)
    session.submit_form(f"/customers/{customer}/edit", name="Hill Farm", kind="company", phone="2")
    page = session.get(f"/customers/{customer}?done=update_customer").text
    cast.perform(update_customer, customerId=customer, notes="Rings twice.")
    refused = session.press_undo(page)
    assert refused.status_code == 409
    assert "Olivia Owner has changed Hill Farm since, so this can't be undone." in visible_text(refused.text)
    assert cast.perform(get_customer, customerId=customer)["phone"] == "2"


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", ""])
def test_it_leads_back_only_to_pages_of_this_office(server: RunningServer, cast: Cast, back: str) -> None:
    customer = cast.perform(create_customer, name="Hill Farm")["id"]
    change = cast.answer(update_customer, customerId=customer, phone="2").undoable_change
    session = sign_in_cast(server, cast, Role.OWNER)
    answer = session.submit_form(f"/customers/{customer}", "/changes/undo", change=str(change), back=back)
    assert answer.headers["Location"] == "/?done=undo_change"
