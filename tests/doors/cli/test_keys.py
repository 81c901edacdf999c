"""`key`, while the server runs."""

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.command_line import run_command, run_commands
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer


def test_a_key_is_made_shown_once_listed_and_revoked(server: RunningServer, cast: Cast) -> None:
    where = ("--organisation", cast.organisation)
    create = ("key", "create", *where, "--person", cast.people[Role.ADMIN], "--name", "Till", "--json")

    made = run_commands(server.settings, (*create, "--access", "write"), (*create, "--access", "read"))

    writing, reading = (each.json for each in made)
    assert list(writing) == list(reading) == ["id", "key"]
    assert writing["key"].startswith("svc_sk_")
    assert server.request("POST", PEOPLE, writing["key"], json=NEW_PERSON).status_code == 201
    check_refusal(server.request("POST", PEOPLE, reading["key"], json=NEW_PERSON), 403)

    revoked = run_command(server.settings, "key", "revoke", writing["id"], "--json").json
    assert list(revoked) == ["id", "revokedAt"]
    assert revoked["id"] == writing["id"]
    check_refusal(server.request("GET", ORGANISATION, writing["key"]), 401)
    assert server.request("GET", ORGANISATION, reading["key"]).status_code == 200

    listed = run_command(server.settings, "key", "list", *where, "--json")
    assert list(listed.json) == ["keys"]
    keys = {key["id"]: key for key in listed.json["keys"]}
    assert set(keys) == {writing["id"], reading["id"]}
    assert [keys[each["id"]]["access"] for each in (writing, reading)] == ["write", "read"]
    assert [keys[each["id"]]["revokedAt"] for each in (writing, reading)] == [revoked["revokedAt"], None]
    assert keys[reading["id"]]["personName"] == "Adam Admin"
    assert keys[reading["id"]]["lastFour"] == reading["key"][-4:]
    for secret in (writing["key"], reading["key"]):
        assert secret not in listed.output
