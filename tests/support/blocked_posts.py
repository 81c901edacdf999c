"""Posts to outside addresses that must be blocked."""

import asyncio
import ssl

import pytest

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.guarded_connection import NoResponse
from mainstay.infrastructure.webhook_client import WebhookClient

TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def post_and_get_failure(guard: AddressGuard, url: str, deadline: float = 15.0) -> str:
    """Post, and return why it failed."""

    async def post_once() -> str:
        async with WebhookClient(guard, tls=TLS, deadline=deadline) as web:
            with pytest.raises(NoResponse) as caught:
                await web.post(url, {}, b"{}")
        return caught.value.kind

    return asyncio.run(post_once())
