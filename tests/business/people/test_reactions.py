from dataclasses import replace

import orjson

from cast import Cast
from evidence import events, history, last_event, trail
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import invite_again, invite_person, update_person
from mainstay.business.people.reactions import REACTIONS
from mainstay.identity import links
from mainstay.identity.links import Kind
from mainstay.identity.mails import LINK, MAIL
from mainstay.kernel.reaction import Happening
from mainstay.terms.actor import operator


def letter(cast: Cast) -> dict[str, str]:
    """The one letter that follows the last event."""
    event = last_event(cast)
    (only,) = [reaction for reaction in REACTIONS if reaction.event.name == event["type"]]
    stage = replace(cast.stage, base_url="https://here.example")
    stage.react(only, cast.organisation, Happening(event["id"], event["actor"], event["data"]["object"]))
    (payload,) = letters(cast)[-1:]
    return payload


def letters(cast: Cast) -> list[dict[str, str]]:
    with cast.stage.database.reading(cast.organisation) as rows:
        found = rows.all(
            "SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = :mail ORDER BY id", mail=MAIL
        )
    return [orjson.loads(str(payload)) for (payload,) in found]


def test_the_one_who_is_invited_gets_one_mail(cast: Cast) -> None:
    cast.perform(update_organisation, name="Beam & Sons")
    cast.perform(invite_person, name="Nina New", email="Nina@New.example", role="office")
    mail = letter(cast)
    assert mail["to"] == "Nina@New.example"
    assert mail["subject"] == "Olivia Owner invites you to Beam & Sons"
    for words in ("Hello Nina New,", "Olivia Owner has invited you", "as office", "https://here.example"):
        assert words in mail["text"]


def test_the_mail_waits_with_a_place_for_its_link_and_without_the_link(cast: Cast) -> None:
    cast.perform(invite_person, name="Nina New", email="nina@new.example", role="office")
    mail = letter(cast)
    assert mail["text"].count(LINK) == 1
    assert mail["link_kind"] == "invitation"
    assert mail["link"].startswith("lnk_")


def test_the_operator_invites_in_the_name_of_the_office(cast: Cast) -> None:
    cast.perform(invite_person, operator(cast.organisation), name="N", email="n@new.example", role="office")
    assert letter(cast)["subject"].startswith("The office invites you")


def test_braces_in_a_name_are_only_braces(cast: Cast) -> None:
    cast.perform(invite_person, name="{inviter.__class__}", email="n@new.example", role="office")
    assert "Hello {inviter.__class__}," in letter(cast)["text"]


def test_the_house_itself_does_it_and_the_trail_tells_of_it(cast: Cast) -> None:
    person = cast.perform(invite_person, name="N", email="n@new.example", role="office")["id"]
    told = len(events(cast))
    letter(cast)
    entry = trail(cast)[-1]
    assert (entry["operation"], entry["given"]) == ("mail_invitation", {"event": last_event(cast)["id"]})
    assert entry["actor"] == {"kind": "house", "person": None, "via": {"door": "house", "client": None}}
    assert history(cast, person) == ["invite_person", "mail_invitation"]
    assert len(events(cast)) == told


def test_repeated_work_mails_nobody_twice(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="n@new.example", role="office")
    first = letter(cast)
    written = len(trail(cast))
    assert letter(cast) == first
    assert len(letters(cast)) == 1
    assert len(trail(cast)) == written


def test_each_invitation_has_a_link_of_its_own_and_ends_the_one_before(cast: Cast) -> None:
    person = cast.perform(invite_person, name="N", email="n@old.example", role="office")["id"]
    first = letter(cast)["link"]
    cast.perform(invite_again, personId=person)
    second = letter(cast)["link"]
    cast.perform(update_person, personId=person, email="n@new.example")
    moved = letter(cast)
    assert moved["to"] == "n@new.example"
    with cast.stage.database.reading(cast.organisation) as rows:
        found = [links.find(rows, Kind.INVITATION, link, cast.stage.clock()) for link in (first, second, moved["link"])]
    assert [link and link.email for link in found] == [None, None, "n@new.example"]
