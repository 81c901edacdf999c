from datetime import UTC, datetime, timedelta

import pytest

from cast import Cast
from evidence import contents
from mainstay.backing.database import EVERY
from mainstay.identity import links
from mainstay.identity.links import LIVES, Kind, LinkMaker
from mainstay.kernel.perform import Stage
from mainstay.terms.rights import Role
from mainstay.values.ids import new_id

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MAKER = LinkMaker(b"a secret of this installation", "https://here.example")
_ID = "lnk_01JCDZ8Q4X0V9M2T6W3B7K5N1R"


def invite(cast: Cast, now: datetime = NOW) -> str:
    with cast.stage.database.changing(cast.organisation) as rows:
        return links.make_invitation(rows, cast.people[Role.MEMBER], "Mia@Cast.example", now)


def lives(stage: Stage, kind: Kind, link: str, now: datetime = NOW) -> bool:
    with stage.database.reading(EVERY) as rows:
        return links.find(rows, kind, link, now) is not None


def test_a_token_leads_to_its_link() -> None:
    link = new_id("lnk")
    token = MAKER.token(Kind.RESET, link)
    assert MAKER.read(Kind.RESET, token) == link
    assert MAKER.address(Kind.RESET, link) == f"https://here.example/reset-password/{token}"
    assert MAKER.address(Kind.INVITATION, link).startswith("https://here.example/invitation/lnk_")


def test_a_token_of_one_kind_is_none_of_another() -> None:
    assert MAKER.read(Kind.RESET, MAKER.token(Kind.INVITATION, new_id("lnk"))) is None


def test_another_installation_s_token_opens_nothing() -> None:
    other = LinkMaker(b"another secret", MAKER.base_url)
    assert MAKER.read(Kind.RESET, other.token(Kind.RESET, new_id("lnk"))) is None


@pytest.mark.parametrize("change", [lambda token: token[:-1], lambda token: token + "A", lambda token: "x" + token])
def test_an_altered_token_opens_nothing(change: object) -> None:
    assert callable(change)
    assert MAKER.read(Kind.RESET, change(MAKER.token(Kind.RESET, new_id("lnk")))) is None


@pytest.mark.parametrize("text", ["", ".", "lnk_", "lnk_X.Y", "é", _ID, f"{_ID}."])
def test_text_that_is_no_token_opens_nothing(text: str) -> None:
    assert MAKER.read(Kind.RESET, text) is None


def test_nothing_that_opens_a_link_is_kept(cast: Cast) -> None:
    token = MAKER.token(Kind.INVITATION, invite(cast))
    assert token.partition(".")[2] not in repr(contents(cast.stage.database))


def test_a_link_works_once(cast: Cast) -> None:
    link = invite(cast)
    with cast.stage.database.changing(EVERY) as rows:
        assert links.use(rows, link)
        assert not links.use(rows, link)
    assert not lives(cast.stage, Kind.INVITATION, link)


def test_a_newer_invitation_ends_the_earlier(cast: Cast, stranger: Cast) -> None:
    elsewhere = invite(stranger)
    earlier, newer = invite(cast), invite(cast)
    assert not lives(cast.stage, Kind.INVITATION, earlier)
    assert lives(cast.stage, Kind.INVITATION, newer)
    assert lives(cast.stage, Kind.INVITATION, elsewhere)


def test_an_invitation_lives_for_seven_days(cast: Cast) -> None:
    link = invite(cast)
    assert timedelta(days=7) == LIVES[Kind.INVITATION]
    assert lives(cast.stage, Kind.INVITATION, link, NOW + LIVES[Kind.INVITATION] - SECOND)
    assert not lives(cast.stage, Kind.INVITATION, link, NOW + LIVES[Kind.INVITATION])


def test_a_reset_lives_for_an_hour(stage: Stage) -> None:
    with stage.database.changing(EVERY) as rows:
        link = links.make_reset(rows, None, "nobody@here.example", NOW)
    assert lives(stage, Kind.RESET, link, NOW + timedelta(minutes=59))
    assert not lives(stage, Kind.RESET, link, NOW + timedelta(hours=1))


def test_a_link_of_one_kind_is_not_found_as_another(cast: Cast) -> None:
    assert not lives(cast.stage, Kind.RESET, invite(cast))


def test_links_that_were_not_used_in_time_are_removed(cast: Cast) -> None:
    link = invite(cast)
    with cast.stage.database.changing(EVERY) as rows:
        links.forget_old(rows, NOW + LIVES[Kind.INVITATION])
    assert not lives(cast.stage, Kind.INVITATION, link)
