"""`webhook`, while the server runs."""

from mainstay.composition import open_signer
from mainstay.webhooks.endpoints import list_webhooks
from support.cast import Cast
from support.command_line import run_command, run_commands
from support.servers import RunningServer

# Loopback: the command may save it, the server beside it may not send anything there.
URL = "http://127.0.0.1/webhooks"
ALLOW = {"MAINSTAY_WEBHOOK_PRIVATE_ADDRESSES": "allow"}


def test_a_webhook_is_made_shown_with_its_secret_once_listed_and_deleted(server: RunningServer, cast: Cast) -> None:
    where = ("--organisation", cast.organisation)
    create = ("webhook", "create", *where, "--url", URL, "--json")

    made = run_command(server.settings, *create, **ALLOW).json
    choosing = ("--event", "person.joined", "person.left", "--event", "person.updated")
    chosen = run_command(server.settings, *create, *choosing, **ALLOW).json

    assert list(made) == list(chosen) == ["id", "secret"]
    assert made["secret"] == open_signer(server.settings).reveal_secret(made["id"], 1)
    assert made["secret"] != chosen["secret"]

    listed = run_command(server.settings, "webhook", "list", *where, "--json")
    assert list(listed.json) == ["webhooks"]
    assert [webhook["id"] for webhook in listed.json["webhooks"]] == [chosen["id"], made["id"]]
    assert [webhook["events"] for webhook in listed.json["webhooks"]] == [
        ["person.joined", "person.left", "person.updated"],
        None,
    ]
    assert listed.json["webhooks"][0]["createdBy"]["via"] == {"door": "cli", "client": None}
    assert "whsec_" not in listed.output

    assert run_command(server.settings, "webhook", "delete", made["id"], "--json").json == {"id": made["id"]}
    assert [webhook["id"] for webhook in cast.perform(list_webhooks)["data"]] == [chosen["id"]]


def test_what_cannot_be_is_refused_in_one_sentence(server: RunningServer, cast: Cast) -> None:
    create = ("webhook", "create", "--organisation", cast.organisation, "--url")
    private, unknown, lost = run_commands(
        server.settings,
        (*create, "https://127.0.0.1/"),
        (*create, "https://1.1.1.1/", "--event", "person.flew"),
        ("webhook", "delete", "webhook_x"),
    )
    assert private.error == "url: leads to an address that is not public"
    assert unknown.error.startswith("events: has an unknown type of event, choose from equipment.created, ")
    assert lost.error == "There is no webhook with that identifier."
    assert cast.perform(list_webhooks)["data"] == []
