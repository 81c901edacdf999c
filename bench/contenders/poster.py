"""What the dispatcher is measured against: its own HTTP client alone, posting bodies that it has at hand.

`python -m bench.contenders.poster URLS BODIES TASKS SECONDS CORE`; it answers in JSON.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from http import HTTPStatus
from itertools import cycle
from pathlib import Path

import uvloop

from mainstay.infrastructure.address_guard import AddressGuard
from mainstay.infrastructure.webhook_client import WebhookClient


def main() -> None:
    urls, bodies, tasks, seconds, core = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    uvloop.run(
        post_for(Path(urls).read_text().split(), Path(bodies).read_bytes().splitlines(), int(tasks), float(seconds))
    )


async def post_for(urls: Sequence[str], bodies: Sequence[bytes], tasks: int, seconds: float) -> None:
    addresses, contents = cycle(urls), cycle(bodies)
    headers = {
        "content-type": "application/json",
        "webhook-id": "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "webhook-timestamp": "1700000000",
        "webhook-signature": f"v1,{'x' * 44}",
    }
    count = 0
    end = 0.0

    async with WebhookClient(AddressGuard(allow_private=True)) as web:

        async def keep_posting() -> None:
            nonlocal count
            while time.perf_counter() < end:
                answer = await web.post(next(addresses), headers, next(contents))
                if answer.status != HTTPStatus.OK:
                    raise RuntimeError(f"answered {answer.status}")
                count += 1

        for duration in (0.2, seconds):  # the first is a warm-up
            count = 0
            began, cpu = time.perf_counter(), time.process_time()
            end = began + duration
            await asyncio.gather(*(keep_posting() for _ in range(tasks)))
    took = time.perf_counter() - began
    print(json.dumps({"rate": count / took, "cpu": (time.process_time() - cpu) / count * 1e6}))


if __name__ == "__main__":
    main()
