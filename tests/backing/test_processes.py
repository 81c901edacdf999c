import subprocess
import sys

# A parent that only notes what asks it to end; its child is asked in the moment of its birth.
_FORKING = """
import os
import signal

from mainstay.backing.processes import end_children_when_asked

noted = []
signal.signal(signal.SIGTERM, lambda number, _: noted.append(number))
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
end_children_when_asked()

if (child := os.fork()) == 0:
    os._exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == -signal.SIGTERM, status

os.kill(os.getpid(), signal.SIGTERM)
assert noted == [signal.SIGTERM]
"""


def test_a_child_that_is_asked_to_end_while_it_is_born_ends_and_its_parent_still_hears() -> None:
    subprocess.run([sys.executable, "-c", _FORKING], check=True, timeout=30)
