"""What cannot be undone is shown first, and done only when it is confirmed."""

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.raw_http import ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer

FIELDS = ["object", "operation", "summary", "effects", "warnings", "blockers", "email", "previewToken"]


def test_without_confirmation_there_is_a_preview_and_nothing_happens(server: RunningServer, cast: Cast) -> None:
    key, of_admin = cast.make_key(), cast.make_key(role=Role.ADMIN)
    path = f"{PEOPLE}/{cast.people[Role.ADMIN]}"
    before = server.request("GET", path, key).content

    for body in ({}, {"confirmed": False}):
        answer = server.request("POST", f"{path}/remove", key, json=body)

        assert answer.status_code == 200
        assert "ETag" not in answer.headers
        preview = answer.json()
        assert list(preview) == FIELDS
        assert (preview["object"], preview["operation"]) == ("preview", "remove_person")
        assert preview["summary"] == "Adam Admin (admin) will be removed from the organisation."
        assert any("API keys created by Adam Admin" in effect for effect in preview["effects"])
        assert preview["warnings"] == []
        assert preview["blockers"] == []
        assert preview["email"] is None

    assert server.request("GET", path, key).content == before
    assert server.request("GET", ORGANISATION, of_admin).status_code == 200


def test_confirmed_it_happens(server: RunningServer, cast: Cast) -> None:
    key, of_admin = cast.make_key(), cast.make_key(role=Role.ADMIN)
    path = f"{PEOPLE}/{cast.people[Role.ADMIN]}"

    answer = server.request("POST", f"{path}/remove", key, json={"confirmed": True})

    assert answer.status_code == 200
    assert answer.json()["status"] == "left"
    assert answer.headers["ETag"] == '"2"'
    assert server.request("GET", path, key).json() == answer.json()
    check_refusal(server.request("GET", ORGANISATION, of_admin), 401)


def test_a_preview_tells_every_reason_why_it_cannot_be_done(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.OWNER]}/remove"

    preview = server.request("POST", path, key, json={}).json()
    confirmed = server.request("POST", path, key, json={"confirmed": True})

    assert preview["blockers"] == [
        "Olivia Owner is the only owner. Make someone else an owner first, on the website under People."
    ]
    assert check_refusal(confirmed, 409) == preview["blockers"][0]
    assert server.request("GET", "/api/v1/me", key).json()["role"] == "owner"


def test_a_preview_warns_who_would_remove_themselves(server: RunningServer, cast: Cast) -> None:
    path = f"{PEOPLE}/{cast.people[Role.ADMIN]}/remove"

    preview = server.request("POST", path, cast.make_key(role=Role.ADMIN), json={}).json()

    assert preview["warnings"] == ["This is you: you will lose your own access."]


def test_a_preview_needs_what_the_act_needs(server: RunningServer, cast: Cast) -> None:
    owner = f"{PEOPLE}/{cast.people[Role.OWNER]}/remove"
    member = f"{PEOPLE}/{cast.people[Role.MEMBER]}/remove"

    check_refusal(server.request("POST", owner, cast.make_key(role=Role.ADMIN), json={}), 403)
    check_refusal(server.request("POST", member, cast.make_key(), headers={"If-Match": '"9"'}, json={}), 412)
    check_refusal(server.request("POST", f"{PEOPLE}/nobody/remove", cast.make_key(), json={}), 404)
    key = cast.make_key()
    cast.lapse()
    check_refusal(server.request("POST", member, key, json={}), 402)


def test_who_has_left_cannot_be_removed_again(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()
    path = f"{PEOPLE}/{cast.people[Role.MEMBER]}/remove"
    server.request("POST", path, key, json={"confirmed": True})

    assert server.request("POST", path, key, json={}).json()["blockers"] == [
        "Mia Member has already left the organisation."
    ]
    check_refusal(server.request("POST", path, key, json={"confirmed": True}), 409)
