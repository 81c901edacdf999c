"""Every ignored lint rule is needed, and every business area has a contract for its layers."""

import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
LINT = TOOLS["ruff"]["lint"]
IGNORED_RULES = {*LINT["ignore"], *(code for codes in LINT["per-file-ignores"].values() for code in codes)}


def find_broken_rules() -> dict[Path, set[str]]:
    """Return the ignored rules that each file breaks."""
    without_ignores = ("lint.ignore=[]", "lint.per-file-ignores={}")
    options = [
        "--select",
        ",".join(sorted(IGNORED_RULES)),
        *(part for one in without_ignores for part in ("--config", one)),
    ]
    ruff = Path(sys.executable).with_name("ruff")
    output = subprocess.run(
        [ruff, "check", "--no-cache", "--output-format", "concise", *options, "."],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    ).stdout
    found = defaultdict(set)
    for line in output.splitlines():
        place, _, rest = line.partition(": ")
        if path := place.rsplit(":", 2)[0].removesuffix(":"):
            found[ROOT / path].add(rest.split(" ")[0])
    return found


def test_every_rule_that_is_passed_over_would_be_broken() -> None:
    broken = find_broken_rules()
    everywhere = set().union(*broken.values())
    needless = {("everywhere", code) for code in LINT["ignore"] if code not in everywhere}
    for pattern, codes in LINT["per-file-ignores"].items():
        there = {
            code for path in ROOT.glob(pattern + "/*" if pattern.endswith("**") else pattern) for code in broken[path]
        }
        needless |= {(pattern, code) for code in codes if not any(one.startswith(code) for one in there)}
    assert needless == set()


def test_every_business_area_has_a_contract_for_its_layers() -> None:
    contracts = TOOLS["importlinter"]["contracts"]
    layered = {package for contract in contracts for package in contract.get("containers", ())}
    # A contract without containers names whole modules.
    layered |= {
        ".".join(module.split(".")[:3])
        for contract in contracts
        if "layers" in contract and "containers" not in contract
        for layer in contract["layers"]
        for module in layer.split(" | ")
    }
    areas = {path.parent.name for path in (ROOT / "src" / "mainstay" / "business").glob("*/__init__.py")}
    assert {f"mainstay.business.{area}" for area in areas} <= layered
