import asyncio

import pytest

from mainstay.doors.shared_timeout import SharedTimeout


def test_who_waits_too_long_is_told_so() -> None:
    async def wait_for_nothing() -> None:
        await SharedTimeout(0).wait(asyncio.Event().wait())

    with pytest.raises(TimeoutError):
        asyncio.run(wait_for_nothing())


def test_everyone_has_a_time_of_their_own() -> None:
    async def two() -> tuple[object, object]:
        short, long = SharedTimeout(0), SharedTimeout(3600)
        done = asyncio.Event()

        async def impatient() -> None:
            try:
                await short.wait(asyncio.Event().wait())
            finally:
                done.set()

        async def patient() -> str:
            await long.wait(done.wait())
            return "heard"

        return await asyncio.gather(impatient(), patient(), return_exceptions=True)

    impatient, patient = asyncio.run(two())
    assert isinstance(impatient, TimeoutError)
    assert patient == "heard"


def test_who_is_called_off_by_another_is_not_late() -> None:
    async def call_off() -> None:
        async def wait() -> None:
            await SharedTimeout(3600).wait(asyncio.Event().wait())

        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(call_off())


def test_one_who_was_late_can_go_on() -> None:
    async def late_then_on() -> int:
        with pytest.raises(TimeoutError):
            await SharedTimeout(0).wait(asyncio.Event().wait())
        task = asyncio.current_task()
        assert task is not None
        await asyncio.sleep(0)
        return task.cancelling()

    assert asyncio.run(late_then_on()) == 0
