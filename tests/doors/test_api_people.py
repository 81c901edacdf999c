"""What one can do to people through the API: invite them again, give them a role, change one's own details."""

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.raw_http import NEW_PERSON, PEOPLE, check_refusal
from support.servers import RunningServer
from support.stored_state import list_events_of


def test_someone_is_invited_again(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    person = server.request("POST", PEOPLE, key, json=NEW_PERSON).json()
    assert "invite_again" in person["availableActions"]
    again = server.request("POST", f"{PEOPLE}/{person['id']}/invite-again", key, json={})
    assert (again.status_code, again.headers["ETag"]) == (200, '"1"')
    assert [event["type"] for event in list_events_of(cast)[-2:]] == ["person.invited"] * 2
    member = f"{PEOPLE}/{cast.people[Role.MEMBER]}/invite-again"
    assert check_refusal(server.request("POST", member, key, json={}), 409) == "Mia Member has no pending invitation."


def test_a_role_is_previewed_and_then_changed(server: RunningServer, cast: Cast) -> None:
    key, path = cast.make_key(), f"{PEOPLE}/{cast.people[Role.MEMBER]}/role"
    preview = server.request("POST", path, key, json={"role": "office"})
    assert (preview.status_code, preview.json()["object"]) == (200, "preview")
    assert preview.json()["summary"] == "Mia Member's role will be office instead of member."
    done = server.request("POST", path, key, json={"role": "office", "confirmed": True})
    assert (done.status_code, done.json()["role"], done.headers["ETag"]) == (200, "office", '"2"')
    assert check_refusal(server.request("POST", path, key, json={"role": "owner"}), 422).startswith(
        "role: is not one of"
    )


def test_a_record_tells_where_it_is_seen_and_what_can_be_done(server: RunningServer, cast: Cast) -> None:
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}"
    shown = server.request("GET", path, cast.make_key()).json()
    assert shown["url"] == f"{server.url}/people/{cast.people[Role.MEMBER]}"
    assert shown["availableActions"] == ["update_person", "change_role", "remove_person", "sign_out_person"]
    listed = server.request("GET", PEOPLE, cast.make_key()).json()["data"]
    assert not {"url", "availableActions"} & {name for person in listed for name in person}


def test_people_are_listed_by_name(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    first = server.request("GET", f"{PEOPLE}?order=name&limit=2", key).json()
    assert [person["name"] for person in first["data"]] == ["Adam Admin", "Mia Member"]
    rest = server.request("GET", f"{PEOPLE}?order=name&startingAfter={first['data'][-1]['id']}", key).json()
    assert [person["name"] for person in rest["data"]] == ["Olivia Owner", "Orla Office", "Sam Subcontractor"]
