"""Saved views of a list: tabs after those of the states, saved, renamed, shared and deleted on the list itself."""

import re
from html import unescape

from mainstay.business.saved_views.operations import list_saved_views
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_cast, visible_text
from support.cast import Cast
from support.servers import RunningServer

PATH, QUERY = "/invoices?status=overdue&order=due", "status=overdue&order=due"


def test_the_filters_are_saved_renamed_shared_and_deleted(server: RunningServer, cast: Cast) -> None:
    office, owner = (sign_in_cast(server, cast, role) for role in (Role.OFFICE, Role.OWNER))
    assert "Save view" not in visible_text(office.get("/invoices").text)
    made = office.submit_form(PATH, "/invoices/views", name="Landlords", query=QUERY)
    assert made.headers["Location"] == "/invoices?status=overdue&order=due&done=create_saved_view"
    page = office.follow_redirect(made).text
    assert "View saved. Undo" in visible_text(page)
    tab = re.search(r'<a href="([^"]*)" aria-current="page"><svg.*?<bdi>Landlords</bdi></a>', page)
    assert tab
    assert unescape(tab[1]) == PATH
    assert "Landlords" not in owner.get("/invoices").text
    [view] = cast.perform(list_saved_views, Role.OFFICE)["data"]
    edit = {"view": view["id"], "query": QUERY, "version": str(view["version"])}
    office.submit_page(page, "/invoices/views", name="Late landlords", shared="on", **edit)
    assert "Late landlords (shared)" in visible_text(owner.get("/invoices").text)
    assert "Late landlords" not in owner.get("/quotes").text
    [view] = cast.perform(list_saved_views, Role.OWNER)["data"]
    deleted = owner.submit_form(PATH, "/invoices/views", do="delete", **edit | {"version": str(view["version"])})
    assert "View deleted. Undo" in visible_text(owner.follow_redirect(deleted).text)
    assert "Late landlords" not in office.get("/invoices").text


def test_the_field_saves_for_itself(server: RunningServer, cast: Cast) -> None:
    member = sign_in_cast(server, cast, Role.MEMBER)
    page = member.get("/jobs?status=onHold").text
    assert "Save view" in visible_text(page)
    assert "Share with the office" not in page
    member.submit_page(page, "/jobs/views", name="Paused", query="status=onHold")
    assert "Paused" in member.get("/jobs").text
    assert "Paused" not in sign_in_cast(server, cast, Role.OFFICE).get("/jobs").text
