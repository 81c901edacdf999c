import subprocess
import sys

from mainstay.infrastructure.processes import MAX_DEATHS, RecentDeaths

# A parent that only notes what asks it to end; its child is asked in the moment of its birth.
_FORKING = """
import os
import signal

from mainstay.infrastructure.processes import end_children_on_sigterm

noted = []
signal.signal(signal.SIGTERM, lambda number, _: noted.append(number))
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
end_children_on_sigterm()

if (child := os.fork()) == 0:
    os._exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == -signal.SIGTERM, status

os.kill(os.getpid(), signal.SIGTERM)
assert noted == [signal.SIGTERM]
"""


def test_a_child_that_is_asked_to_end_while_it_is_born_ends_and_its_parent_still_hears() -> None:
    subprocess.run([sys.executable, "-c", _FORKING], check=True, timeout=30)


def test_after_each_death_the_pause_grows_until_it_is_no_use() -> None:
    deaths = RecentDeaths()

    pauses = [deaths.pause_after(float(moment)) for moment in range(MAX_DEATHS)]

    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, None]


def test_deaths_of_more_than_a_minute_ago_do_not_count() -> None:
    deaths = RecentDeaths()

    assert [deaths.pause_after(moment * 30.0) for moment in range(20)] == [0.1, *[0.2] * 19]
