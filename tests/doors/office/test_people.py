import re
from html import unescape

import pytest

from cast import Cast
from filling import as_opened
from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.business.people.standing import name_owner, remove_person
from mainstay.terms.rights import Role
from mainstay.values.colours import COLOURS
from mainstay.values.ids import new_id
from running import RunningServer
from visiting import visit, words

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

DETAILS = {"name": "Mia Moved", "email": "mia@cast.example"}


def doings(page: str, person: str) -> set[str]:
    """What a page offers to do with a person, by the end of its address."""
    return set(re.findall(rf"{person}/([\w-]+)", page))


def new_address() -> str:
    return f"{new_id('n').lower()}@new.example"


def person_at(cast: Cast, role: Role = Role.MEMBER) -> str:
    return f"/people/{cast.people[role]}"


def links(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', page)]


def test_people_are_listed_with_role_and_status(server: RunningServer, cast: Cast) -> None:
    cast.perform(invite_person, name="Nina New", email=new_address(), role="office")
    visiting = visit(server, cast)
    page = words(visiting.get("/people").text)
    for name, role, state in (("Olivia Owner", "Owner", "Active"), ("Nina New", "Office", "Invited")):
        assert re.search(rf"{name} {role} · \S+@\S+ {state}", page), page
    assert page.index("Adam Admin") < page.index("Mia Member") < page.index("Olivia Owner"), "not by name"
    assert "Nina New" in visiting.get("/people?status=invited").text
    assert "Mia Member" not in visiting.get("/people?status=invited").text
    assert "None of these." in visiting.get("/people?status=left").text


def test_someone_is_invited(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    visiting = visit(server, cast, Role.ADMIN)
    answer = visiting.submit(
        "/people/invite", name="Nina New", email=email, role="subcontractor", companyName="New & Daughters"
    )
    (person,) = cast.perform(list_people, status="invited")["data"]
    assert answer.headers["Location"] == f"/people/{person['id']}?done=invite_person"
    assert "The invitation is on its way by mail." in visiting.get(answer.headers["Location"]).text
    assert (person["email"], person["role"], person["companyName"]) == (email, "subcontractor", "New & Daughters")
    assert (person["phone"], person["skills"]) == (None, [])
    assert person["createdBy"]["via"] == {"door": "office", "client": None}


def test_what_must_be_chosen_is_not_chosen_for_anyone(server: RunningServer, cast: Cast) -> None:
    page = visit(server, cast).get("/people/invite").text
    assert re.search(r'<select id="role" name="role" required[^>]*>\s*<option value="">Choose', page)
    assert " selected" not in page


def test_what_is_wrong_is_said_beside_the_fields_and_nothing_typed_is_lost(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit("/people/invite", name="", email="nope", role="owner", phone="0123")
    assert answer.status_code == 422
    told = ("Name is empty.", "E-mail address is not an e-mail address such as kim@example.com.", "Role is not one of")
    for said, field in zip(told, ("name", "email", "role"), strict=True):
        # Beside the field, and above the form with the way to it.
        assert words(answer.text).count(said) == 2
        assert f'href="#{field}"' in answer.text
    assert 'value="nope"' in answer.text
    assert 'value="0123"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 3
    (first,) = re.findall(r"<input[^>]* autofocus[^>]*>", answer.text)
    assert 'id="name"' in first


def test_a_refusal_of_the_whole_is_said_above_the_form(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit("/people/invite", name="Mia", email="mia@cast.example", role="member")
    assert answer.status_code == 409
    assert "is already a person of this organisation" in words(answer.text)


def test_a_person_is_changed(server: RunningServer, cast: Cast) -> None:
    person = person_at(cast)
    visiting = visit(server, cast)
    answer = visiting.submit(f"{person}/edit", skills="gas, , roofing", billRate="85.50", **DETAILS)
    assert answer.headers["Location"] == f"{person}?done=update_person"
    changed = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    assert (changed["name"], changed["role"], changed["skills"]) == ("Mia Moved", "member", ["gas", "roofing"])
    assert (changed["billRate"], changed["costRate"]) == ("85.50", None)
    page = words(visiting.get(answer.headers["Location"]).text)
    assert "Your changes are saved." in page
    assert "Skills gas, roofing Billed per hour 85.50" in page
    assert "Cost per hour" not in page, "there is nothing to tell"


def test_someone_s_own_working_hours_are_filled_in_and_cleared(server: RunningServer, cast: Cast) -> None:
    person, mia = person_at(cast), cast.people[Role.MEMBER]
    visiting = visit(server, cast, Role.ADMIN)
    assert "When they work, if not at the usual times." in words(visiting.get(f"{person}/edit").text)
    typed = DETAILS | {"workingHours.monday": "8-12, 13-15.30, 22-6"}
    page = visiting.follow(visiting.submit(f"{person}/edit", **typed)).text
    shown = "08:00\N{EN DASH}12:00, 13:00\N{EN DASH}15:30, 22:00\N{EN DASH}06:00"
    assert f"Working hours Monday: {shown}" in words(page)
    kept = cast.perform(get_person, personId=mia)["workingHours"]
    day, night = {"from": "13:00", "until": "15:30"}, {"from": "22:00", "until": "06:00"}
    assert kept["monday"] == [{"from": "08:00", "until": "12:00"}, day, night]
    assert kept["tuesday"] == []
    assert 'value="08:00-12:00, 13:00-15:30, 22:00-06:00"' in visiting.get(f"{person}/edit").text
    # With no day filled in they are the usual ones, not none.
    assert visiting.submit(f"{person}/edit", **DETAILS).status_code == 303
    assert cast.perform(get_person, personId=mia)["workingHours"] is None


def test_a_change_on_an_old_page_is_refused(server: RunningServer, cast: Cast) -> None:
    person = person_at(cast)
    visiting = visit(server, cast)
    page = visiting.get(f"{person}/edit").text
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="0123")
    answer = visiting.answer(page, f"{person}/edit", **DETAILS)
    assert answer.status_code == 409
    assert "Someone has changed this since you opened it" in answer.text
    assert 'value="Mia Moved"' in answer.text
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["phone"] == "0123"
    # Whoever has been told may save.
    assert visiting.answer(answer.text, f"{person}/edit", **DETAILS).status_code == 303


def test_a_form_that_was_only_filled_in_wrong_does_not_learn_of_another_version(
    server: RunningServer, cast: Cast
) -> None:
    person = person_at(cast)
    visiting = visit(server, cast)
    page = visiting.get(f"{person}/edit").text
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="0123")
    wrong = visiting.answer(page, f"{person}/edit", **DETAILS | {"name": ""})
    assert wrong.status_code == 422
    assert visiting.answer(wrong.text, f"{person}/edit", **DETAILS).status_code == 409


def test_a_removal_on_an_old_page_is_refused(server: RunningServer, cast: Cast) -> None:
    person = person_at(cast)
    visiting = visit(server, cast)
    page = visiting.get(f"{person}/remove").text
    cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="0123")
    answer = visiting.answer(page, f"{person}/remove", confirmed="yes")
    assert answer.status_code == 409
    assert f'href="{person}"' in answer.text
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["status"] == "active"


def test_what_is_wrong_within_a_list_is_said_beside_it(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit(f"{person_at(cast)}/edit", **DETAILS, skills="gas, " + "x" * 300)
    assert answer.status_code == 422
    assert 'id="skills-fault"' in answer.text
    assert 'href="#skills"' in answer.text


def test_another_role_is_given_only_after_what_would_happen_was_shown(server: RunningServer, cast: Cast) -> None:
    cast.key(role=Role.ADMIN)
    person = person_at(cast, Role.ADMIN)
    visiting = visit(server, cast)
    asked = visiting.get(f"{person}/change-role").text
    assert '<option value="admin" selected>' in asked
    assert '<option value="owner"' not in asked
    shown = visiting.answer(asked, f"{person}/change-role", role="office")
    page = words(shown.text)
    assert "Nothing has happened yet." in page
    assert "Adam Admin becomes office instead of admin." in page
    assert "API keys made by Adam Admin that stop working for good: admin write." in page
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["role"] == "admin"
    # What was chosen goes with the confirmation.
    assert '<input type="hidden" name="role" value="office">' in shown.text
    answer = visiting.answer(shown.text, f"{person}/change-role", role="office", confirmed="yes")
    assert answer.headers["Location"] == f"{person}?done=change_role"
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["role"] == "office"


def test_of_an_owner_the_next_role_is_still_to_be_chosen(server: RunningServer, cast: Cast) -> None:
    cast.perform(name_owner, personId=cast.people[Role.MEMBER])
    asked = visit(server, cast).get(f"{person_at(cast)}/change-role").text
    assert '<option value="owner"' not in asked
    assert '<option value="">Choose …</option>' in asked
    assert " selected>" not in asked


def test_an_owner_is_named_after_it_was_said_what_that_means(server: RunningServer, cast: Cast) -> None:
    heir = person_at(cast)
    visiting = visit(server, cast)
    # A link to the question, and no button that does it at once.
    assert f'href="{heir}/name-owner"' in visiting.get(heir).text
    assert f'action="{heir}/name-owner"' not in visiting.get(heir).text
    assert "An owner may do everything" in visiting.get(f"{heir}/name-owner").text
    named = visiting.submit(f"{heir}/name-owner")
    assert named.headers["Location"] == f"{heir}?done=name_owner"
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["role"] == "owner"
    assert "name-owner" not in visiting.get(heir).text


def test_an_admin_names_no_owner_and_changes_none(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.ADMIN)
    member, owner = person_at(cast), person_at(cast, Role.OWNER)
    assert "name-owner" not in visiting.get(member).text
    assert visiting.answer(visiting.get(member).text, f"{member}/name-owner").status_code == 403
    page = visiting.get(owner).text
    assert doings(page, owner) == {"notes"}
    answer = visiting.answer(page, f"{owner}/edit", **DETAILS)
    assert answer.status_code == 403
    assert "Only an owner may change or remove an owner." in answer.text


def test_removing_shows_what_would_happen_and_then_does_it(server: RunningServer, cast: Cast) -> None:
    person = person_at(cast, Role.ADMIN)
    cast.key(role=Role.ADMIN)
    visiting = visit(server, cast)
    page = visiting.get(f"{person}/remove").text
    assert "Nothing has happened yet." in page
    assert "Adam Admin (admin) leaves the organisation." in words(page)
    assert "API keys made by Adam Admin that stop working for good: admin write." in words(page)
    # Without the confirmation it is only shown once more.
    assert "Nothing has happened yet." in visiting.answer(page, f"{person}/remove").text
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"] == "active"
    answer = visiting.answer(page, f"{person}/remove", confirmed="yes")
    assert answer.headers["Location"] == f"{person}?done=remove_person"
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["status"] == "left"
    page = visiting.get(answer.headers["Location"]).text
    assert "The person has left the organisation." in page
    assert doings(page, person) == {"notes"}


def test_what_stands_against_removing_is_shown_without_a_button(server: RunningServer, cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    page = visit(server, cast).get(f"{person_at(cast)}/remove").text
    assert "Mia Member has already left the organisation." in page
    assert 'name="confirmed"' not in page


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_others_see_people_but_nothing_to_do_with_them(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    assert "/people/invite" not in links(visiting.get("/people").text)
    person = person_at(cast, Role.ADMIN)
    page = visiting.get(person).text
    assert doings(page, person) == {"notes"}
    assert visiting.get("/people/invite").status_code == 403
    assert visiting.answer(page, "/people/invite", **DETAILS, role="member").status_code == 403
    assert visiting.get(f"{person}/remove").status_code == 403
    assert visiting.answer(page, f"{person}/edit", phone="0123").status_code == 403


def test_a_colour_is_picked_from_swatches_and_any_other_stays(server: RunningServer, cast: Cast) -> None:
    visiting, person = visit(server, cast), cast.people[Role.MEMBER]
    path = f"/people/{person}/edit"

    def swatches() -> tuple[list[str], str]:
        page = visiting.get(path).text
        assert 'type="color"' not in page
        found = re.findall(r'<input type="radio" name="colour" value="([^"]*)"( checked)?>', page)
        return [value for value, _ in found], next(value for value, checked in found if checked)

    offered, chosen = swatches()
    assert (offered, chosen) == (["", *COLOURS], "")
    page = visiting.get(path).text
    assert all(f'fill="{code}"' in page and name in words(page) for code, name in COLOURS.items())
    assert visiting.post(path, as_opened(page) | {"colour": "#8a3ffc"}).status_code == 303
    assert "Colour Purple" in words(visiting.get(f"/people/{person}").text)
    # Programs may choose any colour; on the form it is one more swatch.
    cast.perform(update_person, personId=person, colour="#123456")
    assert swatches() == (["", "#123456", *COLOURS], "#123456")
    page = visiting.get(path).text
    assert visiting.post(path, as_opened(page) | {"phone": "5"}).status_code == 303
    assert cast.perform(get_person, personId=person)["colour"] == "#123456"
    assert visiting.post(path, as_opened(visiting.get(path).text) | {"colour": ""}).status_code == 303
    assert cast.perform(get_person, personId=person)["colour"] is None


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_everyone_changes_their_own_phone_and_colour_and_no_more(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    own = next(link for link in links(visiting.get("/people").text) if re.fullmatch(r"/people/\w+/edit", link))
    page = visiting.get(own).text
    assert set(re.findall(r'<(?:input|select|textarea|fieldset) id="(\w+)"', page.partition("<main")[2])) == {
        "phone",
        "colour",
    }
    # What the form does not ask for is not taken from it.
    assert visiting.answer(page, own, phone="0123", name="Boss", costRate="1").status_code == 303
    kept = cast.perform(get_person, personId=own.split("/")[2])
    assert (kept["phone"], kept["name"], kept["costRate"]) == ("0123", "Sara Someone", None)


def test_a_subcontractor_has_no_area_for_people(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.SUBCONTRACTOR)
    assert "/people" not in links(visiting.get("/").text)
    assert visiting.get("/people").status_code == 403


def test_a_person_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    visiting = visit(server, cast)
    foreign, unknown = person_at(stranger), f"/people/{new_id('person')}"
    for path in (foreign, unknown, f"{foreign}/remove", f"{foreign}/edit"):
        page = visiting.get(path)
        assert page.status_code == 404
        assert 'aria-label="Areas"' in page.text, "the frame is lost"
    home = visiting.get("/").text
    assert visiting.answer(home, f"{foreign}/edit", **DETAILS).status_code == 404
    assert visiting.answer(home, f"{foreign}/remove", confirmed="yes").status_code == 404


def test_what_nobody_can_do_here_is_not_there(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    for path in (f"{person_at(cast)}/fly", f"{person_at(cast)}/get", f"{person_at(cast)}/accept-invitation"):
        assert visiting.get(path).status_code == 404
        assert visiting.answer(visiting.get("/").text, path).status_code == 404


def test_times_are_shown_where_the_organisation_is(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    fields = {"name": "Far Away", "country": "NZ", "currency": "NZD", "timeZone": "Pacific/Kiritimati"}
    assert visiting.submit("/settings/edit", **fields).status_code == 303
    person = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    hour = (int(person["createdAt"][11:13]) + 14) % 24
    assert f", {hour:02}:{person['createdAt'][14:16]}" in visiting.get(person_at(cast)).text
