import re

import pytest

from cast import Cast
from mainstay.business.people.operations import get_person, invite_person, list_people, update_person
from mainstay.kernel.rights import Role
from mainstay.values.ids import new_id
from running import RunningServer
from visiting import visit, words

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def new_address() -> str:
    return f"{new_id('n').lower()}@new.example"


def test_people_are_listed_with_role_and_status(server: RunningServer, cast: Cast) -> None:
    cast.perform(invite_person, name="Nina New", email=new_address(), role="office")
    visiting = visit(server, cast)
    page = words(visiting.get("/people").text)
    for name, role in (("Olivia Owner", "Owner"), ("Mia Member", "Member"), ("Nina New", "Office")):
        assert re.search(rf"{name} \S+@\S+ {role}", page), page
    assert "Nina New" in visiting.get("/people?status=invited").text
    assert "Mia Member" not in visiting.get("/people?status=invited").text
    assert "Nobody has left." in visiting.get("/people?status=left").text


def test_a_filter_that_does_not_exist_is_refused(server: RunningServer, cast: Cast) -> None:
    assert visit(server, cast).get("/people?status=asleep").status_code == 422


def test_a_long_list_goes_on_behind_its_last_person(server: RunningServer, cast: Cast) -> None:
    for number in range(26):
        cast.perform(invite_person, name=f"Number {number:02}", email=new_address(), role="member")
    visiting = visit(server, cast)
    first = visiting.get("/people?status=invited").text
    assert "Number 25" in first
    assert "Number 00" not in first
    onward = re.search(r'href="(/people\?startingAfter=[^"]+)"', first)
    assert onward
    second = visiting.get(onward[1].replace("&amp;", "&")).text
    assert "Number 00" in second
    assert "Number 25" not in second


def test_someone_is_invited(server: RunningServer, cast: Cast) -> None:
    email = new_address()
    answer = visit(server, cast, Role.ADMIN).submit(
        "/people/invite", name="Nina New", email=email, role="subcontractor", companyName="New & Daughters"
    )
    assert answer.headers["Location"] == "/people?done=invited"
    person = cast.perform(list_people, status="invited")["data"][0]
    assert (person["email"], person["role"], person["companyName"]) == (email, "subcontractor", "New & Daughters")
    assert person["phone"] is None
    assert person["createdBy"]["via"] == {"door": "office", "client": None}


def test_what_is_wrong_is_said_beside_the_fields_and_nothing_typed_is_lost(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit("/people/invite", name="", email="nope", role="owner", phone="0123")
    assert answer.status_code == 422
    page = words(answer.text)
    for said in (
        "Name is empty.",
        "E-mail address is not an e-mail address such as kim@example.com.",
        "Role is not one of",
    ):
        assert said in page
    assert 'value="nope"' in answer.text
    assert 'value="0123"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 3


def test_a_refusal_of_the_whole_is_said_above_the_form(server: RunningServer, cast: Cast) -> None:
    answer = visit(server, cast).submit("/people/invite", name="Mia", email="mia@cast.example", role="member")
    assert answer.status_code == 409
    assert "is already a person of this organisation" in words(answer.text)


def details(person: str) -> str:
    return f"/people/{person}"


def test_a_person_is_changed(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    answer = visit(server, cast).submit(
        details(person),
        name="Mia Moved",
        email="mia@cast.example",
        role="office",
        skills="gas, , roofing",
        billRate="85.50",
    )
    assert answer.headers["Location"] == f"{details(person)}?done=saved"
    changed = cast.perform(get_person, personId=person)
    assert (changed["name"], changed["role"], changed["skills"]) == ("Mia Moved", "office", ["gas", "roofing"])
    assert (changed["billRate"], changed["costRate"]) == ("85.50", None)


def test_a_change_on_an_old_page_is_refused(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    visiting = visit(server, cast)
    page = visiting.get(details(person)).text
    cast.perform(update_person, personId=person, phone="0123")
    answer = visiting.answer(page, details(person), name="Mia", email="mia@cast.example", role="member")
    assert "Someone has changed this since you opened it" in answer.text
    assert cast.perform(get_person, personId=person)["phone"] == "0123"
    # Whoever has been told may save.
    again = visiting.answer(answer.text, details(person), name="Mia", email="mia@cast.example", role="member")
    assert again.status_code == 303


def test_a_form_that_was_only_filled_in_wrong_does_not_learn_of_another_version(
    server: RunningServer, cast: Cast
) -> None:
    person = cast.people[Role.MEMBER]
    visiting = visit(server, cast)
    page = visiting.get(details(person)).text
    cast.perform(update_person, personId=person, phone="0123")
    wrong = visiting.answer(page, details(person), name="", email="mia@cast.example", role="member")
    assert wrong.status_code == 422
    answer = visiting.answer(wrong.text, details(person), name="Mia", email="mia@cast.example", role="member")
    assert answer.status_code == 409


def test_a_removal_on_an_old_page_leads_back_to_the_person(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.MEMBER]
    visiting = visit(server, cast)
    page = visiting.get(f"{details(person)}/remove").text
    cast.perform(update_person, personId=person, phone="0123")
    answer = visiting.answer(page, f"{details(person)}/remove")
    assert answer.status_code == 409
    assert f'href="{details(person)}"' in answer.text
    assert cast.perform(get_person, personId=person)["status"] == "active"


def test_an_admin_is_shown_an_owner_without_a_form(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.ADMIN)
    page = visiting.get(details(cast.people[Role.OWNER])).text
    assert "Only an owner can change or remove an owner." in page
    assert 'name="costRate"' not in page
    assert "/remove" not in page
    assert 'name="costRate"' in visiting.get(details(cast.people[Role.MEMBER])).text


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_the_form_for_invitations_is_for_those_who_may_invite(server: RunningServer, cast: Cast, role: Role) -> None:
    assert visit(server, cast, role).get("/people/invite").status_code == 403


def test_what_is_wrong_within_a_list_is_said_beside_it(server: RunningServer, cast: Cast) -> None:
    given = {"name": "N", "email": "n@cast.example", "role": "member", "skills": "gas, " + "x" * 300}
    answer = visit(server, cast).submit(details(cast.people[Role.MEMBER]), **given)
    assert answer.status_code == 422
    assert 'id="skills-fault"' in answer.text


def test_an_owner_stays_owner_until_another_role_is_chosen(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.OWNER]
    visiting = visit(server, cast)
    assert '<option value="owner" selected>' in visiting.get(details(person)).text
    answer = visiting.submit(details(person), name="Olivia", email="olivia@cast.example", role="owner")
    assert answer.status_code == 303
    assert cast.perform(get_person, personId=person)["role"] == "owner"


def test_an_owner_is_named_and_another_steps_down(server: RunningServer, cast: Cast) -> None:
    owner, heir = cast.people[Role.OWNER], cast.people[Role.MEMBER]
    visiting = visit(server, cast)
    assert '<option value="owner"' not in visiting.get(details(heir)).text

    named = visiting.submit(details(heir), f"{details(heir)}/name-owner")
    assert named.headers["Location"] == f"{details(heir)}?done=owner"
    assert cast.perform(get_person, personId=heir)["role"] == "owner"
    assert "Make Mia Member an owner" not in visiting.get(details(heir)).text

    answer = visiting.submit(details(owner), name="Olivia", email="olivia@cast.example", role="office")
    assert answer.status_code == 303
    assert cast.perform(get_person, Role.ADMIN, personId=owner)["role"] == "office"


def test_an_admin_names_no_owner(server: RunningServer, cast: Cast) -> None:
    person = details(cast.people[Role.MEMBER])
    visiting = visit(server, cast, Role.ADMIN)
    assert "an owner" not in visiting.get(person).text
    assert visiting.submit(person, f"{person}/name-owner").status_code == 403


def test_an_admin_does_not_change_an_owner(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.OWNER]
    fields = {"name": "Mine", "email": "olivia@cast.example", "role": "owner"}
    answer = visit(server, cast, Role.ADMIN).submit(details(person), **fields)
    assert answer.status_code == 403
    assert "Only an owner may change or remove an owner." in answer.text


def test_removing_shows_what_would_happen_and_then_does_it(server: RunningServer, cast: Cast) -> None:
    person = cast.people[Role.ADMIN]
    cast.key(role=Role.ADMIN)
    visiting = visit(server, cast)
    page = visiting.get(f"{details(person)}/remove").text
    assert "Nothing has happened yet." in page
    assert "API keys made by Adam Admin that stop working for good: 1." in words(page)
    assert cast.perform(get_person, personId=person)["status"] == "active"
    answer = visiting.submit(f"{details(person)}/remove")
    assert answer.headers["Location"] == "/people?done=removed"
    assert cast.perform(get_person, personId=person)["status"] == "left"
    assert "has left the organisation" in visiting.get(details(person)).text


def test_what_stands_against_removing_is_shown_without_a_button(server: RunningServer, cast: Cast) -> None:
    # The visitor is an owner too, so the blocker is met by one who has left already.
    person = cast.people[Role.MEMBER]
    visiting = visit(server, cast)
    visiting.submit(f"{details(person)}/remove")
    page = visiting.get(f"{details(person)}/remove").text
    assert "Mia Member has already left the organisation." in page
    assert '<button class="danger"' not in page


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_others_see_people_but_no_buttons_and_no_forms(server: RunningServer, cast: Cast, role: Role) -> None:
    visiting = visit(server, cast, role)
    assert "Invite someone" not in visiting.get("/people").text
    page = visiting.get(details(cast.people[Role.ADMIN])).text
    assert "Save" not in page
    assert "Remove Adam Admin" not in page
    assert visiting.submit("/", "/people/invite", name="N", email=new_address(), role="member").status_code == 403
    assert visiting.get(f"{details(cast.people[Role.ADMIN])}/remove").status_code == 403


def test_a_subcontractor_has_no_area_for_people(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast, Role.SUBCONTRACTOR)
    assert 'href="/people"' not in visiting.get("/").text
    assert visiting.get("/people").status_code == 403


def test_a_person_of_another_organisation_is_not_there(server: RunningServer, cast: Cast, stranger: Cast) -> None:
    visiting = visit(server, cast)
    foreign = details(stranger.people[Role.MEMBER])
    unknown = details(new_id("person"))
    assert [visiting.get(path).status_code for path in (foreign, unknown, f"{foreign}/remove")] == [404, 404, 404]


def test_times_are_shown_where_the_organisation_is(server: RunningServer, cast: Cast) -> None:
    visiting = visit(server, cast)
    fields = {"name": "Far Away", "country": "NZ", "currency": "NZD", "timeZone": "Pacific/Kiritimati"}
    assert visiting.submit("/settings", **fields).status_code == 303
    person = cast.perform(get_person, personId=cast.people[Role.MEMBER])
    hour = (int(person["createdAt"][11:13]) + 14) % 24
    assert f", {hour:02}:{person['createdAt'][14:16]}" in visiting.get(details(person["id"])).text


def test_prices_and_colours_are_taken_as_people_write_them(server: RunningServer, cast: Cast) -> None:
    mia = cast.people[Role.MEMBER]
    fields = {"name": "Mia", "email": "mia@cast.example", "role": "member", "costRate": "1 250"}
    visiting = visit(server, cast)
    sent = fields | {"billRate": "12,50", "colour": "#3366CC"}
    assert visiting.submit(f"/people/{mia}", **sent).status_code == 303
    kept = cast.perform(get_person, personId=mia)
    assert (kept["costRate"], kept["billRate"], kept["colour"]) == ("1250.00", "12.50", "#3366cc")

    # A thousand to some, a little more than one to others: nothing is guessed, and what was typed stays.
    wrong = visiting.submit(f"/people/{mia}", **fields | {"costRate": "1,250"})
    assert wrong.status_code == 422
    assert "Cost per hour is not a decimal such as 85.50" in words(wrong.text)
    assert 'value="1,250"' in wrong.text
