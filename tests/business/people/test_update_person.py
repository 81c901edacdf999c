import re
from dataclasses import replace

import pytest

from mainstay.business.people.invitations import add_person
from mainstay.business.people.operations import get_person, invite_person, update_person
from mainstay.business.people.roles import change_role, remove_person
from mainstay.kernel.context import RequestDetails
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from support.cast import EMAILS, PASSWORD, Cast
from support.recorded_statements import RecordingDatabase
from support.stored_state import actor_with_key, list_events_of, read_last_event, read_trail, to_event_record
from support.working_days import DAYS

MORNINGS = [{"from": "08:00", "until": "12:30"}]
EVERY_FIELD: dict[str, object] = {
    "name": "Mia Miller",
    "email": "Mia@Miller.example",
    "phone": "1",
    "skills": ["gas"],
    "colour": "#00ff00",
    "workingHours": {day: MORNINGS if day < "s" else [] for day in DAYS},
    "companyName": "Miller",
    "costRate": "32.50",
    "billRate": "85.00",
}
MAY_BE_EMPTY = ("phone", "colour", "workingHours", "companyName", "costRate", "billRate")
MUST_BE_THERE = {
    "name": "is not text",
    "email": "is not text",
    "skills": "is not a list",
}


def test_every_field_can_be_changed(cast: Cast) -> None:
    changed = cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD)
    assert {name: changed[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert to_event_record(cast.perform(get_person, personId=cast.people[Role.MEMBER])) == to_event_record(changed)


def test_what_is_left_out_stays(cast: Cast) -> None:
    before = cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD)
    after = cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="2")
    changed = {name for name in before if before[name] != after[name]}
    assert changed - {"updatedAt", "updatedBy"} == {"phone", "version"}


@pytest.mark.parametrize("name", MAY_BE_EMPTY)
def test_null_clears(cast: Cast, name: str) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD)
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER], **{name: None})[name] is None


@pytest.mark.parametrize("name", MUST_BE_THERE)
def test_what_must_be_there_cannot_be_cleared(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        cast.perform(update_person, personId=cast.people[Role.MEMBER], **{name: None})
    assert refusal.value.text == f"{name}: {MUST_BE_THERE[name]}"


def test_days_that_are_not_sent_are_as_usual_at_first(cast: Cast) -> None:
    changed = cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours={"monday": MORNINGS})
    usual = [{"from": "08:00", "until": "17:00"}]
    weekend: dict[str, object] = {"saturday": [], "sunday": []}
    assert changed["workingHours"] == dict.fromkeys(DAYS, usual) | weekend | {"monday": MORNINGS}
    assert read_last_event(cast)["data"]["previous"] == {"workingHours": None}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({day: [] for day in DAYS}, "workingHours: has no times, leave it empty for the usual hours"),
        ({"monday": [{"from": "12:00", "until": "8:00"}]}, "workingHours.monday.0.until: is not a time of day"),
        ({"monday": [{"from": "24:00", "until": "06:00"}]}, "workingHours.monday.0.from: is not a time of day"),
        ({"someday": MORNINGS}, "workingHours.someday: is not known here"),
        ("08:00-12:30", "workingHours: is not an object"),
    ],
)
def test_what_are_no_working_hours_is_refused(cast: Cast, given: object, problem: str) -> None:
    with pytest.raises(Invalid, match=f"^{re.escape(problem)}"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], workingHours=given)


def test_the_event_carries_the_record_and_what_it_was_before(cast: Cast) -> None:
    changed = cast.perform(
        update_person, personId=cast.people[Role.MEMBER], phone="1", skills=["gas"], costRate=7, name="Mia Member"
    )
    event = read_last_event(cast)
    assert event["type"] == "person.updated"
    assert event["data"] == {
        "object": to_event_record(changed),
        "previous": {"phone": None, "skills": [], "costRate": None},
    }
    assert read_trail(cast)[-1]["events"] == [event["id"]]
    assert read_trail(cast)[-1]["operation"] == "update_person"


def test_the_change_names_the_person_and_the_key(cast: Cast) -> None:
    acting = actor_with_key(cast, cast.make_key(role=Role.ADMIN))
    changed = cast.perform(update_person, acting, personId=cast.people[Role.MEMBER], phone="1")
    assert changed["createdBy"]["person"] is None
    assert changed["updatedBy"] == {
        "kind": "person",
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": {"id": acting.credential, "name": "admin write"}},
    }


def test_nothing_different_makes_no_new_version_and_no_event(cast: Cast) -> None:
    before = cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD)
    event_count = len(list_events_of(cast))
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD) == before
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER]) == before
    assert len(list_events_of(cast)) == event_count


def test_an_outdated_version_is_refused_and_nothing_changes(cast: Cast) -> None:
    request = RequestDetails("req_1", if_match_versions=frozenset({2}))
    with pytest.raises(Stale):
        cast.answer(update_person, request=request, personId=cast.people[Role.MEMBER], phone="1")
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["phone"] is None


@pytest.mark.parametrize("record_id", ["person_1", "person_01JCDZ8Q4X0V9M2T6W3B7K5N1R"])
def test_an_unknown_person_is_not_found(cast: Cast, record_id: str) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(update_person, personId=record_id, phone="1")


def test_another_organisation_s_person_is_not_found_and_stays(cast: Cast, other_cast: Cast) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(update_person, personId=other_cast.people[Role.MEMBER], phone="1")
    assert other_cast.perform(get_person, personId=other_cast.people[Role.MEMBER])["phone"] is None


def test_another_s_address_is_refused_in_whatever_case(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"already belongs to Adam Admin"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], email=EMAILS[Role.ADMIN].upper())


def test_the_case_of_one_s_own_address_can_be_changed(cast: Cast) -> None:
    shouted = EMAILS[Role.MEMBER].upper()
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER], email=shouted)["email"] == shouted


@pytest.mark.parametrize("name", ["id", "role", "status", "version", "accountId", "emailFolded", "email_folded"])
def test_what_is_not_one_s_to_change_is_refused(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: is not known here$"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], **{name: "left"})


def test_an_admin_does_not_change_an_owner(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^Only an owner can change or remove an owner\.$"):
        cast.perform(update_person, Role.ADMIN, personId=cast.people[Role.OWNER], phone="1")


def test_an_admin_changes_another_admin(cast: Cast) -> None:
    other = cast.perform(
        add_person,
        operator_actor(cast.organisation),
        name="Ann Admin",
        email=f"ann.{cast.organisation}@new.example",
        role="admin",
        password=PASSWORD,
    )
    assert cast.perform(update_person, Role.ADMIN, personId=other["id"], name="Ann")["name"] == "Ann"


def test_an_owner_changes_themselves(cast: Cast) -> None:
    assert cast.perform(update_person, personId=cast.people[Role.OWNER], phone="1")["phone"] == "1"


def test_one_who_has_left_is_not_changed(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Conflict, match=r"^Mia Member has left the organisation\. Invite them again"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
def test_everyone_changes_their_own_phone_and_colour(cast: Cast, role: Role) -> None:
    changed = cast.perform(update_person, role, personId=cast.people[role], phone="1", colour="#00ff00")
    assert (changed["phone"], changed["colour"], changed["version"]) == ("1", "#00ff00", 2)
    assert changed["updatedBy"]["person"]["id"] == cast.people[role]
    assert read_last_event(cast)["data"]["previous"] == {"phone": None, "colour": None}


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER, Role.SUBCONTRACTOR])
@pytest.mark.parametrize("name", sorted(EVERY_FIELD.keys() - {"phone", "colour"}))
def test_the_rest_of_one_s_own_is_for_those_in_charge(cast: Cast, role: Role, name: str) -> None:
    event_count = len(list_events_of(cast))
    with pytest.raises(Forbidden, match=rf"^You can't change {name}\. Ask an owner or admin\. Your role is {role}\.$"):
        cast.perform(update_person, role, personId=cast.people[role], phone="1", **{name: EVERY_FIELD[name]})
    assert cast.perform(get_person, personId=cast.people[role])["phone"] is None
    assert len(list_events_of(cast)) == event_count


def test_all_fields_that_one_may_not_change_are_told_at_once(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^You can't change costRate, email and name\."):
        cast.perform(
            update_person, Role.MEMBER, personId=cast.people[Role.MEMBER], name="M", email="m@m.example", costRate=None
        )


@pytest.mark.parametrize("role", [Role.OFFICE, Role.MEMBER])
def test_nobody_changes_another_s_without_being_in_charge(cast: Cast, role: Role) -> None:
    with pytest.raises(Forbidden, match=r"^You can only change your own details\. Ask an owner or admin\.$"):
        cast.perform(update_person, role, personId=cast.people[Role.SUBCONTRACTOR], phone="1")
    assert cast.perform(get_person, personId=cast.people[Role.SUBCONTRACTOR])["phone"] is None


def test_a_subcontractor_who_sees_nobody_finds_nobody_else(cast: Cast) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(update_person, Role.SUBCONTRACTOR, personId=cast.people[Role.MEMBER], phone="1")


def test_who_was_in_charge_at_the_door_but_is_no_more_changes_no_field_of_those_in_charge(cast: Cast) -> None:
    acting = cast.actor(Role.ADMIN)
    cast.perform(change_role, personId=cast.people[Role.ADMIN], role="member", confirmed=True)
    with pytest.raises(Forbidden, match="You can't change costRate"):
        cast.perform(update_person, acting, personId=cast.people[Role.ADMIN], costRate="99.00")
    assert cast.perform(get_person, personId=cast.people[Role.ADMIN])["costRate"] is None


def test_one_in_charge_does_not_lose_sight_of_what_they_change(cast: Cast) -> None:
    changed = cast.perform(update_person, Role.ADMIN, personId=cast.people[Role.MEMBER], costRate="24.50")
    assert changed["costRate"] == "24.50"
    own = cast.perform(update_person, Role.MEMBER, personId=cast.people[Role.MEMBER], phone="1")
    assert own["costRate"] is None
    assert read_last_event(cast)["data"]["object"]["costRate"] == "24.50"


def test_someone_invited_whose_address_changes_is_sent_the_invitation_there(cast: Cast) -> None:
    person = cast.perform(invite_person, name="Nina", email="nina@old.example", role="office")["id"]
    event_count = len(list_events_of(cast))
    cast.perform(update_person, personId=person, email="nina@new.example")
    assert [event["type"] for event in list_events_of(cast)[event_count:]] == ["person.updated", "person.invited"]
    assert read_last_event(cast)["data"]["object"]["email"] == "nina@new.example"
    cast.perform(update_person, personId=person, phone="1")
    assert read_last_event(cast)["type"] == "person.updated"


def test_no_invitation_goes_to_where_someone_else_who_is_here_signs_in(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], email="mia@elsewhere.example")
    invited = cast.perform(invite_person, name="Zed", email="zed@new.example", role="admin")["id"]
    event_count = len(list_events_of(cast))
    # Otherwise a person who was removed could come back as an admin, by accepting it.
    with pytest.raises(Conflict, match="Mia Member already signs in to this organisation"):
        cast.perform(update_person, personId=invited, email=EMAILS[Role.MEMBER])
    assert len(list_events_of(cast)) == event_count


def test_someone_who_is_here_is_invited_nowhere(cast: Cast) -> None:
    cast.perform(update_person, personId=cast.people[Role.MEMBER], email="mia@new.example")
    assert read_last_event(cast)["type"] == "person.updated"


def test_a_change_reads_the_person_once_and_writes_once(cast: Cast) -> None:
    database = RecordingDatabase(cast.performer.database)
    watched = replace(cast, performer=replace(cast.performer, database=database))
    actor = watched.actor(Role.OWNER)
    database.statements.clear()
    watched.perform(update_person, actor, personId=cast.people[Role.MEMBER], phone="1")
    about = [sql for sql, *_ in database.statements if re.search(r"(FROM|UPDATE) person\b(?! p)", sql)]
    assert [sql.split()[0] for sql in about] == ["SELECT", "UPDATE"]


def test_a_change_is_nine_statements(cast: Cast) -> None:
    database = RecordingDatabase(cast.performer.database)
    watched = replace(cast, performer=replace(cast.performer, database=database))
    actor = watched.actor(Role.OWNER)
    database.statements.clear()
    watched.perform(update_person, actor, personId=cast.people[Role.MEMBER], colour="#3366cc")
    verbs = [" ".join(statement.sql.split()[:1]) for statement in database.statements]
    assert verbs == ["SELECT", "SELECT", "UPDATE", "UPDATE", "INSERT", "SELECT", "INSERT", "INSERT", "INSERT"]
