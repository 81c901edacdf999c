"""Everyone finds their own details in the account menu, and changes there what is theirs to change."""

import re

import pytest

from mainstay.business.people.operations import get_person
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


@pytest.mark.parametrize("role", [Role.SUBCONTRACTOR, Role.MEMBER, Role.OFFICE])
def test_anyone_changes_their_own_phone_and_colour(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    link = re.search(r'<a href="(/people/[^"]+)">Your details</a>', session.get("/").text)
    assert link
    page = session.get(link[1])
    assert "Sara Someone" in visible_text(page.text)
    assert f'href="{link[1]}/edit"' in page.text
    form = session.get(f"{link[1]}/edit").text
    field_names = {*re.findall(r'<input[^>]* name="(\w+)"', form.partition("<main")[2])}
    assert field_names - {"csrf", "once", "version", "shown"} == {"phone", "colour"}
    answer = session.submit_page(form, f"{link[1]}/edit", phone="0123 456", colour="#3366cc")
    assert "0123 456" in visible_text(session.follow_redirect(answer).text)
    kept = cast.perform(get_person, personId=link[1].rpartition("/")[2])
    assert (kept["phone"], kept["colour"]) == ("0123 456", "#3366cc")


def test_a_subcontractor_is_led_to_nobody_else(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    own = re.search(r'<a href="(/people/[^"]+)">Your details</a>', session.get("/").text)
    assert own
    assert 'href="/people"' not in session.get(own[1]).text
    assert session.get(f"/people/{cast.people[Role.MEMBER]}").status_code == 404
    answer = session.submit_form(f"{own[1]}/edit", name="Somebody Else", phone="1")
    assert answer.status_code == 303
    assert cast.perform(get_person, personId=own[1].rpartition("/")[2])["name"] == "Sara Someone"


def test_the_account_page_leads_there(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast, Role.SUBCONTRACTOR).get("/settings/account").text
    assert re.search(r'<a href="/people/person_\w+">your details</a>', page)
