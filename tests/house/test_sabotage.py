"""Are the tests awake? Each entry of `sabotage.toml` breaks the product in one place; the tests named there notice."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "mainstay", ROOT / "tests"
SECONDS = 600


@dataclass(frozen=True)
class Sabotage:
    """One change of the source, and the tests that must go red."""

    what: str
    file: str
    old: str
    new: str
    red: list[str]

    def misfits(self) -> list[str]:
        """Why it cannot be carried out as it is written, if it cannot."""
        text = (SOURCE / self.file).read_text() if (SOURCE / self.file).exists() else ""
        found = [] if text.count(self.old) == 1 else [f"{self.old!r} is {text.count(self.old)} times in {self.file}"]
        for test in self.red:
            file, _, name = test.partition("::")
            path = TESTS / file
            if not path.exists() or f"def {name}(" not in path.read_text():
                found.append(f"there is no {test}")
        return found


SABOTAGES = [
    Sabotage(**given) for given in tomllib.loads(Path(__file__).with_name("sabotage.toml").read_text())["sabotage"]
]


def test_every_sabotage_still_fits_the_source_and_the_tests() -> None:
    assert len(SABOTAGES) >= 40
    assert {sabotage.what: sabotage.misfits() for sabotage in SABOTAGES if sabotage.misfits()} == {}


@pytest.mark.long
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.what)
def test_a_sabotage_is_noticed(sabotage: Sabotage, tmp_path: Path) -> None:
    assert sabotage.misfits() == []
    broken = tmp_path / "src" / "mainstay"
    shutil.copytree(SOURCE, broken, ignore=shutil.ignore_patterns("__pycache__"))
    file = broken / sabotage.file
    file.write_text(file.read_text().replace(sabotage.old, sabotage.new))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    quietly = ("-q", "--tb=no", "-rf", f"--basetemp={tmp_path / 'run'}")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *quietly, *(f"tests/{test}" for test in sabotage.red)],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(broken.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    # Failed, not merely broken: a source that cannot be imported would prove nothing.
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout
    failed = {found[1] for found in re.finditer(r"^FAILED tests/(\S+?::\w+)", ended.stdout, re.MULTILINE)}
    assert failed == {*sabotage.red}, ended.stdout
