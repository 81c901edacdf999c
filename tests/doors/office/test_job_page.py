"""The page of a job: one next step, its visits and hours, what it cost, and the ways to whom and where it is."""

import re
from html import unescape

import pytest

from cast import Cast
from doors.office.test_customers import main
from doors.office.test_lists import many_people
from filling import as_opened
from labour import logged, new_visit, price
from mainstay.business.jobs.operations import change_job_status, get_job
from mainstay.business.schedule.operations import set_visit_status
from mainstay.terms.rights import Role
from running import RunningServer
from trade import a_contact, a_customer, a_job, a_site
from visiting import Visit, visit, visit_as, words


def first(page: str) -> tuple[str, str]:
    """What the one next step is called, and where it leads."""
    link = re.search(r'<a class="button primary[^"]*" href="([^"]+)">([^<]+)</a>', main(page))
    if link:
        return link[2], unescape(link[1])
    form = re.search(
        r'<form method="post" action="([^"]+)">(?:(?!</form>).)*<button class="primary"[^>]*>([^<]+)<', page
    )
    assert form
    return form[2], unescape(form[1])


def others(page: str) -> set[str]:
    """What is offered beside it."""
    sheet = re.search(r'<details class="menu more-actions">.*?</details>', main(page), re.DOTALL)
    return set(re.findall(r">([^<>]+)</(?:a|button)>", sheet[0])) if sheet else set()


def test_what_is_next_is_one_press_away(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))["id"]
    visiting = visit(server, cast, Role.OFFICE)
    page = visiting.get(f"/jobs/{job}").text
    assert first(page) == ("Plan a visit", f"/schedule/visits/plan?jobId={job}")
    assert others(page) == {"Log hours", "Draft an invoice", "Start timer", "Edit", "Change status", "Cancel"}
    assert 'value="J-0001 Replace the boiler"' in visiting.get(first(page)[1]).text

    planned = new_visit(cast, job, cast.people[Role.MEMBER])
    assert first(visiting.get(f"/jobs/{job}").text)[0] in {"See the next visit", "Start the work"}
    cast.perform(set_visit_status, visitId=planned, status="started")
    page = visiting.get(f"/jobs/{job}").text
    words_, path = first(page)
    assert words_ == "Finish the work"
    visiting.follow(visiting.answer(page, path, status="done"))
    assert cast.perform(get_job, jobId=job)["status"] == "done"
    # Nothing was worked, so nothing is to be billed.
    page = visiting.get(f"/jobs/{job}").text
    assert first(page)[0] == "Close the job"
    visiting.follow(visiting.answer(page, first(page)[1], status="closed"))
    assert cast.perform(get_job, jobId=job)["status"] == "closed"


def test_those_who_work_on_it_are_named_however_many_people_there_are(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.SUBCONTRACTOR, Role.MEMBER)["id"]
    # By name, a hundred come before them.
    many_people(cast, range(101))
    with cast.stage.database.changing(cast.organisation) as rows:
        rows.run("UPDATE person SET name = 'A ' || name, name_folded = 'a ' || name_folded WHERE status = 'invited'")
    shown = words(visit(server, cast, Role.OFFICE).get(f"/jobs/{job}").text)
    assert "Mia Member" in shown
    assert shown.index("Mia Member") < shown.index("Sam Subcontractor")


def test_what_is_over_is_reopened_and_offers_no_work(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))["id"]
    for status in ("done", "closed"):
        cast.perform(change_job_status, jobId=job, status=status)
    page = visit(server, cast, Role.OFFICE).get(f"/jobs/{job}").text
    assert "Log hours" not in main(page)
    assert "Start timer" not in main(page)


def test_a_timer_starts_from_the_job(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.MEMBER)["id"]
    visiting = visit_as(server, cast, Role.MEMBER)
    page = visiting.get(f"/jobs/{job}").text
    assert f'<input type="hidden" name="job" value="{job}">' in page
    started = visiting.answer(page, "/hours/timer/start", job=job)
    assert "J-0001" in words(visiting.follow(started).text)


def test_visits_hours_and_costs_are_there_for_the_office(server: RunningServer, cast: Cast) -> None:
    customer = a_customer(cast, phone="+44 1422 555 0142")
    site = a_site(cast, customer, contactId=a_contact(cast, customer, phone="+44 7700 900777"))
    job = a_job(cast, customer, Role.MEMBER, siteId=site, leadPersonId=cast.people[Role.MEMBER])["id"]
    price(cast, Role.MEMBER, 20, 60)
    planned = new_visit(cast, job, cast.people[Role.MEMBER])
    entry = logged(cast, status="approved", jobId=job, minutes=90)["id"]
    cast.perform(change_job_status, jobId=job, status="done")
    page = visit(server, cast, Role.OFFICE).get(f"/jobs/{job}").text
    shown = words(main(page))
    assert f'href="/schedule/visits/{planned}"' in page
    assert f'href="/hours/{entry}"' in page
    assert "Mia Member" in shown
    assert "Worked 1:30: 1:30 approved" in shown
    assert "Margin 60.00 EUR" in shown or "Margin 60.00 GBP" in shown
    # What names a record leads to it.
    for path in (f"/customers/{customer}", f"/sites/{site}", f"/people/{cast.people[Role.MEMBER]}"):
        assert f'<dd><a href="{path}">' in page
    assert 'href="tel:+447700900777">Call Ann Boyle' in page
    assert 'href="tel:+4414225550142">Call Calder Property' in page
    assert first(page) == ("Draft the invoice", f"/invoices/new?jobId={job}&unbilled=on")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_field_sees_its_own_hours_and_no_costs(server: RunningServer, cast: Cast, role: Role) -> None:
    job = a_job(cast, a_customer(cast), Role.MEMBER, Role.SUBCONTRACTOR)["id"]
    price(cast, Role.MEMBER, 20, 60)
    entry = logged(cast, jobId=job, minutes=90)["id"]
    page = visit_as(server, cast, role).get(f"/jobs/{job}").text
    assert "Costs and margin" not in page
    assert "to-bill" not in page
    assert (f"/hours/{entry}" in page) == (role is Role.MEMBER)
    assert "Edit" not in others(page)
    assert first(page)[0] == ("Finish the work" if role is Role.MEMBER else "Log hours")


def test_the_field_is_not_offered_what_it_may_not_do(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.MEMBER)["id"]
    cast.perform(change_job_status, jobId=job, status="done")
    assert "Close the job" not in visit_as(server, cast, Role.MEMBER).get(f"/jobs/{job}").text


def to_bill(visiting: Visit, query: str = "") -> str:
    """What the page of what is to be billed says."""
    answer = visiting.get(f"/hours/to-bill{query}")
    assert answer.status_code == 200, answer.text
    return main(answer.text)


def test_what_is_to_be_billed_is_told_by_job(server: RunningServer, cast: Cast) -> None:
    price(cast, Role.MEMBER, 20, 60)
    calder, ashdown = a_customer(cast), a_customer(cast, "Ashdown School")
    roof = a_job(cast, calder, Role.MEMBER, title="Roof")["id"]
    boiler = a_job(cast, ashdown, Role.MEMBER, title="Boiler")["id"]
    for job, minutes in ((roof, 90), (boiler, 60)):
        logged(cast, status="approved", jobId=job, minutes=minutes)
    logged(cast, jobId=roof, minutes=15)
    visiting = visit(server, cast, Role.OFFICE)
    shown = to_bill(visiting)
    assert f'href="/jobs/{roof}"' in shown
    assert f'href="/customers/{ashdown}"' in shown
    assert f"/hours?jobId={roof}&amp;status=approved" in shown
    assert "1:30" in shown
    assert "Together 150.00" in words(shown)
    # By the customer that is typed, and by one job.
    for query in ("?customerId=calder", f"?customerId={calder}", f"?jobId={roof}"):
        narrowed = to_bill(visiting, query)
        assert "Roof" in narrowed
        assert "Boiler" not in narrowed
    assert "to-bill" not in visiting.get("/hours/week").text
    assert visiting.get("/hours/to-bill?customerId=nobody").status_code == 422
    assert visiting.get("/hours/to-bill?jobId=J-9999").status_code == 404


def test_what_is_to_be_billed_is_drafted_by_one_press(server: RunningServer, cast: Cast) -> None:
    price(cast, Role.MEMBER, 20, 60)
    worked = a_job(cast, a_customer(cast), Role.MEMBER, title="Roof")["id"]
    logged(cast, status="approved", jobId=worked, minutes=90)
    agreed = a_job(cast, a_customer(cast), title="Tap", billing="fixed", budget="120")["id"]
    cast.perform(change_job_status, jobId=agreed, status="done")
    visiting = visit(server, cast, Role.OFFICE)
    page = visiting.get("/hours/to-bill").text
    # It is a part of the invoices, wherever one comes from.
    assert re.search(r'<a href="/invoices" aria-current="true">', page)
    assert re.search(r'<a href="/hours/to-bill" aria-current="page">To bill</a>', page)
    assert "/hours/to-bill" in visiting.get("/invoices").text
    for job, amount in ((worked, "90.00"), (agreed, "120.00")):
        [form] = [
            one for one in re.findall(r'(?s)<form method="post" action="/invoices/new">.*?</form>', page) if job in one
        ]
        draft = visiting.follow(visiting.post("/invoices/new", as_opened(f"<main>{form}"))).text
        assert f"/jobs/{job}" in draft
        assert amount in words(draft)
        assert f'href="/invoices/new?jobId={job}' in page


def test_only_who_sees_costs_is_told_what_is_to_be_billed(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.MEMBER)
    assert visiting.get("/hours/to-bill").status_code == 403
    assert "to-bill" not in visiting.get("/hours/week").text
    assert "Nothing is to be billed." in to_bill(visit(server, cast, Role.OFFICE))


def test_what_happened_is_told_as_it_was_done(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.MEMBER)["id"]
    planned = new_visit(cast, job, cast.people[Role.MEMBER])
    cast.perform(set_visit_status, visitId=planned, status="done")
    cast.perform(change_job_status, jobId=job, status="onHold", reason="Waits for parts.")
    entry = logged(cast, status="rejected", minutes=90)["id"]
    visiting = visit(server, cast, Role.OWNER)
    timeline = re.search(r'<ol class="timeline">.*?</ol>', visiting.get(f"/jobs/{job}").text, re.DOTALL)
    assert timeline
    assert re.findall("<strong>(.*?)</strong>", timeline[0]) == [
        "Job: on hold: Waits for parts.",
        "Visit: done",
        "Visit planned",
        "Job created",
    ]
    assert "Hours rejected: Which job?" in words(visiting.get(f"/hours/{entry}").text)


def test_what_would_be_done_is_named_beside_the_way_out(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))["id"]
    visiting = visit(server, cast, Role.OFFICE)
    page = main(visiting.submit(f"/jobs/{job}/cancel", reason="Not wanted").text)
    assert re.findall(r">([^<>]+)</(?:button|a)></p>", page)[-1] == "Go back"
    assert ">Cancel job</button>" in page
    assert ">Cancel<" not in page


def test_what_was_made_is_told_by_its_number(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast))["id"]
    page = visit(server, cast, Role.OFFICE).get(f"/jobs/{job}?done=create_job").text
    assert "Job J-0001 is created." in words(page)


def test_a_page_without_visits_that_are_one_s_own_tells_of_no_other(server: RunningServer, cast: Cast) -> None:
    job = a_job(cast, a_customer(cast), Role.SUBCONTRACTOR)["id"]
    new_visit(cast, job, cast.people[Role.OFFICE])
    shown = words(main(visit_as(server, cast, Role.SUBCONTRACTOR).get(f"/jobs/{job}").text))
    assert "None is planned for you." in shown
    assert "Next" not in shown
    shown = words(main(visit_as(server, cast, Role.OFFICE).get(f"/jobs/{job}").text))
    assert "Next: Do the planned visit" in shown


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
    customer = a_customer(cast, "Ann Boyle", phone=phone)
    site = a_site(cast, customer, contactId=a_contact(cast, customer, phone="01422 5550142"))
    job = a_job(cast, customer, Role.MEMBER, siteId=site)["id"]
    for role in (Role.MEMBER, Role.OFFICE):
        page = visit_as(server, cast, role).get(f"/jobs/{job}").text
        assert re.findall(r'href="tel:[^"]+">([^<]+)</a>', page) == calls
