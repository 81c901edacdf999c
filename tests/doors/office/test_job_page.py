"""The page of a job: one next step, its visits and hours, what it cost, and the ways to whom and where it is."""

import re
from html import unescape

import pytest

from doors.office.test_customers import extract_main
from doors.office.test_lists import add_many_people
from mainstay.business.hours.visit_status import set_visit_status
from mainstay.business.jobs.operations import change_job_status, get_job, update_job
from mainstay.vocabulary.permissions import Role
from support.browser_session import BrowserSession, sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_contact, make_customer, make_job, make_site
from support.form_fields import read_form
from support.hours import make_time_entry, make_visit, set_rates
from support.invoices import issue_invoice, make_invoice
from support.servers import RunningServer

# What scripts need to know of an element; nothing that is hidden matches.
_DATA = r'(?: data-\w+(?:="[^"]*")?)*'
_PRIMARY_LINK = re.compile(rf'<a class="button primary[^"]*" href="([^"]+)"{_DATA}>([^<]+)</a>')
_PRIMARY_FORM = re.compile(
    rf'<form method="post" action="([^"]+)"{_DATA}>(?:(?!</form>).)*<button class="primary"[^>]*>([^<]+)<'
)


def find_next_step(page: str) -> tuple[str, str]:
    """Return the label of the next step and where it leads."""
    found = _PRIMARY_LINK.search(extract_main(page)) or _PRIMARY_FORM.search(page)
    assert found
    return found[2], unescape(found[1])


def find_first_action(page: str) -> tuple[str, str]:
    """Return the label of the first action of a record that has no next step, and where it leads."""
    main = extract_main(page)
    assert 'class="button primary' not in main
    assert '<button class="primary"' not in main
    buttons = main.partition('<div class="buttons">')[2].partition("</div>")[0]
    path, label = (
        re.search(r'(?:href|action)="([^"]+)"', buttons),
        re.search(r">([^<>\s][^<>]*)</(?:a|button)>", buttons),
    )
    assert path
    assert label
    return label[1], unescape(path[1])


def list_other_actions(page: str) -> set[str]:
    """Return the labels of the other actions."""
    sheet = re.search(r'<details class="menu more-actions">.*?</details>', extract_main(page), re.DOTALL)
    return set(re.findall(r">([^<>]+)</(?:a|button)>", sheet[0])) if sheet else set()


def test_what_is_next_is_one_press_away(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get(f"/jobs/{job}").text
    assert find_next_step(page) == ("Plan visit", f"/schedule/new?jobId={job}&back=%2Fjobs%2F{job}")
    assert list_other_actions(page) == {
        "Log hours",
        "Create invoice",
        "Start timer",
        "Edit",
        "Change status",
        "Cancel job",
    }
    assert 'value="J-0001 Replace the boiler"' in session.get(find_next_step(page)[1]).text

    planned = make_visit(cast, job, cast.people[Role.MEMBER])
    assert find_next_step(session.get(f"/jobs/{job}").text)[0] in {"Open visit", "Start the work"}
    cast.perform(set_visit_status, visitId=planned, status="started")
    page = session.get(f"/jobs/{job}").text
    words_, path = find_next_step(page)
    assert words_ == "Finish the work"
    session.follow_redirect(session.submit_page(page, path, status="done"))
    assert cast.perform(get_job, jobId=job)["status"] == "done"
    # Nothing was worked, so nothing is to be billed.
    page = session.get(f"/jobs/{job}").text
    assert find_next_step(page)[0] == "Close the job"
    session.follow_redirect(session.submit_page(page, find_next_step(page)[1], status="closed"))
    assert cast.perform(get_job, jobId=job)["status"] == "closed"


def test_those_who_work_on_it_are_named_however_many_people_there_are(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.SUBCONTRACTOR, Role.MEMBER)["id"]
    # By name, a hundred come before them.
    add_many_people(cast, range(101))
    with cast.performer.database.write_transaction(cast.organisation) as db:
        db.run("UPDATE person SET name = 'A ' || name, name_folded = 'a ' || name_folded WHERE status = 'invited'")
    shown = visible_text(sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs/{job}").text)
    assert "Mia Member" in shown
    assert shown.index("Mia Member") < shown.index("Sam Subcontractor")


def test_what_is_over_is_reopened_and_offers_no_work(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job, status=status)
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs/{job}").text
    assert "Log hours" not in extract_main(page)
    assert "Start timer" not in extract_main(page)


def test_a_timer_starts_from_the_job(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    session = sign_in_cast(server, cast, Role.MEMBER)
    page = session.get(f"/jobs/{job}").text
    assert f'<input type="hidden" name="job" value="{job}">' in page
    started = session.submit_page(page, "/hours/timer/start", job=job)
    assert "J-0001" in visible_text(session.follow_redirect(started).text)


def test_visits_hours_and_costs_are_there_for_the_office(server: RunningServer, cast: Cast) -> None:
    customer = make_customer(cast, phone="+44 1422 555 0142")
    site = make_site(cast, customer, contactId=make_contact(cast, customer, phone="+44 7700 900777"))
    job = make_job(cast, customer, Role.MEMBER, siteId=site, leadPersonId=cast.people[Role.MEMBER])["id"]
    set_rates(cast, Role.MEMBER, 20, 60)
    planned = make_visit(cast, job, cast.people[Role.MEMBER])
    entry = make_time_entry(cast, status="approved", jobId=job, minutes=90)["id"]
    cast.perform(change_job_status, jobId=job, status="done")
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs/{job}").text
    shown = visible_text(extract_main(page))
    assert f'href="/schedule/visits/{planned}"' in page
    assert f'href="/hours/{entry}"' in page
    assert "Mia Member" in shown
    assert "Worked 1:30 approved" in shown
    assert "Margin £60.00" in shown
    # What names a record leads to it.
    for path in (f"/customers/{customer}", f"/sites/{site}", f"/people/{cast.people[Role.MEMBER]}"):
        assert f'<dd><a href="{path}">' in page
    assert 'href="tel:+447700900777">Call Ann Boyle' in page
    assert 'href="tel:+4414225550142">Call Calder Property' in page
    assert find_next_step(page) == ("Create invoice", f"/invoices/new?jobId={job}&unbilled=on")


def test_the_money_says_whose_costs_are_missing_and_what_is_unpaid(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, Role.SUBCONTRACTOR)["id"]
    set_rates(cast, Role.MEMBER, 20, 60)
    set_rates(cast, Role.SUBCONTRACTOR, None, 50)
    for role in (Role.MEMBER, Role.SUBCONTRACTOR):
        make_time_entry(cast, role, status="approved", jobId=job, minutes=60)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    shown = visible_text(extract_main(session.get(f"/jobs/{job}").text))
    # The member's hour leaves 40.00, and the other one 50.00 if it cost nothing.
    assert "Margin up to £90.00 1 cost is unknown: hours of Sam Subcontractor" in shown
    assert "Unpaid" not in shown
    issue_invoice(cast, make_invoice(cast, jobId=job, lines=[{"description": "Parts", "unitPrice": "70"}]))
    assert "Unpaid, with tax £70.00" in visible_text(extract_main(session.get(f"/jobs/{job}").text))


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_its_own_hours_and_no_costs(server: RunningServer, cast: Cast, role: Role) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER, Role.SUBCONTRACTOR)["id"]
    set_rates(cast, Role.MEMBER, 20, 60)
    entry = make_time_entry(cast, jobId=job, minutes=90)["id"]
    page = sign_in_cast(server, cast, role).get(f"/jobs/{job}").text
    assert 'id="costs"' not in page
    assert "to-bill" not in page
    assert (f"/hours/{entry}" in page) == (role is Role.MEMBER)
    assert "Edit" not in list_other_actions(page)
    if role is Role.MEMBER:
        assert find_next_step(page)[0] == "Finish the work"
    else:
        assert find_first_action(page)[0] == "Log hours"


def test_the_field_is_not_offered_what_it_may_not_do(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    cast.perform(change_job_status, jobId=job, status="done")
    assert "Close the job" not in sign_in_cast(server, cast, Role.MEMBER).get(f"/jobs/{job}").text


def read_unbilled_page(session: BrowserSession, query: str = "") -> str:
    """Return the text of the page of unbilled hours."""
    answer = session.get(f"/hours/to-bill{query}")
    assert answer.status_code == 200, answer.text
    return extract_main(answer.text)


def test_what_is_to_be_billed_is_told_by_job(server: RunningServer, cast: Cast) -> None:
    set_rates(cast, Role.MEMBER, 20, 60)
    calder, ashdown = make_customer(cast), make_customer(cast, "Ashdown School")
    roof = make_job(cast, calder, Role.MEMBER, title="Roof")["id"]
    boiler = make_job(cast, ashdown, Role.MEMBER, title="Boiler")["id"]
    for job, minutes in ((roof, 90), (boiler, 60)):
        make_time_entry(cast, status="approved", jobId=job, minutes=minutes)
    make_time_entry(cast, jobId=roof, minutes=15)
    session = sign_in_new_person(server, cast, Role.OFFICE)
    shown = read_unbilled_page(session)
    assert f'href="/jobs/{roof}"' in shown
    assert f'href="/customers/{ashdown}"' in shown
    assert f"/hours?jobId={roof}&amp;status=approved" in shown
    assert "1:30" in shown
    assert "Total £150.00" in visible_text(shown)
    # By the customer that is typed, and by one job.
    for query in ("?customerId=calder", f"?customerId={calder}", f"?jobId={roof}"):
        narrowed = read_unbilled_page(session, query)
        assert "Roof" in narrowed
        assert "Boiler" not in narrowed
    assert "to-bill" not in session.get("/hours/week").text
    assert session.get("/hours/to-bill?customerId=nobody").status_code == 422
    assert session.get("/hours/to-bill?jobId=J-9999").status_code == 404


def test_what_is_to_be_billed_is_drafted_by_one_press(server: RunningServer, cast: Cast) -> None:
    set_rates(cast, Role.MEMBER, 20, 60)
    worked = make_job(cast, make_customer(cast), Role.MEMBER, title="Roof")["id"]
    make_time_entry(cast, status="approved", jobId=worked, minutes=90)
    agreed = make_job(cast, make_customer(cast), title="Tap", billing="fixed", budget="120")["id"]
    cast.perform(change_job_status, jobId=agreed, status="done")
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = session.get("/hours/to-bill").text
    # It is a part of the invoices, wherever one comes from.
    assert re.search(r'<a href="/invoices"[^>]* aria-current="true"', page)
    assert re.search(r'<a href="/hours/to-bill" aria-current="page">To invoice</a>', page)
    assert "/hours/to-bill" in session.get("/invoices").text
    for job, amount in ((worked, "90.00"), (agreed, "120.00")):
        [form] = [
            one for one in re.findall(r'(?s)<form method="post" action="/invoices/new">.*?</form>', page) if job in one
        ]
        draft = session.follow_redirect(session.post("/invoices/new", read_form(f"<main>{form}"))).text
        assert f"/jobs/{job}" in draft
        assert amount in visible_text(draft)
        assert f'href="/invoices/new?jobId={job}' in page


def test_only_who_sees_costs_is_told_what_is_to_be_billed(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.MEMBER)
    assert session.get("/hours/to-bill").status_code == 403
    assert "to-bill" not in session.get("/hours/week").text
    assert "Nothing to invoice." in read_unbilled_page(sign_in_new_person(server, cast, Role.OFFICE))


def test_what_happened_is_told_as_it_was_done(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.MEMBER)["id"]
    planned = make_visit(cast, job, cast.people[Role.MEMBER])
    cast.perform(set_visit_status, visitId=planned, status="done")
    cast.perform(change_job_status, jobId=job, status="onHold", reason="Waits for parts.")
    entry = make_time_entry(cast, status="rejected", minutes=90)["id"]
    session = sign_in_new_person(server, cast, Role.OWNER)
    diary = session.get(f"/jobs/{job}").text.partition('<h2 id="diary">')[2]
    assert re.findall("<strong>(.*?)</strong>", diary) == [
        "Job: on hold: Waits for parts.",
        "Visit: done",
        "Visit planned",
        "Job created",
    ]
    assert "Hours rejected: Which job?" in visible_text(session.get(f"/hours/{entry}").text)


def test_what_was_done_again_and_again_is_one_entry(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    for title in ("Mend it", "Mend the roof", "Mend the whole roof"):
        cast.perform(update_job, Role.OFFICE, jobId=job, title=title)
    diary = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs/{job}").text.partition('<h2 id="diary">')[2]
    assert re.findall("<strong>(.*?)</strong>", diary) == ["Details edited: title", "Job created"]
    assert "Details edited: title 3 times" in visible_text(diary)


def test_what_would_be_done_is_named_beside_the_way_out(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    session = sign_in_new_person(server, cast, Role.OFFICE)
    page = extract_main(session.submit_form(f"/jobs/{job}/cancel", reason="Not wanted").text)
    assert re.findall(r">([^<>]+)</(?:button|a)></p>", page)[-1] == "Back"
    assert ">Cancel job J-0001</button>" in page
    assert ">Cancel<" not in page


def test_what_was_made_is_told_by_its_number(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast))["id"]
    page = sign_in_new_person(server, cast, Role.OFFICE).get(f"/jobs/{job}?done=create_job").text
    assert "Job J-0001 created." in visible_text(page)


def test_a_page_without_visits_that_are_one_s_own_tells_of_no_other(server: RunningServer, cast: Cast) -> None:
    job = make_job(cast, make_customer(cast), Role.SUBCONTRACTOR)["id"]
    make_visit(cast, job, cast.people[Role.OFFICE])
    shown = visible_text(extract_main(sign_in_cast(server, cast, Role.SUBCONTRACTOR).get(f"/jobs/{job}").text))
    assert "You have no visits planned." in shown
    assert "Next" not in shown
    shown = visible_text(extract_main(sign_in_cast(server, cast, Role.OFFICE).get(f"/jobs/{job}").text))
    assert "Next: Visit planned" in shown


@pytest.mark.parametrize(
    ("phone", "calls"),
    [
        # Written in two ways, it is one number.
        ("(01422) 555-0142", ["Call Ann Boyle"]),
        ("07700 900777", ["Call Ann Boyle, 01422 5550142", "Call Ann Boyle, 07700 900777"]),
    ],
)
def test_nobody_is_called_twice_in_the_same_words(
    server: RunningServer, cast: Cast, phone: str, calls: list[str]
) -> None:
    customer = make_customer(cast, "Ann Boyle", phone=phone)
    site = make_site(cast, customer, contactId=make_contact(cast, customer, phone="01422 5550142"))
    job = make_job(cast, customer, Role.MEMBER, siteId=site)["id"]
    for role in (Role.MEMBER, Role.OFFICE):
        page = sign_in_cast(server, cast, role).get(f"/jobs/{job}").text
        assert re.findall(r'href="tel:[^"]+">([^<]+)</a>', page) == calls
