"""Reminders of several overdue invoices at once: marked, shown in one preview, sent together."""

import pytest

from billing import an_invoice, issued, now
from cast import Cast
from mainstay.terms.rights import Role
from quoting import later
from running import RunningServer
from trade import a_customer
from visiting import visit, visit_as, words

PATH = "/invoices/remind"


@pytest.fixture
def overdue(cast: Cast) -> list[str]:
    """Two invoices that are overdue today, and one that is not."""
    then = later(cast, days=-40)
    late = [
        issued(then, an_invoice(then, customerId=a_customer(cast, name, email=f"{name.lower()}@x.example")))["id"]
        for name in ("Ann", "Bob")
    ]
    issued(cast)
    return late


def test_what_is_marked_is_shown_first_and_then_sent(server: RunningServer, cast: Cast, overdue: list[str]) -> None:
    office = visit(server, cast, Role.OFFICE)
    assert f'<a href="{PATH}">Send reminders</a>' in office.get("/invoices?status=overdue").text
    page = office.get(PATH).text
    assert [f'name="invoice {one}" value="yes" checked' in page for one in overdue] == [True, True]
    assert "INV-0003" not in page
    shown = office.submit(PATH, **{f"invoice {overdue[0]}": "yes"})
    assert shown.status_code == 200
    told = words(shown.text)
    assert "Reminders of 1 invoices go to 1 customers" in told
    assert "INV-0001 is mailed to ann@x.example" in told
    assert now(cast, {"id": overdue[0]})["reminders"] == 0
    done = office.follow(office.answer(shown.text, PATH, **{f"invoice {overdue[0]}": "yes", "confirmed": "yes"}))
    assert "The reminders are on their way." in words(done.text)
    assert [now(cast, {"id": one})["reminders"] for one in overdue] == [1, 0]


def test_nothing_marked_is_said(server: RunningServer, cast: Cast, overdue: list[str]) -> None:
    answer = visit(server, cast, Role.OFFICE).submit(PATH)
    assert answer.status_code == 422
    assert "Mark at least one invoice." in words(answer.text)
    assert overdue[0] in answer.text


def test_where_nothing_is_overdue_that_is_said(server: RunningServer, cast: Cast) -> None:
    assert "No invoice is overdue." in words(visit(server, cast, Role.OFFICE).get(PATH).text)


def test_the_field_is_not_let_in(server: RunningServer, cast: Cast) -> None:
    assert visit_as(server, cast, Role.MEMBER).get(PATH).status_code == 403
