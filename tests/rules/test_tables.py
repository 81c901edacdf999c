"""Which area owns which table follows from the source; an area writes only its own, and reads only those below it."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rules.test_source import SOURCE

ROOT = Path(__file__).parents[2]
AREAS = SOURCE / "business"
# Areas that write a table of another one, with the reason.
WRITES_ELSEWHERE = {
    ("jobs", "material"): "what is billable of a job follows at once from how the job is billed, and jobs are below",
    ("customers", "own_job"): "merging customers moves records of every area",
}
# Areas that read a table of an area above them, with the reason.
READS_ABOVE = {
    ("customers", "job"): "whether a customer can be archived",
    ("customers", "own_job"): "people see the customers of the jobs they see",
    ("jobs", "material"): "closing a job warns of what is on no invoice",
    ("jobs", "time_entry"): "the same",
    ("quotes", "invoice"): "a quote shows the invoice of its deposit",
}
_WRITE_PATTERN = re.compile(r"\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+([a-z_]+)")
_INSERT_PATTERN = re.compile(r"\bINSERT INTO\s+([a-z_]+)")
_READ_PATTERN = re.compile(r"\b(?:FROM|JOIN)\s+([a-z_]+)")


def area_of(path: Path) -> str:
    return path.relative_to(AREAS).parts[0]


@cache
def parse_file(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def find_texts(path: Path) -> Iterator[str]:
    """Each text of a file; values within one are left out."""
    for node in ast.walk(parse_file(path)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else " ? " for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "select_related":
            yield f"FROM {ast.literal_eval(node.args[0])}"


def find_source_tables(path: Path) -> Iterator[str]:
    """The tables of the record stores that a file defines."""
    for node in ast.walk(parse_file(path)):
        if isinstance(node, ast.keyword) and node.arg == "source" and isinstance(node.value, ast.Constant):
            yield str(node.value.value).split()[0]


def find_areas_by_table(pattern: re.Pattern[str]) -> dict[str, set[str]]:
    """The areas in whose statements each table is named like this."""
    found = defaultdict(set)
    for path in AREAS.rglob("*.py"):
        for text in find_texts(path):
            for table in pattern.findall(text):
                found[table].add(area_of(path))
    return found


def find_owners() -> dict[str, str]:
    """The area that owns each table: it has the record store for it, or else it alone inserts rows."""
    found = {table: area_of(path) for path in AREAS.rglob("*.py") for table in find_source_tables(path)}
    inserted = find_areas_by_table(_INSERT_PATTERN)
    return {table: next(iter(areas)) for table, areas in inserted.items() if len(areas) == 1} | found


def read_layers() -> dict[str, int]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (areas,) = (one["layers"] for one in contracts if one["name"] == "Business areas are layers")
    return {name: -level for level, line in enumerate(areas) for name in re.findall(r"\w+", line)}


def test_an_area_writes_only_its_own_tables() -> None:
    owned = find_owners()
    found = {
        (area, table)
        for table, areas in find_areas_by_table(_WRITE_PATTERN).items()
        for area in areas
        if owned.get(table, area) != area
    }
    assert len(owned) > 30
    assert found == WRITES_ELSEWHERE.keys()


def test_an_area_reads_only_tables_of_areas_below_it() -> None:
    owned, level = find_owners(), read_layers()
    found = {
        (area, table)
        for table, areas in find_areas_by_table(_READ_PATTERN).items()
        for area in areas
        if table in owned and level[owned[table]] > level[area]
    }
    assert found == READS_ABOVE.keys()
