from cast import Cast
from evidence import last_event
from mainstay.business.organisation.operations import update_organisation
from mainstay.business.people.operations import invite_person
from mainstay.business.people.reactions import invite_by_mail
from mainstay.identity.mails import LINK, MAIL
from mainstay.kernel.actor import operator
from mainstay.kernel.reaction import Happening


def letter(cast: Cast) -> dict[str, str]:
    """The one letter that follows the last event."""
    event = last_event(cast)
    with cast.stage.database.changing(cast.organisation) as rows:
        happening = Happening(
            rows, event["type"], event["actor"], event["data"]["object"], "https://here.example", cast.stage.clock()
        )
        (only,) = invite_by_mail(happening)
    assert only.kind == MAIL
    return only.payload


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
