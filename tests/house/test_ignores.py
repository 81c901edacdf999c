"""What checks are told to pass over is there to be passed over, and every room has floors of its own."""

import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
LINT = TOOLS["ruff"]["lint"]
PASSED_OVER = {*LINT["ignore"], *(code for codes in LINT["per-file-ignores"].values() for code in codes)}


def broken_rules() -> dict[Path, set[str]]:
    """Which of the rules that are passed over each file breaks."""
    unexcused = ("lint.ignore=[]", "lint.per-file-ignores={}")
    chosen = ["--select", ",".join(sorted(PASSED_OVER)), *(part for one in unexcused for part in ("--config", one))]
    ruff = Path(sys.executable).with_name("ruff")
    told = subprocess.run(
        [ruff, "check", "--no-cache", "--output-format", "concise", *chosen, "."],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    ).stdout
    found = defaultdict(set)
    for line in told.splitlines():
        place, _, rest = line.partition(": ")
        if path := place.rsplit(":", 2)[0].removesuffix(":"):
            found[ROOT / path].add(rest.split(" ")[0])
    return found


def test_every_rule_that_is_passed_over_would_be_broken() -> None:
    broken = broken_rules()
    everywhere = set().union(*broken.values())
    needless = {("everywhere", code) for code in LINT["ignore"] if code not in everywhere}
    for pattern, codes in LINT["per-file-ignores"].items():
        there = {
            code for path in ROOT.glob(pattern + "/*" if pattern.endswith("**") else pattern) for code in broken[path]
        }
        needless |= {(pattern, code) for code in codes if not any(one.startswith(code) for one in there)}
    assert needless == set()


def test_every_room_says_how_its_files_stand_on_each_other() -> None:
    layered = {room for contract in TOOLS["importlinter"]["contracts"] for room in contract.get("containers", ())}
    rooms = {path.parent.name for path in (ROOT / "src" / "mainstay" / "business").glob("*/__init__.py")}
    assert {f"mainstay.business.{room}" for room in rooms} <= layered
