"""Server processes go first: their threads interrupt a child, but not each other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mainstay.infrastructure.child_pool import ChildPool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Only Linux has these policies.")
TASKS = Path(__file__).parents[1] / "support"
# In a process of its own, because a test process is not pinned.
PINNED_PROCESS = """
import os, threading
from mainstay.infrastructure.child_pool import ChildPool
from mainstay.infrastructure.cpu_priority import pin_to_core

def list_policies():
    return sorted({os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")})

end = threading.Event()
threading.Thread(target=end.wait).start()
pin_to_core(0)
before = list_policies()
meanwhile = ChildPool(1).run("child_tasks:read_policies_of_parent").result
print(before, meanwhile, list_policies(), len(os.sched_getaffinity(0)))
end.set()
"""


@pytest.fixture(autouse=True)
def _find_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{TASKS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def test_threads_of_a_pinned_process_interrupt_only_while_a_child_works() -> None:
    found = subprocess.run([sys.executable, "-c", PINNED_PROCESS], capture_output=True, check=True, text=True).stdout
    assert found.strip() == f"[{os.SCHED_BATCH}] [{os.SCHED_OTHER}] [{os.SCHED_BATCH}] 1"


def test_a_child_works_on_any_core_at_low_priority_in_long_slices() -> None:
    policy, niceness, cores, slice_nanoseconds = ChildPool(1).run("child_tasks:read_priority").result
    assert (policy, niceness, cores) == (os.SCHED_BATCH, 10, os.cpu_count())
    # Linux before 6.12 has no slices of each process's own.
    assert slice_nanoseconds in {0, 100_000_000}
