"""`organisation`, `person` and `subscription`, while the server runs."""

import pytest

from mainstay.business.people.invitations import add_person, create_organisation
from mainstay.identity.passwords import is_password
from mainstay.kernel.perform import Performer
from mainstay.values.ids import is_id, new_id
from mainstay.vocabulary.actor import operator_actor
from mainstay.vocabulary.permissions import Role
from support.cast import EMAILS, PASSWORD, Cast
from support.command_line import run_command, run_commands
from support.raw_http import NEW_PERSON, ORGANISATION, PEOPLE, check_refusal
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")


def read_password_hash(performer: Performer, email: str) -> str:
    with performer.database.read_transaction("*") as db:
        row = db.one("SELECT password_hash FROM account WHERE email_folded = :email", email=email)
    assert row is not None
    return str(row[0])


def test_an_organisation_is_created_with_its_owner(server: RunningServer, performer: Performer) -> None:
    names = ("--name", "Nagel & Sohn", "--owner-name", "Nina Nagel", "--owner-email", "Nina@nagel.example")
    places = ("--country", "DE", "--currency", "EUR", "--time-zone", "Europe/Berlin")

    made = run_command(server.settings, "organisation", "create", *names, *places, "--json").json

    assert list(made) == ["organisation", "owner"]
    assert list(made["organisation"]) == ["id", "name"]
    assert list(made["owner"]) == ["id", "email", "password"]
    assert is_id(made["organisation"]["id"], "org")
    assert made["organisation"]["name"] == "Nagel & Sohn"
    assert made["owner"]["email"] == "Nina@nagel.example"
    assert is_password(made["owner"]["password"], read_password_hash(performer, "nina@nagel.example"))

    # The server sees it at once; the organisation by its name, the person by an e-mail address in any case.
    words = ("--organisation", "nagel & sohn", "--person", "NINA@nagel.example", "--access", "read", "--name", "Tests")
    key = run_command(server.settings, "key", "create", *words, "--json").json["key"]
    shown = server.request("GET", ORGANISATION, key).json()
    assert (shown["id"], shown["name"]) == (made["organisation"]["id"], "Nagel & Sohn")
    assert (shown["country"], shown["currency"], shown["timeZone"]) == ("DE", "EUR", "Europe/Berlin")
    assert server.request("GET", "/api/v1/me", key).json()["person"]["id"] == made["owner"]["id"]


def test_an_organisation_is_told_as_it_is_kept_and_found_however_its_name_is_written(server: RunningServer) -> None:
    names = ("--name", "  \u00d6lbau   GmbH ", "--owner-name", "\u00d6zg\u00fcr", "--owner-email", "o@oelbau.example")
    words = ("organisation", "create", *names, "--password-stdin", "--json")
    made = run_command(server.settings, *words, stdin_text="a chosen password\r\n").json
    listed = run_command(server.settings, "organisation", "list", "--json").json["organisations"]
    assert made["organisation"]["name"] in [one["name"] for one in listed if one["id"] == made["organisation"]["id"]]
    assert made["organisation"]["name"] == made["organisation"]["name"].strip()
    assert made["owner"]["password"] == "a chosen password"
    for written in ("\u00f6lbau gmbh", "\u00d6LBAU GmbH", "O\u0308lbau GMBH"):
        people = run_command(server.settings, "person", "list", "--organisation", written, "--json").json["people"]
        assert [one["id"] for one in people] == [made["owner"]["id"]]


def test_of_two_names_the_one_that_is_written_out_is_meant(server: RunningServer) -> None:
    made = {}
    for number, name in enumerate(("M\u00fcller Bau", "Muller Bau")):
        owner = ("--owner-name", "M", "--owner-email", f"m{number}@mueller.example")
        words = ("organisation", "create", "--name", name, *owner, "--json")
        made[name] = run_command(server.settings, *words).json["owner"]["id"]
    for name, owner in made.items():
        people = run_command(server.settings, "person", "list", "--organisation", name, "--json").json["people"]
        assert [one["id"] for one in people] == [owner]
    refusal = run_command(server.settings, "person", "list", "--organisation", "muller bau").error
    assert refusal == "There is more than one organisation called 'muller bau'. Use the ID."


def test_a_person_is_added_and_leaves(server: RunningServer, cast: Cast) -> None:
    where = ("--organisation", cast.organisation)
    who = ("--name", "Petra Plus", "--email", f"petra.{cast.organisation}@new.example", "--role", "admin")

    added = run_command(
        server.settings, "person", "add", *where, *who, "--password-stdin", "--json", stdin_text="a chosen password\n"
    ).json

    assert list(added) == ["person", "password"]
    assert list(added["person"]) == ["id", "name", "email", "role"]
    assert (added["person"]["name"], added["person"]["role"]) == ("Petra Plus", "admin")
    assert added["password"] == "a chosen password"
    assert is_password(
        "a chosen password", read_password_hash(cast.performer, f"petra.{cast.organisation.lower()}@new.example")
    )
    path = f"{PEOPLE}/{added['person']['id']}"
    assert server.request("GET", path, cast.make_key()).json()["status"] == "active"

    left = run_command(server.settings, "person", "leave", *where, "--person", "petra plus", "--json").json

    assert left == {"person": {"id": added["person"]["id"], "status": "left"}}
    assert server.request("GET", path, cast.make_key()).json()["status"] == "left"


def test_organisations_and_people_are_listed(server: RunningServer, cast: Cast, other_cast: Cast) -> None:
    where = ("--organisation", cast.organisation)
    run_command(server.settings, "person", "leave", *where, "--person", cast.people[Role.SUBCONTRACTOR])

    listed = run_command(server.settings, "organisation", "list", "--json").json
    people = run_command(server.settings, "person", "list", *where, "--json").json

    assert list(listed) == ["organisations"]
    found = {each["id"]: each for each in listed["organisations"]}
    assert found.keys() >= {cast.organisation, other_cast.organisation}
    assert list(found[cast.organisation]) == ["id", "name", "subscription", "createdAt", "storageBytes", "isSample"]
    assert found[cast.organisation]["storageBytes"] == 0
    assert found[cast.organisation]["subscription"] == "active"
    assert list(people) == ["people"]
    assert {person["id"] for person in people["people"]} == {*cast.people.values()} - {cast.people[Role.SUBCONTRACTOR]}
    assert list(people["people"][0]) == ["id", "name", "email", "role", "status"]


def test_a_link_to_a_new_password_is_made_for_whom_no_mail_reaches(server: RunningServer, cast: Cast) -> None:
    words = ("person", "password", "--organisation", cast.organisation, "--person", "mia@cast.example", "--json")

    made = run_command(server.settings, *words).json

    assert list(made) == ["link"]
    assert made["link"].startswith(f"{server.url}/reset-password/lnk_")
    shown = server.request("GET", made["link"].removeprefix(server.url))
    assert (shown.status_code, "mia@cast.example" in shown.text) == (200, True)
    assert server.request("GET", made["link"].removeprefix(server.url)[:-1] + "x").status_code != 200


def test_a_subscription_lapses_and_is_renewed(server: RunningServer, cast: Cast) -> None:
    key = cast.make_key()

    def subscription(word: str) -> object:
        return run_command(server.settings, "subscription", word, cast.organisation, "--json").json

    assert subscription("lapse") == {"organisation": cast.organisation, "status": "inactive"}
    check_refusal(server.request("POST", PEOPLE, key, json=NEW_PERSON), 402)
    assert server.request("GET", ORGANISATION, key).json()["subscription"] == {"status": "inactive"}

    assert subscription("renew") == {"organisation": cast.organisation, "status": "active"}
    assert server.request("POST", PEOPLE, key, json=NEW_PERSON).status_code == 201


def test_who_cannot_be_told_apart_or_is_not_there_is_refused(server: RunningServer, cast: Cast) -> None:
    for number in range(2):
        email = f"twin{number}.{cast.organisation}@new.example"
        given = {"name": "Tina Twin", "email": email, "role": "admin", "password": "a long password"}
        cast.perform(add_person, operator_actor(cast.organisation), **given)

    def key_of(person: str, organisation: str = cast.organisation) -> list[str]:
        words = ("--organisation", organisation, "--person", person, "--access", "read", "--name", "Tests")
        return ["key", "create", *words, "--json"]

    twins = f"Twins of {cast.organisation}"
    for each in (new_id("org"), new_id("org")):
        given = {"name": twins, "ownerName": "Tina Twin", "ownerEmail": EMAILS[Role.OWNER], "password": PASSWORD}
        cast.perform(create_organisation, operator_actor(each), **given)

    ambiguous, clear, unknown, elsewhere, both = run_commands(
        server.settings,
        key_of("tina twin"),
        key_of(f"twin1.{cast.organisation}@new.example"),
        key_of("nobody"),
        key_of("Tina Twin", "Nobody & Sons"),
        ("subscription", "show", twins),
    )

    assert ambiguous.error == "There is more than one person called 'tina twin'. Use the ID."
    assert list(clear.json) == ["id", "key"]
    assert unknown.error == "There is no person with that identifier."
    assert elsewhere.error == "There is no organisation with that identifier."
    assert both.error == f"There is more than one organisation called '{twins}'. Use the ID."


def test_what_the_rules_forbid_is_refused(server: RunningServer, cast: Cast) -> None:
    where = ("--organisation", cast.organisation)
    who = ("--name", "Mia", "--email", "mia@cast.example", "--role", "member")
    key = ("--person", cast.people[Role.OFFICE], "--name", "Till", "--access", "read")
    nonsense = ("--name", " ", "--owner-name", "N", "--owner-email", "nonsense", "--country", "XX")

    twice, only_owner, no_key, invalid, no_such_key = run_commands(
        server.settings,
        ("person", "add", *where, *who),
        ("person", "leave", *where, "--person", cast.people[Role.OWNER]),
        ("key", "create", *where, *key),
        ("organisation", "create", *nonsense),
        ("key", "revoke", "key_1"),
    )

    assert twice.error.startswith("mia@cast.example already belongs to Mia Member in this organisation")
    assert (
        only_owner.error
        == "Olivia Owner is the only owner. Make someone else an owner first, on the website under People."
    )
    assert no_key.error == "You don't have access to this. Ask an owner or admin. Your role is office."
    assert [fault.split(":")[0] for fault in invalid.error.split("; ")] == ["name", "country", "ownerEmail"]
    assert no_such_key.error == "There is no API key with that identifier."


def test_someone_who_signs_in_already_gets_no_new_password(server: RunningServer, cast: Cast) -> None:
    words = ("organisation", "create", "--name", "Second Firm", "--owner-name", "Olivia", "--json")
    made = run_command(server.settings, *words, "--owner-email", EMAILS[Role.OWNER].upper()).json
    assert made["owner"]["password"] is None
    assert is_password(PASSWORD, read_password_hash(cast.performer, EMAILS[Role.OWNER]))
