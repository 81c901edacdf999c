"""Reminders of several overdue invoices at once: marked, shown in one preview, sent together."""

import pytest

from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, sign_in_new_person, visible_text
from support.cast import Cast
from support.customers import make_customer
from support.invoices import issue_invoice, make_invoice, reread_invoice
from support.quotes import cast_later
from support.servers import RunningServer

PATH = "/invoices/remind"


@pytest.fixture
def overdue_invoices(cast: Cast) -> list[str]:
    """Two invoices that are overdue today, and one that is not."""
    then = cast_later(cast, days=-40)
    late = [
        issue_invoice(
            then, make_invoice(then, customerId=make_customer(cast, name, email=f"{name.lower()}@x.example"))
        )["id"]
        for name in ("Ann", "Bob")
    ]
    issue_invoice(cast)
    return late


def test_what_is_marked_is_shown_first_and_then_sent(
    server: RunningServer, cast: Cast, overdue_invoices: list[str]
) -> None:
    office = sign_in_new_person(server, cast, Role.OFFICE)
    assert f'<a href="{PATH}">Send reminders</a>' in office.get("/invoices?status=overdue").text
    page = office.get(PATH).text
    assert [f'name="invoice {one}" value="yes" checked' in page for one in overdue_invoices] == [True, True]
    assert "INV-0003" not in page
    shown = office.submit_form(PATH, **{f"invoice {overdue_invoices[0]}": "yes"})
    assert shown.status_code == 200
    text = visible_text(shown.text)
    assert "Reminders for 1 invoice will be sent to 1 customer: " in text
    assert "INV-0001 by email to ann@x.example" in text
    assert reread_invoice(cast, {"id": overdue_invoices[0]})["reminders"] == 0
    done = office.follow_redirect(
        office.submit_page(shown.text, PATH, **{f"invoice {overdue_invoices[0]}": "yes", "confirmed": "yes"})
    )
    assert "Reminders sent." in visible_text(done.text)
    assert [reread_invoice(cast, {"id": one})["reminders"] for one in overdue_invoices] == [1, 0]


def test_nothing_marked_is_said(server: RunningServer, cast: Cast, overdue_invoices: list[str]) -> None:
    answer = sign_in_new_person(server, cast, Role.OFFICE).submit_form(PATH)
    assert answer.status_code == 422
    assert "Select at least one invoice." in visible_text(answer.text)
    assert overdue_invoices[0] in answer.text


def test_where_nothing_is_overdue_that_is_said(server: RunningServer, cast: Cast) -> None:
    assert "No overdue invoices." in visible_text(sign_in_new_person(server, cast, Role.OFFICE).get(PATH).text)


def test_the_field_is_not_let_in(server: RunningServer, cast: Cast) -> None:
    assert sign_in_cast(server, cast, Role.MEMBER).get(PATH).status_code == 403
