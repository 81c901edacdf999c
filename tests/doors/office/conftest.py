"""An installation that may send to receivers on this machine, shared by the tests about webhooks."""

from collections.abc import Iterator

import pytest

from support.installations import Installations
from support.webhook_installation import (
    WebhookInstallation,
    WebhookReceiver,
    open_webhook_installation,
    run_webhook_receiver,
)


@pytest.fixture(scope="session")
def webhook_installation(
    engine: str, installations: Installations, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebhookInstallation]:
    with open_webhook_installation(
        installations.make_with_accounts(engine, tmp_path_factory.mktemp("webhooks"))
    ) as installation:
        yield installation


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with run_webhook_receiver() as receiver:
        yield receiver
