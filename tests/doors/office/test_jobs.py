"""Jobs in the office: the list, the board, the page of one with notes and what happened, and the form."""

import re
from html import unescape

import pytest

from doors.office.test_customers import extract_main, find_tab
from mainstay.business.jobs.operations import change_job_status, list_jobs, update_job
from mainstay.business.records.notes import add_note, list_notes
from mainstay.identity.keys import create_key
from mainstay.vocabulary.permissions import Role
from support.attachments import add_file
from support.browser_session import BrowserSession, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer, make_job, make_site
from support.servers import RunningServer
from support.stored_state import actor_with_key

NOTE = re.compile(r'<p class="told">(.*?)</p>')
WRITTEN = re.compile(r'<p class="said" dir="auto">(.*?)</p>')


def find_own_id(session: BrowserSession) -> str:
    """Return the id of the signed-in person."""
    found = re.search(r'<a href="/people/([^"]+)">Your details</a>', session.get("/").text)
    assert found
    return found[1]


def test_the_list_shows_what_is_live_and_counts_the_others(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    for title, steps in {"One": [], "Two": ["inProgress"], "Three": ["done"], "Four": ["done", "closed"]}.items():
        job = make_job(cast, customer, title=title)["id"]
        for step in steps:
            cast.perform(change_job_status, jobId=job, status=step)
    page = sign_in_new_person(server, cast, Role.OFFICE).get("/jobs").text
    counts = {
        name: find_tab(page, name)[1] for name in ("Live", "Open", "In progress", "Done", "Closed", "Cancelled", "All")
    }
    assert counts == {
        "Live": "3",
        "Open": "1",
        "In progress": "1",
        "Done": "1",
        "Closed": "1",
        "Cancelled": "0",
        "All": "4",
    }
    shown = visible_text(extract_main(page))
    assert "J-0003 Three" in shown
    assert "J-0004 Four" not in shown
    assert "Invoice the work" in shown


def test_the_board_has_each_job_at_its_stage_with_the_next_step(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    make_job(cast, customer, title="Asked for", status="enquiry")
    make_job(cast, customer, title="Agreed", dueOn="2026-11-27")
    begun = make_job(cast, customer, title="Begun")["id"]
    cast.perform(change_job_status, jobId=begun, status="inProgress")
    page = sign_in_new_person(server, cast, Role.OFFICE).get("/jobs/board").text
    columns = dict(re.findall(r'<h2 id="stage-(\w+)">(.*?)</section>', page, re.DOTALL))
    assert list(columns) == [
        "enquiry", "quoting", "toSchedule", "scheduled", "inProgress", "toInvoice", "invoiced", "onHold",
    ]  # fmt: skip
    assert "Asked for" in columns["enquiry"]
    assert "Plan a visit" in columns["toSchedule"]
    assert f'href="/jobs/{begun}"' in columns["inProgress"]
    assert '<span class="count">0</span>' in columns["quoting"]


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_its_own_on_list_board_and_page(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    customer = make_customer(cast)
    mine = make_job(cast, customer, title="My roof", assigned=[find_own_id(session)], budget="1200.00")["id"]
    other = make_job(cast, customer, title="Their roof")["id"]
    done = make_job(cast, customer, title="My wall", assigned=[find_own_id(session)])["id"]
    cast.perform(change_job_status, jobId=done, status="done")
    for path in ("/jobs", "/jobs/board"):
        page = extract_main(session.get(path).text)
        assert "My roof" in page
        assert "Their roof" not in page
        assert "Create job" not in page
        # What the office does about the money is the office's.
        assert not re.search("[Ii]nvoice", page)
    columns = dict(re.findall(r'<h2 id="stage-(\w+)">(.*?)</section>', session.get("/jobs/board").text, re.DOTALL))
    assert "My wall" in columns["done"]
    assert "Next:" not in visible_text(session.get(f"/jobs/{done}").text)
    shown = session.get(f"/jobs/{mine}").text
    assert not re.search(r"1,?200\.00", shown)
    assert f'href="/jobs/{mine}/edit"' not in shown
    assert session.get(f"/jobs/{other}").status_code == 404
    assert session.get("/jobs/new").status_code == 403
    # Only who may go there is led to the customer.
    assert (f'href="/customers/{customer}"' in shown) == (role is Role.MEMBER)


def test_a_job_is_made_for_a_customer_that_is_typed(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get("/jobs/new").text
    assert '<option value="normal" selected>Normal</option>' in form
    assert '<option value="timeAndMaterials" selected>' in form
    chosen = {"priority": "high", "billing": "fixed", "status": "open", "tags": "boiler, winter", "budget": "1 200,50"}
    answer = session.submit_page(form, "/jobs/new", customerId="calder", title="Replace the boiler", **chosen)
    page = session.follow_redirect(answer)
    assert "J-0001 Replace the boiler" in visible_text(page.text)
    (job,) = cast.perform(list_jobs)["data"]
    assert (job["customerId"], job["priority"], job["billing"]) == (customer, "high", "fixed")
    assert (job["tags"], job["budget"]) == (["boiler", "winter"], "1200.50")


def test_what_belongs_to_the_customer_and_who_works_are_picked(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    site = make_site(cast, customer, name="The mill")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    form = session.get(f"/jobs/new?customerId={customer}&siteId={site}").text
    assert f'<option value="{site}" selected>The mill</option>' in form
    person = cast.people[Role.MEMBER]
    fields = {"customerId": customer, "siteId": site, "title": "Roof", f"assigned {person}": "on"}
    fields |= {"priority": "normal", "billing": "fixed", "status": "open", "leadPersonId": person}
    page = session.follow_redirect(session.submit_page(form, "/jobs/new", **fields))
    shown = visible_text(extract_main(page.text))
    assert "The mill" in shown
    assert "Team: Mia Member" in shown
    (job,) = cast.perform(list_jobs)["data"]
    assert (job["siteId"], job["assigned"], job["leadPersonId"]) == (site, [person], person)


def test_a_job_s_page_has_one_next_step_notes_and_what_happened(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    cast.perform(add_note, recordId=job, text="Pays late.", visibility="office")
    key = cast.perform(create_key, cast.actor(Role.OWNER), name="Night agent", access="write")["key"]
    cast.perform(update_job, actor_with_key(cast, key), jobId=job, priority="high")
    session = sign_in_new_person(server, cast, Role.OWNER)
    page = session.get(f"/jobs/{job}").text
    shown = visible_text(extract_main(page))
    assert "Pays late." in shown
    assert "office only" in shown
    # What an agent did is badged, and ended from there.
    assert "Details edited" in shown
    assert '<span class="tag">Night agent for ' in page
    # Once is enough.
    assert page.partition('id="diary"')[2].count("Night agent") == 1
    revoke = re.search(r'<a href="(/settings/developer/keys/key_[^"]+/revoke)">Revoke</a>', page)
    assert revoke
    assert session.get(revoke[1]).status_code == 200
    answer = session.submit_page(page, f"/jobs/{job}/notes", text="Ring twice.")
    assert answer.headers["Location"] == f"/jobs/{job}?done=add_note#notes"
    assert "Note added." in visible_text(session.get(f"/jobs/{job}?done=add_note").text)
    assert [note["body"] for note in cast.perform(list_notes, recordId=job)["data"]] == ["Ring twice.", "Pays late."]


def test_older_notes_and_acts_are_reached_page_by_page(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast)
    path, session = f"/customers/{customer}", sign_in_new_person(server, cast, Role.OFFICE)
    assert "Show all notes" not in session.get(path).text
    for number in range(1, 61):
        cast.perform(add_note, recordId=customer, text=f"Note {number}.")
    page = session.get(path).text
    assert (len(NOTE.findall(page)), "Note 40." in page) == (20, False)
    for sort, words_of_it in {"notes": "Show all notes", "history": "Full history"}.items():
        assert f'<a href="{path}/{sort}">{words_of_it}</a>' in page
    first = session.get(f"{path}/notes").text
    further = re.search(r'id="next-page" href="([^"]+)"', first)
    assert further
    second = session.get(unescape(further[1])).text
    assert [*NOTE.findall(first), *NOTE.findall(second)] == [f"Note {number}." for number in range(60, 0, -1)]
    assert f'id="previous-page" href="{path}/notes"' in second
    history = session.get(f"{path}/history").text
    further = re.search(r'id="next-page" href="([^"]+)"', history)
    assert further
    assert "Customer created" not in history
    assert "Customer created" in session.get(unescape(further[1])).text


def test_the_diary_of_a_job_is_read_page_by_page_and_filtered(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    session = sign_in_new_person(server, cast, Role.OFFICE)
    for number in range(1, 27):
        cast.perform(add_note, recordId=job, text=f"Note {number}.")
    add_file(cast, job)
    first = session.get(f"/jobs/{job}").text
    further = re.search(r'id="next-page" href="([^"]+)"', first)
    assert further
    second = session.get(unescape(further[1])).text
    found = [*WRITTEN.findall(first), *WRITTEN.findall(second)]
    assert found == [f"Note {number}." for number in range(26, 0, -1)]
    assert ("Job created" in first, "Job created" in second) == (False, True)
    notes = session.get(f"/jobs/{job}?show=notes").text
    assert ("Note 26." in notes, "Plan.pdf" in notes, "Job created" in notes) == (True, False, False)
    assert f'<a href="/jobs/{job}?show=notes#diary" aria-current="true">Notes</a>' in notes
    assert "Plan.pdf" in session.get(f"/jobs/{job}?show=documents").text
    assert "No matches." in session.get(f"/jobs/{job}?show=emails").text
    # Any other filter is none.
    assert "Plan.pdf" in session.get(f"/jobs/{job}?show=everything").text


def test_older_files_are_reached_and_what_is_for_the_office_alone_is_not(server: RunningServer, cast: Cast) -> None:
    member, orla = sign_in_new_person(server, cast, Role.MEMBER), sign_in_new_person(server, cast, Role.OFFICE)
    job = make_job(cast, make_customer(cast), assigned=[find_own_id(member)])["id"]
    path = f"/jobs/{job}"
    cast.perform(add_note, recordId=job, text="Pays late.", visibility="office")
    cast.perform(add_note, recordId=job, text="Ring twice.")
    notes = member.get(f"{path}/notes").text
    assert ("Ring twice." in notes, "Pays late." in notes) == (True, False)
    assert "Nothing here yet." in visible_text(extract_main(orla.get(f"{path}/files").text))
    customer = make_customer(cast)
    files = f"/customers/{customer}/files"
    for number in range(61):
        add_file(cast, customer, name=f"plan {number}.pdf")
    page = orla.get(f"/customers/{customer}").text
    assert ("plan 0.pdf" in page, f'<a href="{files}">Show all photos and files</a>' in page) == (False, True)
    further = re.search(r'id="next-page" href="([^"]+)"', orla.get(files).text)
    assert further
    assert "plan 0.pdf" in orla.get(unescape(further[1])).text
    assert orla.get(f"{files}?startingAfter=x").status_code == 422
    other = f"/jobs/{make_job(cast, make_customer(cast))['id']}"
    assert [member.get(f"{other}/{sort}").status_code for sort in ("notes", "files", "history")] == [404] * 3


def test_a_note_is_written_once_and_not_without_words(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get(f"/jobs/{job}").text
    for _ in range(2):
        assert session.submit_page(page, f"/jobs/{job}/notes", text="Ring twice.").status_code == 303
    assert len(cast.perform(list_notes, recordId=job)["data"]) == 1
    assert session.submit_form(f"/jobs/{job}", "/jobs/job_1/notes", text="x").status_code == 404


def test_a_note_that_is_refused_stands_there_to_be_put_right(server: RunningServer, cast: Cast) -> None:
    path = f"/jobs/{make_job(cast, make_customer(cast))['id']}"
    session = sign_in_new_person(server, cast, Role.OFFICE)
    typed = "Ring \N{BELL} twice."
    answer = session.submit_form(path, f"{path}/notes", text=typed + "\x07", office="on")
    assert answer.status_code == 422
    assert f">{typed}\x07</textarea>" in answer.text
    assert '<input type="checkbox" name="office" checked>' in answer.text
    assert '<p class="fault" id="note-fault">Note ' in answer.text
    assert "as you left it" not in answer.text
    assert session.follow_redirect(session.submit_page(answer.text, f"{path}/notes", text=typed)).status_code == 200
    page = session.get(path).text
    cast.lapse()
    late = session.submit_page(page, f"{path}/notes", text="Pays late.")
    assert (late.status_code, ">Pays late.</textarea>" in late.text) == (402, True)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_reads_and_writes_notes_of_its_own_jobs(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    job = make_job(cast, make_customer(cast), assigned=[find_own_id(session)])["id"]
    cast.perform(add_note, recordId=job, text="Pays late.", visibility="office")
    cast.perform(add_note, recordId=job, text="Ring twice.")
    page = session.get(f"/jobs/{job}").text
    assert "Pays late." not in page
    assert "Ring twice." in page
    assert "Office only" not in page
    session.follow_redirect(session.submit_page(page, f"/jobs/{job}/notes", text="Done.", office="on"))
    assert cast.perform(list_notes, recordId=job)["data"][0]["visibility"] == "field"


def test_a_job_is_moved_from_its_page(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    session = sign_in_new_person(server, cast, Role.OFFICE)
    path = next(
        unescape(link)
        for link in re.findall(r'href="([^"]+)"', session.get(f"/jobs/{job}").text)
        if link.endswith("change-status")
    )
    moved = session.submit_form(path, status="inProgress")
    assert "Job J-0001 status changed." in visible_text(session.follow_redirect(moved).text)
    refused = session.submit_form(path, status="enquiry")
    assert refused.status_code == 409
    assert "It can only become" in visible_text(refused.text)
