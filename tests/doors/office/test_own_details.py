"""Everyone finds their own details in the account menu, and changes there what is theirs to change."""

import re

import pytest

from cast import Cast
from mainstay.business.people.operations import get_person
from mainstay.terms.rights import Role
from running import RunningServer
from visiting import visit, words

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


@pytest.mark.parametrize("role", [Role.SUBCONTRACTOR, Role.MEMBER, Role.OFFICE])
def test_anyone_changes_their_own_phone_and_colour(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    link = re.search(r'<a href="(/people/[^"]+)">Your details</a>', visiting.get("/").text)
    assert link
    page = visiting.get(link[1])
    assert "Sara Someone" in words(page.text)
    assert f'href="{link[1]}/edit"' in page.text
    form = visiting.get(f"{link[1]}/edit").text
    asked = {*re.findall(r'<input[^>]* name="(\w+)"', form.partition("<main")[2])}
    assert asked - {"csrf", "once", "version", "shown"} == {"phone", "colour"}
    answer = visiting.answer(form, f"{link[1]}/edit", phone="0123 456", colour="#3366cc")
    assert "0123 456" in words(visiting.follow(answer).text)
    kept = cast.perform(get_person, personId=link[1].rpartition("/")[2])
    assert (kept["phone"], kept["colour"]) == ("0123 456", "#3366cc")


def test_a_subcontractor_is_led_to_nobody_else(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.SUBCONTRACTOR)
    own = re.search(r'<a href="(/people/[^"]+)">Your details</a>', visiting.get("/").text)
    assert own
    assert 'href="/people"' not in visiting.get(own[1]).text
    assert visiting.get(f"/people/{cast.people[Role.MEMBER]}").status_code == 404
    answer = visiting.submit(f"{own[1]}/edit", name="Somebody Else", phone="1")
    assert answer.status_code == 303
    assert cast.perform(get_person, personId=own[1].rpartition("/")[2])["name"] == "Sara Someone"


def test_the_account_page_leads_there(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast, Role.SUBCONTRACTOR).get("/settings/account").text
    assert re.search(r'<a href="/people/person_\w+">your details</a>', page)
