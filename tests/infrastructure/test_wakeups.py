import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mainstay.infrastructure.worker_wakeups import WakeupListener, WakeupSender


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bell"


def test_a_ring_from_another_process_is_heard(path: Path) -> None:
    script = (
        "import sys, pathlib\nfrom mainstay.infrastructure.worker_wakeups import WakeupSender\n"
        "WakeupSender(pathlib.Path(sys.argv[1])).wake()"
    )

    with WakeupListener.listen(path) as bell:
        with subprocess.Popen([sys.executable, "-c", script, path]):
            assert bell.wait(60)
        assert not bell.wait(0)


def test_a_ring_ends_a_wait_that_has_begun(path: Path) -> None:
    heard: list[bool] = []
    with WakeupListener.listen(path) as bell:
        waiting = threading.Thread(target=lambda: heard.append(bell.wait(60)))
        waiting.start()
        WakeupSender(path).wake()
        waiting.join()

    assert heard == [True]


def test_a_ring_between_two_waits_is_not_lost_and_many_count_as_one(path: Path) -> None:
    with WakeupListener.listen(path) as bell:
        assert not bell.wait(0)
        for _ in range(3):
            WakeupSender(path).wake()

        assert bell.wait(60)
        assert not bell.wait(0)


def test_to_ring_never_waits_for_a_worker_that_does_not_listen(path: Path) -> None:
    with WakeupListener.listen(path) as bell:
        for _ in range(5000):
            WakeupSender(path).wake()

        assert bell.wait(0)
        assert not bell.wait(0)


def test_to_ring_without_a_worker_is_no_fault(path: Path) -> None:
    WakeupSender(path).wake()
    with WakeupListener.listen(path):
        pass
    WakeupSender(path).wake()
    path.write_text("not a socket")
    WakeupSender(path).wake()


def test_a_worker_that_was_killed_leaves_nothing_in_the_way(path: Path) -> None:
    script = """
import sys, pathlib, os, signal
from mainstay.infrastructure.worker_wakeups import WakeupListener
with WakeupListener.listen(pathlib.Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script, path], check=False)
    assert path.is_socket()
    WakeupSender(path).wake()

    with WakeupListener.listen(path) as bell:
        WakeupSender(path).wake()
        assert bell.wait(60)
    assert not path.exists()


def test_a_new_worker_takes_over_and_stays_reachable_when_the_old_one_goes(path: Path) -> None:
    with WakeupListener.listen(path) as old:
        new = WakeupListener.listen(path)
        WakeupSender(path).wake()
        assert new.wait(60)
        assert not old.wait(0)
    with new:
        WakeupSender(path).wake()
        assert new.wait(60)


def test_a_path_too_long_for_a_socket_gets_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("ü" * 60) / ("x" * 60)
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)

    with WakeupListener.listen(deep / "bell") as bell:
        WakeupSender(deep / "other").wake()
        assert not bell.wait(0)
        WakeupSender(Path("bell")).wake()
        assert bell.wait(60)

    assert list(deep.iterdir()) == []
