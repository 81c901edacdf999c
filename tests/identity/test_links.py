from datetime import UTC, datetime, timedelta

import pytest

from mainstay.identity import links
from mainstay.identity.links import LIFETIMES, LinkKind, LinkMaker
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.kernel.perform import Performer
from mainstay.values.ids import new_id
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.stored_state import read_all_rows

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MAKER = LinkMaker(b"a secret of this installation", "https://here.example")
_ID = "lnk_01JCDZ8Q4X0V9M2T6W3B7K5N1R"


def invite(cast: Cast, now: datetime = NOW) -> str:
    with cast.performer.database.write_transaction(cast.organisation) as db:
        return links.create_invitation_link(db, cast.people[Role.MEMBER], "Mia@Cast.example", now)


def is_live(performer: Performer, kind: LinkKind, link: str, now: datetime = NOW) -> bool:
    with performer.database.read_transaction(ALL_ORGANISATIONS) as db:
        return links.find(db, kind, link, now) is not None


def test_a_token_leads_to_its_link() -> None:
    link = new_id("lnk")
    token = MAKER.build_token(LinkKind.RESET, link)
    assert MAKER.verify_token(LinkKind.RESET, token) == link
    assert MAKER.build_url(LinkKind.RESET, link) == f"https://here.example/reset-password/{token}"
    assert MAKER.build_url(LinkKind.INVITATION, link).startswith("https://here.example/invitation/lnk_")


def test_a_token_of_one_kind_is_none_of_another() -> None:
    assert MAKER.verify_token(LinkKind.RESET, MAKER.build_token(LinkKind.INVITATION, new_id("lnk"))) is None


def test_another_installation_s_token_opens_nothing() -> None:
    other = LinkMaker(b"another secret", MAKER.base_url)
    assert MAKER.verify_token(LinkKind.RESET, other.build_token(LinkKind.RESET, new_id("lnk"))) is None


@pytest.mark.parametrize("change", [lambda token: token[:-1], lambda token: token + "A", lambda token: "x" + token])
def test_an_altered_token_opens_nothing(change: object) -> None:
    assert callable(change)
    assert MAKER.verify_token(LinkKind.RESET, change(MAKER.build_token(LinkKind.RESET, new_id("lnk")))) is None


@pytest.mark.parametrize("text", ["", ".", "lnk_", "lnk_X.Y", "é", _ID, f"{_ID}."])
def test_text_that_is_no_token_opens_nothing(text: str) -> None:
    assert MAKER.verify_token(LinkKind.RESET, text) is None


def test_nothing_that_opens_a_link_is_kept(cast: Cast) -> None:
    token = MAKER.build_token(LinkKind.INVITATION, invite(cast))
    assert token.partition(".")[2] not in repr(read_all_rows(cast.performer.database))


def test_a_link_works_once(cast: Cast) -> None:
    link = invite(cast)
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        assert links.use_link(db, link)
        assert not links.use_link(db, link)
    assert not is_live(cast.performer, LinkKind.INVITATION, link)


def test_a_newer_invitation_ends_the_earlier(cast: Cast, other_cast: Cast) -> None:
    elsewhere = invite(other_cast)
    earlier, newer = invite(cast), invite(cast)
    assert not is_live(cast.performer, LinkKind.INVITATION, earlier)
    assert is_live(cast.performer, LinkKind.INVITATION, newer)
    assert is_live(cast.performer, LinkKind.INVITATION, elsewhere)


def test_an_invitation_lives_for_seven_days(cast: Cast) -> None:
    link = invite(cast)
    assert timedelta(days=7) == LIFETIMES[LinkKind.INVITATION]
    assert is_live(cast.performer, LinkKind.INVITATION, link, NOW + LIFETIMES[LinkKind.INVITATION] - SECOND)
    assert not is_live(cast.performer, LinkKind.INVITATION, link, NOW + LIFETIMES[LinkKind.INVITATION])


def test_a_reset_lives_for_an_hour(performer: Performer) -> None:
    with performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        link = links.create_reset_link(db, None, "nobody@here.example", NOW)
    assert is_live(performer, LinkKind.RESET, link, NOW + timedelta(minutes=59))
    assert not is_live(performer, LinkKind.RESET, link, NOW + timedelta(hours=1))


def test_a_link_of_one_kind_is_not_found_as_another(cast: Cast) -> None:
    assert not is_live(cast.performer, LinkKind.RESET, invite(cast))


def test_links_that_were_not_used_in_time_are_removed(cast: Cast) -> None:
    link = invite(cast)
    with cast.performer.database.write_transaction(ALL_ORGANISATIONS) as db:
        links.delete_old(db, NOW + LIFETIMES[LinkKind.INVITATION])
    assert not is_live(cast.performer, LinkKind.INVITATION, link)
