"""Check that the tests notice deliberate breakages: each entry of `breakages.toml` must make its tests fail."""

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
TOPICS = ["money", "tenancy", "credentials", "durability"]
TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Breakage:
    """One edit of the source, and the tests that must fail because of it."""

    description: str
    file: str
    text: str
    replacement: str
    failing_tests: list[str]

    def find_problems(self) -> list[str]:
        """Return why this breakage no longer fits the source or the tests."""
        path = SOURCE / self.file
        count = path.read_text().count(self.text) if path.exists() else 0
        problems = [] if count == 1 else [f"{self.file} has {self.text!r} {count} times"]
        for test in self.failing_tests:
            file, _, name = test.partition("::")
            if not (TESTS / file).exists() or f"def {name}(" not in (TESTS / file).read_text():
                problems.append(f"there is no test {test}")
        return problems

    def apply_to(self, source: Path) -> None:
        """Break a copy of the source."""
        path = source / self.file
        path.write_text(path.read_text().replace(self.text, self.replacement))


ENTRIES = tomllib.loads(Path(__file__).with_name("breakages.toml").read_text())
BREAKAGES = [Breakage(**entry) for entries in ENTRIES.values() for entry in entries]


def test_breakages_are_sorted_by_topic_and_fit_the_source() -> None:
    assert list(ENTRIES) == TOPICS
    assert len({breakage.description for breakage in BREAKAGES}) == len(BREAKAGES)
    assert {breakage.description: problems for breakage in BREAKAGES if (problems := breakage.find_problems())} == {}


@pytest.mark.long
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.description)
def test_breakage_is_noticed(breakage: Breakage, tmp_path: Path) -> None:
    assert breakage.find_problems() == []
    broken = tmp_path / "src" / "mainstay"
    shutil.copytree(SOURCE, broken, ignore=shutil.ignore_patterns("__pycache__"))
    breakage.apply_to(broken)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    options = ["-q", "--tb=no", "-rf", f"--basetemp={tmp_path / 'run'}"]
    tests = [f"tests/{test}" for test in breakage.failing_tests]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(broken.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    # An error is not enough: a source that cannot be imported would prove nothing.
    assert result.returncode == pytest.ExitCode.TESTS_FAILED, result.stdout
    failed = {match[1] for match in re.finditer(r"^FAILED tests/(\S+?::\w+)", result.stdout, re.MULTILINE)}
    assert failed == set(breakage.failing_tests), result.stdout
