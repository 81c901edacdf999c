"""Looking for people in the office: in the address, beside the other choices, and with calm words for too little."""

import pytest

from mainstay.business.people.operations import invite_person
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.servers import RunningServer


@pytest.fixture
def tom(cast: Cast) -> str:
    invited = cast.perform(
        invite_person, name="Tom Ashworth", email="tom@x.example", role="member", phone="+44 7700 900104"
    )
    return str(invited["name"])


def test_people_are_found_by_a_text_beside_the_other_choices(server: RunningServer, cast: Cast, tom: str) -> None:
    session = sign_in_new_person(server, cast)
    for text in ("ash", "07700 900104", "TOM ashworth"):
        page = session.get(f"/people?text={text.replace(' ', '+')}").text
        assert tom in visible_text(page)
        assert "Mia Member" not in visible_text(page)
        assert f'name="text" value="{text}"' in page
    assert tom in visible_text(session.get("/people?text=ash&status=invited&role=member").text)
    assert tom not in visible_text(session.get("/people?text=ash&role=office").text)
    assert "No matches." in visible_text(session.get("/people?text=nobody").text)


def test_what_was_looked_for_stays_through_tabs_pages_and_files(server: RunningServer, cast: Cast, tom: str) -> None:
    session = sign_in_new_person(server, cast)
    page = session.get("/people?text=ash").text
    assert 'href="/people?text=ash&amp;status=invited"' in page
    exported = session.get("/people/export.csv?text=ash").text
    assert tom in exported
    assert "Mia Member" not in exported


def test_too_little_to_look_for_is_told_calmly(server: RunningServer, cast: Cast) -> None:
    answer = sign_in_new_person(server, cast).get("/people?text=a")
    assert answer.status_code == 200
    assert "Search is too short; enter a word of at least two letters or digits." in visible_text(answer.text)


def test_a_list_that_cannot_be_searched_offers_no_field(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get("/settings/developer/keys").text
    assert 'name="text"' not in page.partition("<main")[2]
