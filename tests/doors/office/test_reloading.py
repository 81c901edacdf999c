"""A refused form can be loaded again without a question, because the address of a form is always a page."""

import re

import pytest

from mainstay.doors.office.routes import page_names
from support.browser_session import sign_in_new_person
from support.cast import Cast
from support.customers import make_customer, make_job
from support.oauth_app import hidden_value
from support.servers import RunningServer

# What scripts send beside a page, and signing out, are answered with no page.
PAGELESS = ("/seen", "/totals", "/sign-out")


def test_every_address_that_takes_a_form_can_be_opened() -> None:
    named = [name.split(" ", 1) for name in page_names()]
    opened = {path for method, path in named if method == "GET"}
    sent = {path for method, path in named if method == "POST" and not path.endswith(PAGELESS)}
    assert len(sent) > 30
    assert sent - opened == set()


@pytest.mark.parametrize(
    ("sent_to", "page"),
    [
        ("/organisation", "/"),
        ("/schedule/visits/visit_1/start", "/schedule/visits/visit_1"),
        ("/hours/week/log?on=2026-11-17", "/hours/week?on=2026-11-17"),
        ("/hours/timer/start", "/hours/week"),
        ("/purchasing/bills/bil_1/become", "/purchasing/bills/bil_1"),
        ("/schedule/calendar/new", "/schedule/calendar"),
        ("/schedule/calendar/remove", "/schedule/calendar"),
        ("/settings/account/password", "/settings/account"),
        ("/settings/account/sessions/ses_1/end", "/settings/account"),
        ("/settings/account/sessions/end-others", "/settings/account"),
        ("/settings/import/imp_1/confirm", "/settings/import/imp_1"),
    ],
)
def test_it_leads_to_the_page_of_its_form(server: RunningServer, cast: Cast, sent_to: str, page: str) -> None:
    answer = sign_in_new_person(server, cast).get(sent_to)
    assert (answer.status_code, answer.headers["Location"]) == (303, page)


def test_files_that_were_refused_lead_back_to_their_record(server: RunningServer, cast: Cast) -> None:
    session, job = sign_in_new_person(server, cast), make_job(cast, make_customer(cast))["id"]
    page = session.get(f"/jobs/{job}").text
    (sent_to,) = re.findall(r'action="(/documents[^"]*)"', page)
    refused = session.upload(sent_to, {"csrf": hidden_value(page, "csrf"), "recordId": job}, files=("empty.pdf", b""))
    assert refused.status_code == 422
    assert session.get(sent_to).headers["Location"] == f"/jobs/{job}"
    assert session.get("/documents").status_code == 404
