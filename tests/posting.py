"""Posts to the world outside that are not to reach it."""

import asyncio
import ssl

import pytest

from mainstay.backing.guard import Guard
from mainstay.backing.web import Unanswered, Web

TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def post(guard: Guard, url: str, deadline: float = 15.0) -> str:
    """Why nothing came of it."""

    async def told() -> str:
        async with Web(guard, tls=TLS, deadline=deadline) as web:
            with pytest.raises(Unanswered) as caught:
                await web.post(url, {}, b"{}")
        return caught.value.kind

    return asyncio.run(told())
