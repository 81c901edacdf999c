"""The systemd units, as far as they can be checked without a running systemd."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mainstay.serve_command import GRACE_SECONDS
from support.operator_guide import DEPLOY, GuideHome, read_unit_values

UNITS = (
    "mainstay.service",
    "mainstay-backup.service",
    "mainstay-backup.timer",
    "mainstay-off-site.service",
    "mainstay-off-site.timer",
)
SYSTEMD = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not here: systemd comes with Debian.")


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The units for another home, in which there is a program."""
    home = GuideHome(tmp_path, 8000)
    program = tmp_path / "current" / "bin" / "mainstay"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    shutil.copytree(DEPLOY, tmp_path / "source" / "deploy")
    for name in UNITS:
        (tmp_path / name).write_text(home.relocate((DEPLOY / name).read_text("utf-8")), "utf-8")
    return [tmp_path / name for name in UNITS]


def run_systemd_analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SYSTEMD), *words], capture_output=True, text=True, check=False, timeout=60)


@needs_systemd
def test_systemd_understands_every_line(units: list[Path]) -> None:
    verified = run_systemd_analyze("verify", *units)
    assert (verified.returncode, verified.stderr) == (0, "")
    units[0].write_text(units[0].read_text().replace("ProtectSystem=strict", "ProtectSystems=strict"))
    assert "'ProtectSystems'" in run_systemd_analyze("verify", *units).stderr


@needs_systemd
def test_the_server_is_allowed_little(units: list[Path]) -> None:
    """By the weights of systemd itself, of 100 for a unit that may do everything."""
    looked_at = run_systemd_analyze("security", "--offline=true", "--threshold=20", "--no-pager", units[0])
    assert looked_at.returncode == 0, looked_at.stdout


def test_it_is_waited_for_until_it_has_ended_by_itself() -> None:
    [seconds] = re.findall(r"^TimeoutStopSec=(\d+)s$", (DEPLOY / "mainstay.service").read_text(), re.MULTILINE)
    assert int(seconds) > 2 * GRACE_SECONDS


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_it_writes_nowhere_but_to_what_it_keeps(name: str) -> None:
    unit = (DEPLOY / name).read_text("utf-8")
    assert read_unit_values(unit, "ProtectSystem") == ["strict"]
    assert read_unit_values(unit, "ReadWritePaths") == []
    [kept] = read_unit_values(unit, "StateDirectory")
    assert kept.split() == ["mainstay/data", "mainstay/backups"][: len(kept.split())]
    assert read_unit_values(unit, "User") == ["mainstay"]
