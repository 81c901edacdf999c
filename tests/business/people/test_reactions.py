from dataclasses import replace

import orjson

from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import invite_again, invite_person, update_person
from mainstay.business.people.reactions import REACTIONS
from mainstay.identity import links
from mainstay.identity.emails import EMAIL_TASK, LINK_MARK
from mainstay.identity.links import LinkKind
from mainstay.kernel.reaction import ReactionEvent
from mainstay.vocabulary.actor import operator_actor
from support.cast import Cast
from support.stored_state import list_events_of, operations_on, read_last_event, read_trail


def react_to_last_event(cast: Cast) -> dict[str, str]:
    """Run the reaction to the last event; return the one email that follows."""
    event = read_last_event(cast)
    (only,) = [reaction for reaction in REACTIONS if reaction.event.name == event["type"]]
    performer = replace(cast.performer, base_url="https://here.example")
    performer.run_reaction(only, cast.organisation, ReactionEvent(event["id"], event["actor"], event["data"]["object"]))
    (payload,) = read_mails(cast)[-1:]
    return payload


def read_mails(cast: Cast) -> list[dict[str, str]]:
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = db.all(
            "SELECT payload FROM outbox WHERE organisation_id = :organisation AND kind = :mail ORDER BY id",
            mail=EMAIL_TASK,
        )
    return [orjson.loads(str(payload)) for (payload,) in found]


def test_the_one_who_is_invited_gets_one_mail(cast: Cast) -> None:
    cast.perform(update_organisation, name="Beam & Sons")
    cast.perform(invite_person, name="Nina New", email="Nina@New.example", role="office")
    mail = react_to_last_event(cast)
    assert mail["to"] == "Nina@New.example"
    assert mail["subject"] == "Olivia Owner invites you to Beam & Sons"
    for words in ("Hello Nina New,", "Olivia Owner has invited you", "with office access", "https://here.example"):
        assert words in mail["text"]


def test_the_mail_waits_with_a_place_for_its_link_and_without_the_link(cast: Cast) -> None:
    cast.perform(invite_person, name="Nina New", email="nina@new.example", role="office")
    mail = react_to_last_event(cast)
    assert mail["text"].count(LINK_MARK) == 1
    assert mail["link_kind"] == "invitation"
    assert mail["link"].startswith("lnk_")


def test_the_operator_invites_in_the_name_of_the_office(cast: Cast) -> None:
    cast.perform(invite_person, operator_actor(cast.organisation), name="N", email="n@new.example", role="office")
    assert react_to_last_event(cast)["subject"].startswith("The office invites you")


def test_braces_in_a_name_are_only_braces(cast: Cast) -> None:
    cast.perform(invite_person, name="{inviter.__class__}", email="n@new.example", role="office")
    assert "Hello {inviter.__class__}," in react_to_last_event(cast)["text"]


def test_the_system_actor_does_it_and_the_trail_tells_of_it(cast: Cast) -> None:
    person = cast.perform(invite_person, name="N", email="n@new.example", role="office")["id"]
    event_count = len(list_events_of(cast))
    react_to_last_event(cast)
    entry = read_trail(cast)[-1]
    assert (entry["operation"], entry["given"]) == ("mail_invitation", {"event": read_last_event(cast)["id"]})
    assert entry["actor"] == {"kind": "house", "person": None, "via": {"door": "house", "client": None}}
    assert operations_on(cast, person) == ["invite_person", "mail_invitation"]
    assert len(list_events_of(cast)) == event_count


def test_repeated_work_mails_nobody_twice(cast: Cast) -> None:
    cast.perform(invite_person, name="N", email="n@new.example", role="office")
    first = react_to_last_event(cast)
    written = len(read_trail(cast))
    assert react_to_last_event(cast) == first
    assert len(read_mails(cast)) == 1
    assert len(read_trail(cast)) == written


def test_each_invitation_has_a_link_of_its_own_and_ends_the_one_before(cast: Cast) -> None:
    person = cast.perform(invite_person, name="N", email="n@old.example", role="office")["id"]
    first = react_to_last_event(cast)["link"]
    cast.perform(invite_again, personId=person)
    second = react_to_last_event(cast)["link"]
    cast.perform(update_person, personId=person, email="n@new.example")
    moved = react_to_last_event(cast)
    assert moved["to"] == "n@new.example"
    with cast.performer.database.read_transaction(cast.organisation) as db:
        found = [
            links.find(db, LinkKind.INVITATION, link, cast.performer.clock()) for link in (first, second, moved["link"])
        ]
    assert [link and link.email for link in found] == [None, None, "n@new.example"]
