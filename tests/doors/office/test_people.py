import re
from html import unescape

import pytest

from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.roles import name_owner, remove_person
from mainstay.values.colours import COLOURS
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from support.browser_session import sign_in_new_person, visible_text
from support.cast import Cast
from support.form_fields import read_form
from support.servers import RunningServer

# Of this door, the smoke set on both engines; what is decided before the database is asked on one.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

DETAILS = {"name": "Mia Moved", "email": "mia@cast.example"}


def list_actions(page: str, person: str) -> set[str]:
    """What a page offers to do with a person, by the end of its address."""
    return set(re.findall(rf"{person}/([\w-]+)", page))


def make_email() -> str:
    return f"{new_id('n').lower()}@new.example"


def person_path(cast: Cast, role: Role = Role.MEMBER) -> str:
    return f"/people/{cast.people[role]}"


def find_links(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', page)]


def test_people_are_listed_with_role_and_status(server: RunningServer, cast: Cast) -> None:
    cast.perform(invite_person, name="Nina New", email=make_email(), role="office")
    session = sign_in_new_person(server, cast)
    page = visible_text(session.get("/people").text)
    for name, role, state in (("Olivia Owner", "Owner", "Active"), ("Nina New", "Office", "Invited")):
        assert re.search(rf"{name} {role} · \S+@\S+ {state}", page), page
    assert page.index("Adam Admin") < page.index("Mia Member") < page.index("Olivia Owner"), "not by name"
    assert "Nina New" in session.get("/people?status=invited").text
    assert "Mia Member" not in session.get("/people?status=invited").text
    assert "No matches." in session.get("/people?status=left").text


def test_someone_is_invited(server: RunningServer, cast: Cast) -> None:
    email = make_email()
    session = sign_in_new_person(server, cast, Role.ADMIN)
    answer = session.submit_form(
        "/people/invite", name="Nina New", email=email, role="subcontractor", companyName="New & Daughters"
    )
    (person,) = cast.perform(list_people, status="invited")["data"]
    assert answer.headers["Location"] == f"/people/{person['id']}?done=invite_person"
    assert "Invitation sent." in session.get(answer.headers["Location"]).text
    assert (person["email"], person["role"], person["companyName"]) == (email, "subcontractor", "New & Daughters")
    assert (person["phone"], person["skills"]) == (None, [])
    assert person["createdBy"]["via"] == {"door": "office", "client": None}


@pytest.mark.engines("sqlite")
def test_what_must_be_chosen_is_not_chosen_for_anyone(server: RunningServer, cast: Cast) -> None:
    page = sign_in_new_person(server, cast).get("/people/invite").text
    assert re.search(r'<select id="role" name="role" required[^>]*>\s*<option value="">Choose', page)
    assert " selected" not in page


@pytest.mark.engines("sqlite")
def test_what_is_wrong_is_said_beside_the_fields_and_nothing_typed_is_lost(server: RunningServer, cast: Cast) -> None:
    answer = sign_in_new_person(server, cast).submit_form(
        "/people/invite", name="", email="nope", role="owner", phone="0123"
    )
    assert answer.status_code == 422
    messages = (
        "Enter a name.",
        "Enter a valid email, e.g. kim@example.com.",
        "Choose ",
    )
    for said, field in zip(messages, ("name", "email", "role"), strict=True):
        # Beside the field, and above the form with the way to it.
        assert visible_text(answer.text).count(said) == 2
        assert f'href="#{field}"' in answer.text
    assert 'value="nope"' in answer.text
    assert 'value="0123"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 3
    (first,) = re.findall(r"<input[^>]* autofocus[^>]*>", answer.text)
    assert 'id="name"' in first


def test_a_refusal_of_the_whole_is_said_above_the_form(server: RunningServer, cast: Cast) -> None:
    answer = sign_in_new_person(server, cast).submit_form(
        "/people/invite", name="Mia", email="mia@cast.example", role="member"
    )
    assert answer.status_code == 409
    assert "mia@cast.example already belongs to Mia Member in this organisation." in visible_text(answer.text)


def test_a_person_is_changed(server: RunningServer, cast: Cast) -> None:
    person = person_path(cast)
    session = sign_in_new_person(server, cast)
    answer = session.submit_form(f"{person}/edit", skills="gas, , roofing", billRate="85.50", **DETAILS)
    assert answer.headers["Location"] == f"{person}?done=update_person"
    changed = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    assert (changed["name"], changed["role"], changed["skills"]) == ("Mia Moved", "member", ["gas", "roofing"])
    assert (changed["billRate"], changed["costRate"]) == ("85.50", None)
    page = visible_text(session.get(answer.headers["Location"]).text)
    assert "Mia Moved updated." in page
    assert "Skills gas, roofing Charge-out rate £85.50" in page
    assert "Cost per hour" not in page, "there is nothing to tell"


def test_someone_s_own_working_hours_are_filled_in_and_cleared(server: RunningServer, cast: Cast) -> None:
    person, mia = person_path(cast), cast.people[Role.MEMBER]
    session = sign_in_new_person(server, cast, Role.ADMIN)
    assert "If they differ from the usual hours." in visible_text(session.get(f"{person}/edit").text)
    typed = DETAILS | {"workingHours.monday": "8-12, 13-15.30, 22-6"}
    page = session.follow_redirect(session.submit_form(f"{person}/edit", **typed)).text
    shown = "08:00\N{EN DASH}12:00, 13:00\N{EN DASH}15:30, 22:00\N{EN DASH}06:00"
    assert f"Working hours Monday: {shown}" in visible_text(page)
    kept = cast.perform(get_person, personId=mia)["workingHours"]
    day, night = {"from": "13:00", "until": "15:30"}, {"from": "22:00", "until": "06:00"}
    assert kept["monday"] == [{"from": "08:00", "until": "12:00"}, day, night]
    assert kept["tuesday"] == []
    assert 'value="08:00-12:00, 13:00-15:30, 22:00-06:00"' in session.get(f"{person}/edit").text
    # With no day filled in they are the usual ones, not none.
    assert session.submit_form(f"{person}/edit", **DETAILS).status_code == 303
    assert cast.perform(get_person, personId=mia)["workingHours"] is None


def test_a_change_on_an_old_page_is_refused(server: RunningServer, cast: Cast) -> None:
    person = person_path(cast)
    session = sign_in_new_person(server, cast)
    page = session.get(f"{person}/edit").text
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="0123")
    answer = session.submit_page(page, f"{person}/edit", **DETAILS)
    assert answer.status_code == 409
    assert "Someone else changed this after you opened it" in answer.text
    assert 'value="Mia Moved"' in answer.text
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["phone"] == "0123"
    # After the warning, it can be saved.
    assert session.submit_page(answer.text, f"{person}/edit", **DETAILS).status_code == 303


def test_a_form_that_was_only_filled_in_wrong_does_not_learn_of_another_version(
    server: RunningServer, cast: Cast
) -> None:
    person = person_path(cast)
    session = sign_in_new_person(server, cast)
    page = session.get(f"{person}/edit").text
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="0123")
    wrong = session.submit_page(page, f"{person}/edit", **DETAILS | {"name": ""})
    assert wrong.status_code == 422
    assert session.submit_page(wrong.text, f"{person}/edit", **DETAILS).status_code == 409


def test_a_removal_on_an_old_page_is_refused(server: RunningServer, cast: Cast) -> None:
    person = person_path(cast)
    session = sign_in_new_person(server, cast)
    page = session.get(f"{person}/remove").text
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="0123")
    answer = session.submit_page(page, f"{person}/remove", confirmed="yes")
    assert answer.status_code == 409
    assert f'href="{person}"' in answer.text
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "active"


@pytest.mark.engines("sqlite")
def test_what_is_wrong_within_a_list_is_said_beside_it(server: RunningServer, cast: Cast) -> None:
    answer = sign_in_new_person(server, cast).submit_form(
        f"{person_path(cast)}/edit", **DETAILS, skills="gas, " + "x" * 300
    )
    assert answer.status_code == 422
    assert 'id="skills-fault"' in answer.text
    assert 'href="#skills"' in answer.text


def test_another_role_is_given_only_after_what_would_happen_was_shown(server: RunningServer, cast: Cast) -> None:
    cast.make_key(role=Role.ADMIN)
    person = person_path(cast, Role.ADMIN)
    session = sign_in_new_person(server, cast)
    form_page = session.get(f"{person}/change-role").text
    assert '<option value="admin" selected>' in form_page
    assert '<option value="owner"' not in form_page
    shown = session.submit_page(form_page, f"{person}/change-role", role="office")
    page = visible_text(shown.text)
    assert "Nothing has changed yet." in page
    assert "Adam Admin's role will be office instead of admin." in page
    assert "API keys created by Adam Admin will stop working for good: admin write." in page
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["role"] == "admin"
    # What was chosen goes with the confirmation.
    assert '<input type="hidden" name="role" value="office">' in shown.text
    answer = session.submit_page(shown.text, f"{person}/change-role", role="office", confirmed="yes")
    assert answer.headers["Location"] == f"{person}?done=change_role"
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["role"] == "office"


def test_of_an_owner_the_next_role_is_still_to_be_chosen(server: RunningServer, cast: Cast) -> None:
    cast.perform(name_owner, personId=cast.people[Role.MEMBER])
    form_page = sign_in_new_person(server, cast).get(f"{person_path(cast)}/change-role").text
    assert '<option value="owner"' not in form_page
    assert '<option value="">Choose…</option>' in form_page
    assert " selected>" not in form_page


def test_an_owner_is_named_after_it_was_said_what_that_means(server: RunningServer, cast: Cast) -> None:
    heir = person_path(cast)
    session = sign_in_new_person(server, cast)
    # A link to the question, and no button that does it at once.
    assert f'href="{heir}/name-owner"' in session.get(heir).text
    assert f'action="{heir}/name-owner"' not in session.get(heir).text
    assert "Owners can do everything" in session.get(f"{heir}/name-owner").text
    named = session.submit_form(f"{heir}/name-owner")
    assert named.headers["Location"] == f"{heir}?done=name_owner"
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["role"] == "owner"
    assert "name-owner" not in session.get(heir).text


def test_an_admin_names_no_owner_and_changes_none(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.ADMIN)
    member, owner = person_path(cast), person_path(cast, Role.OWNER)
    assert "name-owner" not in session.get(member).text
    assert session.submit_page(session.get(member).text, f"{member}/name-owner").status_code == 403
    page = session.get(owner).text
    assert list_actions(page, owner) == {"notes"}
    answer = session.submit_page(page, f"{owner}/edit", **DETAILS)
    assert answer.status_code == 403
    assert "Only an owner can change or remove an owner." in answer.text


def test_removing_shows_what_would_happen_and_then_does_it(server: RunningServer, cast: Cast) -> None:
    person = person_path(cast, Role.ADMIN)
    cast.make_key(role=Role.ADMIN)
    session = sign_in_new_person(server, cast)
    page = session.get(f"{person}/remove").text
    assert "Nothing has changed yet." in page
    assert "Adam Admin (admin) will be removed from the organisation." in visible_text(page)
    assert "API keys created by Adam Admin will stop working for good: admin write." in visible_text(page)
    # Without the confirmation it is only shown once more.
    assert "Nothing has changed yet." in session.submit_page(page, f"{person}/remove").text
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"] == "active"
    answer = session.submit_page(page, f"{person}/remove", confirmed="yes")
    assert answer.headers["Location"] == f"{person}?done=remove_person"
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"] == "left"
    page = session.get(answer.headers["Location"]).text
    assert "Adam Admin removed. Their access has ended." in visible_text(page)
    assert list_actions(page, person) == {"notes"}


def test_what_stands_against_removing_is_shown_without_a_button(server: RunningServer, cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    page = sign_in_new_person(server, cast).get(f"{person_path(cast)}/remove").text
    assert "Mia Member has already left the organisation." in page
    assert 'name="confirmed"' not in page


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_others_see_people_but_nothing_to_do_with_them(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    assert "/people/invite" not in find_links(session.get("/people").text)
    person = person_path(cast, Role.ADMIN)
    page = session.get(person).text
    assert list_actions(page, person) == {"notes"}
    assert session.get("/people/invite").status_code == 403
    assert session.submit_page(page, "/people/invite", **DETAILS, role="member").status_code == 403
    assert session.get(f"{person}/remove").status_code == 403
    assert session.submit_page(page, f"{person}/edit", phone="0123").status_code == 403


def test_a_colour_is_picked_from_swatches_and_any_other_stays(server: RunningServer, cast: Cast) -> None:
    session, person = sign_in_new_person(server, cast), cast.people[Role.MEMBER]
    path = f"/people/{person}/edit"

    def swatches() -> tuple[list[str], str]:
        page = session.get(path).text
        assert 'type="color"' not in page
        found = re.findall(r'<input type="radio" name="colour" value="([^"]*)"( checked)?>', page)
        return [value for value, _ in found], next(value for value, checked in found if checked)

    offered, chosen = swatches()
    assert (offered, chosen) == (["", *COLOURS], "")
    page = session.get(path).text
    assert all(f'fill="{code}"' in page and name in visible_text(page) for code, name in COLOURS.items())
    assert session.post(path, read_form(page) | {"colour": "#8a3ffc"}).status_code == 303
    assert "Colour Purple" in visible_text(session.get(f"/people/{person}").text)
    # Programs may choose any colour; on the form it is one more swatch.
    cast.perform(update_person, personId=person, colour="#123456")
    assert swatches() == (["", "#123456", *COLOURS], "#123456")
    page = session.get(path).text
    assert session.post(path, read_form(page) | {"phone": "5"}).status_code == 303
    assert cast.perform(get_person, personId=person)["colour"] == "#123456"
    assert session.post(path, read_form(session.get(path).text) | {"colour": ""}).status_code == 303
    assert cast.perform(get_person, personId=person)["colour"] is None


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_everyone_changes_their_own_phone_and_colour_and_no_more(server: RunningServer, cast: Cast, role: Role) -> None:
    session = sign_in_new_person(server, cast, role)
    own = next(link for link in find_links(session.get("/people").text) if re.fullmatch(r"/people/\w+/edit", link))
    page = session.get(own).text
    assert set(re.findall(r'<(?:input|select|textarea|fieldset) id="(\w+)"', page.partition("<main")[2])) == {
        "phone",
        "colour",
    }
    # What the form does not ask for is not taken from it.
    assert session.submit_page(page, own, phone="0123", name="Boss", costRate="1").status_code == 303
    kept = cast.perform(get_person, personId=own.split("/")[2])
    assert (kept["phone"], kept["name"], kept["costRate"]) == ("0123", "Sara Someone", None)


def test_a_subcontractor_has_no_area_for_people(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast, Role.SUBCONTRACTOR)
    assert "/people" not in find_links(session.get("/").text)
    assert session.get("/people").status_code == 403


def test_a_person_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    foreign, unknown = person_path(other_cast), f"/people/{new_id('person')}"
    for path in (foreign, unknown, f"{foreign}/remove", f"{foreign}/edit"):
        page = session.get(path)
        assert page.status_code == 404
        assert 'aria-label="Areas"' in page.text, "the frame is lost"
    home = session.get("/").text
    assert session.submit_page(home, f"{foreign}/edit", **DETAILS).status_code == 404
    assert session.submit_page(home, f"{foreign}/remove", confirmed="yes").status_code == 404


def test_what_nobody_can_do_here_is_not_there(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    for path in (f"{person_path(cast)}/fly", f"{person_path(cast)}/get", f"{person_path(cast)}/accept-invitation"):
        assert session.get(path).status_code == 404
        assert session.submit_page(session.get("/").text, path).status_code == 404


def test_times_are_shown_where_the_organisation_is(server: RunningServer, cast: Cast) -> None:
    session = sign_in_new_person(server, cast)
    fields = {"name": "Far Away", "country": "NZ", "currency": "NZD", "timeZone": "Pacific/Kiritimati"}
    assert session.submit_form("/settings/edit", **fields).status_code == 303
    person = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    hour = (int(person["createdAt"][11:13]) + 14) % 24
    assert f", {hour:02}:{person['createdAt'][14:16]}" in session.get(person_path(cast)).text
