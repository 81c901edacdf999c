"""The notice after a form that made several changes undoes all of them, or offers nothing."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from mainstay.business.customers.operations import get_customer, update_customer
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import get_job
from mainstay.business.organisation.settings import get_settings
from mainstay.business.pricelist.operations import list_price_items
from mainstay.business.pricelist.taxes import list_tax_rates
from mainstay.business.records.attachments import list_documents
from mainstay.business.records.model import HistoryEntryOut
from mainstay.business.records.undo import MAX_CHANGES
from mainstay.business.schedule.operations import get_visit
from mainstay.doors.office.kit.form_changes import find_form_changes
from mainstay.values.moments import parse_moment
from mainstay.vocabulary.permissions import Role
from support.attachments import PDF, make_attachment_jobs
from support.browser_session import BrowserSession, sign_in_cast, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.hours import NOON
from support.images import draw_image
from support.oauth_app import hidden_value
from support.servers import RunningServer
from support.uploads import MULTIPART, make_multipart, make_part
from support.visits import plan_test_visit

pytestmark = pytest.mark.engines("sqlite")


def offers_undo(page: str) -> bool:
    return 'form="undo"' in page


def send_parts(session: BrowserSession, page: str, path: str, *parts: bytes, **fields: str) -> httpx2.Response:
    """Send the form of a page with files."""
    tokens = {name: hidden_value(page, name) for name in ("csrf", "once")}
    texts = [make_part(name, text.encode()) for name, text in {**tokens, **fields}.items()]
    answer = session.send_body(path, make_multipart(*texts, *parts), Content_Type=MULTIPART)
    return session.follow_redirect(answer)


def test_files_that_were_added_together_are_removed_together(server: RunningServer, cast: Cast) -> None:
    job, session = make_attachment_jobs(cast).job, sign_in_cast(server, cast, Role.OFFICE)
    page = session.get(f"/jobs/{job}").text
    files = [make_part("files", draw_image(), "drain.png"), make_part("files", PDF, "plan.pdf")]
    page = send_parts(session, page, "/documents", *files, recordId=job).text
    assert len(cast.perform(list_documents, recordId=job)["data"]) == len(files)
    session.press_undo(page)
    assert cast.perform(list_documents, recordId=job)["data"] == []


def test_the_first_prices_are_archived_together(server: RunningServer, cast: Cast) -> None:
    session, path = sign_in_cast(server, cast, Role.OFFICE), "/first-steps/prices/electrical"
    page = session.follow_redirect(session.submit_form(path, price0="48", price4="1,062.50")).text
    session.press_undo(page)
    assert cast.perform(list_price_items)["data"] == []


def test_the_settings_of_the_country_go_with_its_tax_rates(server: RunningServer, cast: Cast) -> None:
    session, path, before = sign_in_cast(server, cast, Role.OWNER), "/first-steps/country", cast.perform(get_settings)
    fields = {"tax": "charged", "paymentTermsDays": "21", "language": "de"}
    page = session.follow_redirect(session.submit_form(path, **fields)).text
    assert len(cast.perform(list_tax_rates)["data"]) > 1
    assert offers_undo(page)
    session.press_undo(page)
    assert cast.perform(list_tax_rates)["data"] == []
    after = cast.perform(get_settings)
    assert [after[name] for name in fields.keys() - {"tax"}] == [before[name] for name in fields.keys() - {"tax"}]


def test_a_visit_that_was_finished_with_photos_is_open_again_without_them(server: RunningServer, cast: Cast) -> None:
    visit, session = plan_test_visit(cast, Role.MEMBER), sign_in_cast(server, cast, Role.MEMBER)
    cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started")
    path = f"/schedule/visits/{visit['id']}/finish"
    photos = [make_part("files", draw_image(), f"{number}.png") for number in range(2)]
    page = send_parts(session, session.get(path).text, path, *photos, jobDone="on").text
    assert cast.perform(get_job, jobId=visit["jobId"])["status"] == "done"
    assert offers_undo(page)
    session.press_undo(page)
    assert cast.perform(get_visit, visitId=visit["id"])["status"] == "started"
    assert cast.perform(get_job, jobId=visit["jobId"])["status"] == "inProgress"
    assert cast.perform(list_documents, recordId=visit["id"])["data"] == []


def test_a_form_of_which_a_part_cannot_be_undone_offers_nothing(server: RunningServer, cast: Cast) -> None:
    visit, session = plan_test_visit(cast, Role.MEMBER), sign_in_cast(server, cast, Role.MEMBER)
    cast.perform(set_visit_status, Role.MEMBER, visitId=visit["id"], status="started")
    path = f"/schedule/visits/{visit['id']}/finish"
    # A note stays, so the visit is not opened again without it.
    page = session.follow_redirect(session.submit_form(path, text="Cleared")).text
    assert "Visit done." in visible_text(page)
    assert not offers_undo(page)


def test_only_what_the_last_form_did_is_offered(server: RunningServer, cast: Cast) -> None:
    first, last = make_customer(cast, "Ann"), make_customer(cast, "Bob")
    session = sign_in_cast(server, cast, Role.OFFICE)
    for customer in (first, last):
        session.submit_form(f"/customers/{customer}/edit", name="Cleo", kind="company", phone="2")
    # No address offers to undo what the form did not do, or what the same person did through another door.
    for done in ("archive_customer", "create_customer", "archive_customer 2", "undo_change"):
        page = session.get(f"/customers/{first}?{urlencode({'done': done})}").text
        assert not offers_undo(page), done
    cast.perform(update_customer, Role.OFFICE, customerId=first, phone="3")
    session.press_undo(session.get(f"/customers/{last}?done=update_customer").text)
    assert [cast.perform(get_customer, customerId=one)["phone"] for one in (first, last)] == ["3", None]


def make_entry(number: int, request: str = "req_last", **fields: Any) -> HistoryEntryOut:
    """Make an entry of a person's history, as it is made in the office at noon."""
    by = {"kind": "person", "person": {"id": "person_1", "name": "Orla"}, "via": {"door": "office", "client": None}}
    values: dict[str, object] = {"object": "historyEntry", "id": str(number), "at": NOON, "by": by, "given": {}}
    values |= {"operation": "update_customer", "undoable": True, "requestId": request, "records": [], "changed": None}
    return HistoryEntryOut.model_validate(values | fields)


def find_changes(*entries: HistoryEntryOut, minutes: float = 0.5) -> list[str]:
    now = parse_moment(NOON) + timedelta(minutes=minutes)
    return [entry.id for entry in find_form_changes(entries, "update_customer", now)]


def test_the_changes_of_a_form_are_those_of_its_request() -> None:
    assert find_changes() == []
    other, earlier = make_entry(3, operation="add_document"), make_entry(1, "req_earlier")
    assert find_changes(other, make_entry(2), earlier) == ["3", "2"]
    assert find_changes(make_entry(4, "req_later", operation="add_document"), other, make_entry(2), earlier) == []
    assert find_changes(other, make_entry(2, undoable=False)) == []


def test_a_form_that_was_sent_a_while_ago_is_no_longer_offered() -> None:
    assert find_changes(make_entry(1), minutes=1) == ["1"]
    assert find_changes(make_entry(1), minutes=1.1) == []


def test_a_form_is_offered_only_if_all_its_changes_were_read() -> None:
    entries = [make_entry(number) for number in range(MAX_CHANGES, 0, -1)]
    assert len(find_changes(*entries)) == MAX_CHANGES
    assert len(find_changes(*entries, make_entry(0, "req_earlier"))) == MAX_CHANGES
    assert find_changes(*entries, make_entry(0)) == []
