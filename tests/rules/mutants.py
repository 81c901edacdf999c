"""Run tests against every mutant of one source file and print the mutants that no test noticed; see CONTRIBUTING.md.

Usage: mutants.py FOLDER_OF_COSMIC_RAY FILE TESTS…
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

ROOT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "data", "results")
# Each operator is replaced by its nearest neighbour only, and `|` stays as it is: it mostly joins types.
CONFIG_TEMPLATE = """
[cosmic-ray]
module-path = {file}
test-command = {command}
timeout = {timeout}

[cosmic-ray.distributor]
name = "local"

[cosmic-ray.filters.operators-filter]
exclude-operators = [
    'core/ReplaceBinaryOperator_(?!Add_Sub|Sub_Add|Mul_FloorDiv|FloorDiv_Mul|Div_Mul|Mod_FloorDiv|Pow_Mul)',
    'core/ReplaceComparisonOperator_(?!(Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Is_IsNot|IsNot_Is)$)',
    'core/ReplaceUnaryOperator_(?!Delete)',
    'core/RemoveDecorator',
]
"""


@dataclass(frozen=True)
class MutationRun:
    """A run of tests against every mutant of one file, in a copy of the project."""

    # The folder with the programs of Cosmic Ray.
    programs: Path
    project_copy: Path
    file: str
    tests: list[str]

    def find_survivors(self) -> list[str]:
        """Try every mutant; return a description of each that no test noticed, and how many those are."""
        timeout = 10 + 3 * self._time_without_mutant()
        config = {"file": self.file, "command": shlex.join(self._test_command()), "timeout": round(timeout, 1)}
        (self.project_copy / "mutants.toml").write_text(
            CONFIG_TEMPLATE.format_map({name: json.dumps(value) for name, value in config.items()})
        )
        self._run(self.programs / "cosmic-ray", "init", "mutants.toml", "mutants.sqlite")
        self._run(self.programs / "cr-filter-operators", "mutants.sqlite", "mutants.toml")
        self._run(self.programs / "cosmic-ray", "exec", "mutants.toml", "mutants.sqlite")
        dump = self._run(self.programs / "cosmic-ray", "dump", "mutants.sqlite")
        tried = [
            (item["mutations"][0], result)
            for item, result in map(json.loads, dump.splitlines())
            if result["worker_outcome"] == "normal"
        ]
        survivors = [_describe(mutation, result) for mutation, result in tried if result["test_outcome"] == "survived"]
        return [*survivors, f"{len(survivors)} of {len(tried)} mutants of {self.file} survived."]

    def _time_without_mutant(self) -> float:
        """Return how many seconds the tests take while nothing is changed."""
        started_at = monotonic()
        self._run(*self._test_command())
        return monotonic() - started_at

    def _test_command(self) -> list[str]:
        options = ["-x", "-q", "--tb=short", "-m", "not long", f"--basetemp={self.project_copy / 'run'}"]
        return [sys.executable, "-m", "pytest", *options, *self.tests]

    def _run(self, *command: str | Path) -> str:
        environment = os.environ | {"PYTHONPATH": str(self.project_copy / "src")}
        result = subprocess.run(
            command, cwd=self.project_copy, env=environment, capture_output=True, text=True, check=False
        )
        if result.returncode:
            sys.exit(f"{shlex.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
        return result.stdout


def _describe(mutation: dict[str, list[int]], result: dict[str, str]) -> str:
    """Return the line number of a mutant, and the lines that it removes and adds."""
    lines = [line for line in result["diff"].splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
    return "\n".join([f"line {mutation['start_pos'][0]}", *lines, ""])


def main(programs: str, file: str, *tests: str) -> None:
    """Copy the project and print the mutants that survived."""
    with TemporaryDirectory() as folder:
        project_copy = Path(folder) / "copy"
        shutil.copytree(ROOT, project_copy, ignore=NOT_COPIED)
        (project_copy / ".venv").symlink_to(ROOT / ".venv")
        run = MutationRun(Path(programs).absolute(), project_copy, file, [*tests])
        for text in run.find_survivors():
            sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
