"""How long everything on the way of an app lives, by a clock that is set by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from agents import legacy, post
from apps import App, register, signed_in, told
from cast import Cast, assemble
from dispatching import Clock
from inside import open_inside
from installations import Installations
from mainstay.backing.database import EVERY
from mainstay.staging import open_stage
from mainstay.values.moments import system_clock
from mainstay.working import open_worker
from running import RunningServer

pytestmark = pytest.mark.engines("sqlite", "postgresql")

SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Time:
    """An installation in which time goes by when it is told to."""

    server: RunningServer
    cast: Cast
    clock: Clock

    def pass_by(self, time: timedelta) -> None:
        self.clock.now += time

    def opens(self, access: str) -> bool:
        """Whether the tool server takes an access token; any answer but these two is a fault."""
        status = post(self.server, access, legacy("ping")).status_code
        assert status in {200, 401}
        return status == 200

    def tidy(self) -> dict[str, int]:
        """Have the worker tidy up; how many codes, tokens and answered screens are left."""
        open_worker(self.server.settings, self.cast.stage).tidy()
        with self.cast.stage.database.reading(EVERY) as rows:
            tables = ("oauth_code", "oauth_token", "oauth_ticket")
            return {table: len(rows.all(f"SELECT 1 FROM {table}")) for table in tables}


@pytest.fixture
def time(engine: str, installations: Installations, tmp_path: Path) -> Iterator[Time]:
    settings, clock = installations.furnished(engine, tmp_path), Clock(system_clock())
    stage = open_stage(settings, clock)
    with open_inside(settings, clock) as server:
        yield Time(server, assemble(stage), clock)
    stage.database.close()


@pytest.fixture
def app(time: Time) -> App:
    return register(time.server)


def a_code(time: Time, app: App) -> str:
    return signed_in(time.server, time.cast).approve(app.address(), time.cast.organisation)["code"]


def test_an_access_token_lives_for_an_hour(time: Time, app: App) -> None:
    tokens = app.connect(signed_in(time.server, time.cast), time.cast.organisation)
    assert tokens["expires_in"] == 3600
    time.pass_by(timedelta(hours=1) - SECOND)
    assert time.opens(tokens["access_token"])
    time.pass_by(SECOND)
    assert not time.opens(tokens["access_token"])


def test_a_code_is_taken_for_ten_minutes(time: Time, app: App) -> None:
    in_time, too_late = a_code(time, app), a_code(time, app)
    time.pass_by(timedelta(minutes=10) - SECOND)
    assert app.redeem(in_time).status_code == 200
    time.pass_by(SECOND)
    refused = app.redeem(too_late)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_a_refresh_token_is_taken_for_sixty_days(time: Time, app: App) -> None:
    person = signed_in(time.server, time.cast)
    in_time, too_late = (app.connect(person, time.cast.organisation)["refresh_token"] for _ in range(2))
    time.pass_by(timedelta(days=60) - SECOND)
    assert time.opens(app.refresh(in_time).json()["access_token"])
    time.pass_by(SECOND)
    refused = app.refresh(too_late)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


def test_the_approval_screen_is_answered_within_half_an_hour(time: Time, app: App) -> None:
    person, address = signed_in(time.server, time.cast), app.address()
    in_time, too_late = person.open(address).text, person.open(address).text
    choices = {"organisation": time.cast.organisation, "access": "read", "decision": "approve"}
    time.pass_by(timedelta(minutes=30) - SECOND)
    assert "code" in told(person.decide(address, in_time, **choices))
    time.pass_by(SECOND)
    refused = person.decide(address, too_late, **choices)
    assert (refused.status_code, "Location" in refused.headers) == (400, False)
    assert "open for too long" in refused.text


def test_what_has_expired_is_forgotten_a_day_later_and_nothing_that_lives(time: Time, app: App) -> None:
    tokens = app.connect(signed_in(time.server, time.cast), time.cast.organisation)
    assert time.tidy() == {"oauth_code": 1, "oauth_token": 2, "oauth_ticket": 1}
    assert time.opens(tokens["access_token"])
    # Until then, a second use is still told from a first.
    time.pass_by(timedelta(days=1))
    assert time.tidy() == {"oauth_code": 1, "oauth_token": 2, "oauth_ticket": 1}
    time.pass_by(timedelta(hours=1) + SECOND)
    assert time.tidy() == {"oauth_code": 0, "oauth_token": 1, "oauth_ticket": 0}
    assert app.refresh(tokens["refresh_token"]).status_code == 200
    time.pass_by(timedelta(days=61) + SECOND)
    assert time.tidy() == {"oauth_code": 0, "oauth_token": 0, "oauth_ticket": 0}
