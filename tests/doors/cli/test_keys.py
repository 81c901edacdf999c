"""`key`, while the server runs."""

from cast import Cast
from commanding import command, commands
from mainstay.terms.rights import Role
from running import RunningServer
from talking import NEWCOMER, ORGANISATION, PEOPLE, refused


def test_a_key_is_made_shown_once_listed_and_revoked(server: RunningServer, cast: Cast) -> None:
    where = ("--organisation", cast.organisation)
    create = ("key", "create", *where, "--person", cast.people[Role.ADMIN], "--name", "Till", "--json")

    made = commands(server.settings, (*create, "--access", "write"), (*create, "--access", "read"))

    writing, reading = (each.outcome for each in made)
    assert list(writing) == list(reading) == ["id", "key"]
    assert writing["key"].startswith("svc_sk_")
    assert server.request("POST", PEOPLE, writing["key"], json=NEWCOMER).status_code == 201
    refused(server.request("POST", PEOPLE, reading["key"], json=NEWCOMER), 403)

    revoked = command(server.settings, "key", "revoke", writing["id"], "--json").outcome
    assert list(revoked) == ["id", "revokedAt"]
    assert revoked["id"] == writing["id"]
    refused(server.request("GET", ORGANISATION, writing["key"]), 401)
    assert server.request("GET", ORGANISATION, reading["key"]).status_code == 200

    listed = command(server.settings, "key", "list", *where, "--json")
    assert list(listed.outcome) == ["keys"]
    keys = {key["id"]: key for key in listed.outcome["keys"]}
    assert set(keys) == {writing["id"], reading["id"]}
    assert [keys[each["id"]]["access"] for each in (writing, reading)] == ["write", "read"]
    assert [keys[each["id"]]["revokedAt"] for each in (writing, reading)] == [revoked["revokedAt"], None]
    assert keys[reading["id"]]["personName"] == "Adam Admin"
    assert keys[reading["id"]]["lastFour"] == reading["key"][-4:]
    for secret in (writing["key"], reading["key"]):
        assert secret not in listed.output
