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
# One that looks at another one, for which a child works from the first line that it reads to the second.
LOOKING_PROCESS = """
import os, subprocess, sys
from pathlib import Path
from mainstay.infrastructure.cpu_priority import look_for_working_children, pin_to_core, share_working_children

def look():
    look_for_working_children()
    return os.sched_getscheduler(0)

share_working_children(Path(sys.argv[1]))
pin_to_core(0)
other = subprocess.Popen(
    [sys.executable, "-c", sys.argv[2], sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
policies = []
for _ in range(3):
    other.stdout.readline()
    policies.append(look())
    print("go on", file=other.stdin, flush=True)
print(policies)
"""
OTHER_PROCESS = """
import sys
from pathlib import Path
from mainstay.infrastructure.cpu_priority import interrupting_children, share_working_children

def let_the_other_look():
    print("look", flush=True)
    sys.stdin.readline()

share_working_children(Path(sys.argv[1]))
let_the_other_look()
with interrupting_children():
    let_the_other_look()
let_the_other_look()
"""


@pytest.fixture(autouse=True)
def _find_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{TASKS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")


def test_threads_of_a_pinned_process_interrupt_only_while_a_child_works() -> None:
    found = subprocess.run([sys.executable, "-c", PINNED_PROCESS], capture_output=True, check=True, text=True).stdout
    assert found.strip() == f"[{os.SCHED_BATCH}] [{os.SCHED_OTHER}] [{os.SCHED_BATCH}] 1"


def test_they_also_interrupt_while_a_child_works_for_another_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOOKING_PROCESS, str(tmp_path / "children"), OTHER_PROCESS]
    found = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert found.strip() == str([os.SCHED_BATCH, os.SCHED_OTHER, os.SCHED_BATCH])


def test_a_child_works_on_any_core_at_low_priority_in_long_slices() -> None:
    policy, niceness, cores, slice_nanoseconds = ChildPool(1).run("child_tasks:read_priority").result
    assert (policy, niceness, cores) == (os.SCHED_BATCH, 10, os.cpu_count())
    # Linux before 6.12 has no slices of each process's own.
    assert slice_nanoseconds in {0, 100_000_000}
