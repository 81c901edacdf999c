import pytest

from cast import EMAILS, PASSWORD, Cast
from evidence import events, holder, last_event, trail
from mainstay.business.people.joining import add_person
from mainstay.business.people.operations import get_person, update_person
from mainstay.business.people.standing import remove_person
from mainstay.identity.authenticate import NoSuchKey
from mainstay.kernel.actor import operator
from mainstay.kernel.context import Envelope
from mainstay.kernel.refusal import Conflict, Forbidden, Invalid, NotFound, Stale
from mainstay.kernel.rights import Role

EVERY_FIELD: dict[str, object] = {
    "name": "Mia Miller",
    "email": "Mia@Miller.example",
    "role": "subcontractor",
    "phone": "1",
    "skills": ["gas"],
    "colour": "#00ff00",
    "companyName": "Miller",
    "costRate": "32.50",
    "billRate": "85.00",
}
MAY_BE_EMPTY = ("phone", "colour", "companyName", "costRate", "billRate")
MUST_BE_THERE = {
    "name": "is not text",
    "email": "is not text",
    "skills": "is not a list",
    "role": "is not one of 'admin', 'office', 'member' or 'subcontractor'",
}


def second_owner(cast: Cast) -> str:
    joined = cast.perform(
        add_person,
        operator(cast.organisation),
        name="Otto Owner",
        email=f"otto.{cast.organisation}@new.example",
        role="owner",
        password=PASSWORD,
    )
    return str(joined["id"])


def test_every_field_can_be_changed(cast: Cast) -> None:
    changed = cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD)
    assert {name: changed[name] for name in EVERY_FIELD} == EVERY_FIELD
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER]) == changed


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


def test_the_event_carries_the_record_and_what_it_was_before(cast: Cast) -> None:
    changed = cast.perform(
        update_person, personId=cast.people[Role.MEMBER], phone="1", skills=["gas"], costRate=7, name="Mia Member"
    )
    event = last_event(cast)
    assert event["type"] == "person.updated"
    assert event["data"] == {"object": changed, "previous": {"phone": None, "skills": [], "costRate": None}}
    assert trail(cast)[-1]["events"] == [event["id"]]
    assert trail(cast)[-1]["operation"] == "update_person"


def test_the_change_names_the_person_and_the_key(cast: Cast) -> None:
    acting = holder(cast, cast.key(role=Role.ADMIN))
    changed = cast.perform(update_person, acting, personId=cast.people[Role.MEMBER], phone="1")
    assert changed["createdBy"]["person"] is None
    assert changed["updatedBy"] == {
        "person": {"id": cast.people[Role.ADMIN], "name": "Adam Admin"},
        "via": {"door": "api", "client": {"id": acting.credential, "name": "admin write"}},
    }


def test_nothing_different_makes_no_new_version_and_no_event(cast: Cast) -> None:
    before = cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD)
    told = len(events(cast))
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER], **EVERY_FIELD) == before
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER]) == before
    assert len(events(cast)) == told


def test_an_outdated_version_is_refused_and_nothing_changes(cast: Cast) -> None:
    request = Envelope("req_1", versions=frozenset({2}))
    with pytest.raises(Stale):
        cast.answer(update_person, request=request, personId=cast.people[Role.MEMBER], phone="1")
    assert cast.perform(get_person, personId=cast.people[Role.MEMBER])["phone"] is None


@pytest.mark.parametrize("identity", ["person_1", "person_01JCDZ8Q4X0V9M2T6W3B7K5N1R"])
def test_an_unknown_person_is_not_found(cast: Cast, identity: str) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(update_person, personId=identity, phone="1")


def test_another_organisation_s_person_is_not_found_and_stays(cast: Cast, stranger: Cast) -> None:
    with pytest.raises(NotFound, match=r"^There is no person with that identifier\.$"):
        cast.perform(update_person, personId=stranger.people[Role.MEMBER], phone="1")
    assert stranger.perform(get_person, personId=stranger.people[Role.MEMBER])["phone"] is None


def test_another_s_address_is_refused_in_whatever_case(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"is the address of Adam Admin"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], email=EMAILS[Role.ADMIN].upper())


def test_the_case_of_one_s_own_address_can_be_changed(cast: Cast) -> None:
    shouted = EMAILS[Role.MEMBER].upper()
    assert cast.perform(update_person, personId=cast.people[Role.MEMBER], email=shouted)["email"] == shouted


def test_nobody_becomes_owner_here(cast: Cast) -> None:
    with pytest.raises(Invalid, match=r"^role: is not one of"):
        cast.perform(update_person, personId=cast.people[Role.ADMIN], role="owner")


@pytest.mark.parametrize("name", ["id", "status", "version", "accountId", "emailFolded", "email_folded"])
def test_what_is_not_one_s_to_change_is_refused(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: is not known here$"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], **{name: "left"})


def test_an_admin_does_not_change_an_owner(cast: Cast) -> None:
    with pytest.raises(Forbidden, match=r"^Only an owner may change or remove an owner\.$"):
        cast.perform(update_person, Role.ADMIN, personId=cast.people[Role.OWNER], phone="1")


def test_an_admin_changes_another_admin(cast: Cast) -> None:
    assert cast.perform(update_person, Role.ADMIN, personId=cast.people[Role.ADMIN], role="office")["role"] == "office"


def test_an_owner_changes_themselves(cast: Cast) -> None:
    assert cast.perform(update_person, personId=cast.people[Role.OWNER], phone="1")["phone"] == "1"


def test_the_only_owner_is_not_demoted(cast: Cast) -> None:
    with pytest.raises(Conflict, match=r"^Olivia Owner is the only owner\. Name another owner first\.$"):
        cast.perform(update_person, personId=cast.people[Role.OWNER], role="admin")


def test_one_of_two_owners_can_be_demoted(cast: Cast) -> None:
    second_owner(cast)
    assert cast.perform(update_person, personId=cast.people[Role.OWNER], role="admin")["role"] == "admin"


def test_an_owner_who_left_does_not_count(cast: Cast) -> None:
    cast.perform(remove_person, personId=second_owner(cast), confirmed=True)
    with pytest.raises(Conflict, match="is the only owner"):
        cast.perform(update_person, personId=cast.people[Role.OWNER], role="admin")


def test_one_who_has_left_is_not_changed(cast: Cast) -> None:
    cast.perform(remove_person, personId=cast.people[Role.MEMBER], confirmed=True)
    with pytest.raises(Conflict, match=r"^Mia Member has left the organisation\. Invite them again"):
        cast.perform(update_person, personId=cast.people[Role.MEMBER], phone="1")


@pytest.mark.parametrize("role", ["office", "member", "subcontractor"])
def test_whoever_is_no_longer_admin_loses_their_keys(cast: Cast, role: str) -> None:
    key = cast.key(role=Role.ADMIN)
    cast.perform(update_person, personId=cast.people[Role.ADMIN], role=role)
    with pytest.raises(NoSuchKey):
        holder(cast, key)


def test_keys_stay_lost_after_a_promotion(cast: Cast) -> None:
    key = cast.key(role=Role.ADMIN)
    cast.perform(update_person, personId=cast.people[Role.ADMIN], role="office")
    cast.perform(update_person, personId=cast.people[Role.ADMIN], role="admin")
    with pytest.raises(NoSuchKey):
        holder(cast, key)
    assert holder(cast, cast.key(role=Role.ADMIN)).role is Role.ADMIN


def test_an_owner_who_becomes_admin_keeps_their_keys_with_the_lesser_rights(cast: Cast) -> None:
    second_owner(cast)
    key = cast.key(role=Role.OWNER)
    cast.perform(update_person, personId=cast.people[Role.OWNER], role="admin")
    assert holder(cast, key).role is Role.ADMIN


def test_others_keep_their_keys(cast: Cast) -> None:
    key = cast.key(role=Role.OWNER)
    cast.perform(update_person, personId=cast.people[Role.ADMIN], role="office")
    assert holder(cast, key).role is Role.OWNER


def test_a_change_that_leaves_the_role_ends_no_key(cast: Cast) -> None:
    key = cast.key(role=Role.ADMIN)
    cast.perform(update_person, personId=cast.people[Role.ADMIN], role="admin", phone="1")
    assert holder(cast, key).role is Role.ADMIN
