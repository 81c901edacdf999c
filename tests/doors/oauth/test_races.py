"""A code or refresh token works once, whatever the concurrency."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import TypeVar

import pytest

from mainstay.identity.clients import OAuthClient
from mainstay.identity.connections import list_connections
from mainstay.identity.tokens import InvalidGrant, TokenIssuer, Tokens
from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.oauth_app import register_app, sign_in_cast_member
from support.servers import RunningServer

# Of this door, the smoke set on both engines.
pytestmark = pytest.mark.engines("sqlite", "postgresql")

T = TypeVar("T")

RIVALS = 50
ROUNDS = 4
LONG_ROUNDS = 200


@pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(LONG_ROUNDS, marks=pytest.mark.long)])
def test_one_code_and_one_refresh_token_win_once_among_fifty(server: RunningServer, cast: Cast, rounds: int) -> None:
    app = register_app(server)
    person = sign_in_cast_member(server, cast, Role.OFFICE)
    token_issuer = TokenIssuer(cast.performer)
    client = OAuthClient(app.client_id, {}, None)
    for _ in range(rounds):
        code = person.approve(app.make_authorize_url(), cast.organisation)["code"]
        won = race(partial(token_issuer.redeem_code, client, code, None, app.verifier, "req_1"))
        assert len(won) == 1
        assert cast.perform(list_connections)["data"] == []

        tokens = app.connect(person, cast.organisation)
        assert len(cast.perform(list_connections)["data"]) == 1
        won = race(partial(token_issuer.refresh_tokens, client, tokens["refresh_token"], "req_1"))
        assert len(won) == 1
        assert cast.perform(list_connections)["data"] == []
        assert app.refresh_tokens(won[0].refresh).status_code == 400


def test_fifty_clients_over_http_win_once(server: RunningServer, cast: Cast) -> None:
    app = register_app(server)
    code = sign_in_cast_member(server, cast).approve(app.make_authorize_url(), cast.organisation)["code"]
    statuses = run_together(lambda: app.redeem_code(code).status_code)
    assert sorted(statuses) == [200] + [400] * (RIVALS - 1)
    assert cast.perform(list_connections)["data"] == []


def race(exchange: Callable[[], Tokens]) -> list[Tokens]:
    def one() -> Tokens | None:
        try:
            return exchange()
        except InvalidGrant:
            return None

    return [tokens for tokens in run_together(one) if tokens]


def run_together(work: Callable[[], T]) -> list[T]:
    start = Barrier(RIVALS)

    def one() -> T:
        start.wait()
        return work()

    with ThreadPoolExecutor(RIVALS) as threads:
        return [future.result() for future in [threads.submit(one) for _ in range(RIVALS)]]
