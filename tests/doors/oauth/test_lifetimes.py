"""How long everything on the way of an app lives, by a clock that is set by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from mainstay.composition import open_performer
from mainstay.infrastructure.database import ALL_ORGANISATIONS
from mainstay.values.moments import system_clock
from mainstay.worker_command import open_worker
from support.cast import Cast, make_cast
from support.dispatchers import ManualClock
from support.in_process import run_in_process
from support.installations import Installations
from support.mcp_client import make_legacy_call, post_call
from support.oauth_app import OAuthApp, redirect_parameters, register_app, sign_in_cast_member
from support.servers import RunningServer

pytestmark = pytest.mark.engines("sqlite", "postgresql")

SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class ClockedInstallation:
    """An installation whose clock is set by hand."""

    server: RunningServer
    cast: Cast
    clock: ManualClock

    def advance_clock(self, duration: timedelta) -> None:
        self.clock.now += duration

    def accepts_token(self, access: str) -> bool:
        """Whether the tool server takes an access token; any answer but these two is a fault."""
        status = post_call(self.server, access, make_legacy_call("ping")).status_code
        assert status in {200, 401}
        return status == 200

    def tidy_up(self) -> dict[str, int]:
        """Let the worker tidy up, and count the codes, tokens and answered screens that are left."""
        open_worker(self.server.settings, self.cast.performer).remove_old()
        with self.cast.performer.database.read_transaction(ALL_ORGANISATIONS) as db:
            tables = ("oauth_code", "oauth_token", "oauth_ticket")
            return {table: len(db.all(f"SELECT 1 FROM {table}")) for table in tables}


@pytest.fixture
def installation(engine: str, installations: Installations, tmp_path: Path) -> Iterator[ClockedInstallation]:
    settings, clock = installations.make_with_accounts(engine, tmp_path), ManualClock(system_clock())
    performer = open_performer(settings, clock)
    with run_in_process(settings, clock) as server:
        yield ClockedInstallation(server, make_cast(performer), clock)
    performer.database.close()


@pytest.fixture
def app(installation: ClockedInstallation) -> OAuthApp:
    return register_app(installation.server)


def obtain_code(installation: ClockedInstallation, app: OAuthApp) -> str:
    return sign_in_cast_member(installation.server, installation.cast).approve(
        app.make_authorize_url(), installation.cast.organisation
    )["code"]


def test_an_access_token_lives_for_an_hour(installation: ClockedInstallation, app: OAuthApp) -> None:
    tokens = app.connect(sign_in_cast_member(installation.server, installation.cast), installation.cast.organisation)
    assert tokens["expires_in"] == 3600
    installation.advance_clock(timedelta(hours=1) - SECOND)
    assert installation.accepts_token(tokens["access_token"])
    installation.advance_clock(SECOND)
    assert not installation.accepts_token(tokens["access_token"])


def test_a_code_is_taken_for_ten_minutes(installation: ClockedInstallation, app: OAuthApp) -> None:
    in_time, too_late = obtain_code(installation, app), obtain_code(installation, app)
    installation.advance_clock(timedelta(minutes=10) - SECOND)
    assert app.redeem_code(in_time).status_code == 200
    installation.advance_clock(SECOND)
    refused = app.redeem_code(too_late)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_a_refresh_token_is_taken_for_sixty_days(installation: ClockedInstallation, app: OAuthApp) -> None:
    person = sign_in_cast_member(installation.server, installation.cast)
    in_time, too_late = (app.connect(person, installation.cast.organisation)["refresh_token"] for _ in range(2))
    installation.advance_clock(timedelta(days=60) - SECOND)
    assert installation.accepts_token(app.refresh_tokens(in_time).json()["access_token"])
    installation.advance_clock(SECOND)
    refused = app.refresh_tokens(too_late)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_the_approval_screen_is_answered_within_half_an_hour(installation: ClockedInstallation, app: OAuthApp) -> None:
    person, address = sign_in_cast_member(installation.server, installation.cast), app.make_authorize_url()
    in_time, too_late = person.open(address).text, person.open(address).text
    choices = {"organisation": installation.cast.organisation, "access": "read", "decision": "approve"}
    installation.advance_clock(timedelta(minutes=30) - SECOND)
    assert "code" in redirect_parameters(person.decide(address, in_time, **choices))
    installation.advance_clock(SECOND)
    refused = person.decide(address, too_late, **choices)
    assert (refused.status_code, "Location" in refused.headers) == (400, False)
    assert "already answered or has expired" in refused.text


def test_what_has_expired_is_forgotten_a_day_later_and_nothing_that_lives(
    installation: ClockedInstallation, app: OAuthApp
) -> None:
    tokens = app.connect(sign_in_cast_member(installation.server, installation.cast), installation.cast.organisation)
    assert installation.tidy_up() == {"oauth_code": 1, "oauth_token": 2, "oauth_ticket": 1}
    assert installation.accepts_token(tokens["access_token"])
    # Until then, a second use is still told from a first.
    installation.advance_clock(timedelta(days=1))
    assert installation.tidy_up() == {"oauth_code": 1, "oauth_token": 2, "oauth_ticket": 1}
    installation.advance_clock(timedelta(hours=1) + SECOND)
    assert installation.tidy_up() == {"oauth_code": 0, "oauth_token": 1, "oauth_ticket": 0}
    assert app.refresh_tokens(tokens["refresh_token"]).status_code == 200
    installation.advance_clock(timedelta(days=61) + SECOND)
    assert installation.tidy_up() == {"oauth_code": 0, "oauth_token": 0, "oauth_ticket": 0}
