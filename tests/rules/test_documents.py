import re
import tomllib
from pathlib import Path

import orjson
import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.settings import DESCRIPTIONS, PREFIX
from mainstay.vocabulary.record_json import to_json
from mainstay.webhooks.feed import list_events
from mainstay.webhooks.model import TEST_EVENT
from rules.documents import DOCUMENTS, ROOT, make_event_example
from rules.examples import DryRun


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_document_is_what_would_be_written_today(path: Path) -> None:
    assert path.read_text("utf-8") == DOCUMENTS[path](), "run `make documents`"


def test_every_operation_stands_in_the_table() -> None:
    text = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert [f"| `{operation.name}` |" in text for operation in CATALOGUE.operations] == [True] * len(
        CATALOGUE.operations
    )


def test_every_kind_of_event_has_a_chapter() -> None:
    text = (ROOT / "docs" / "events.md").read_text("utf-8")
    assert [
        kind for kind in (*(event.name for event in CATALOGUE.events), TEST_EVENT) if f"\n## `{kind}`\n" not in text
    ] == []


def test_the_example_of_an_event_has_the_fields_of_a_real_one(dry_run: DryRun) -> None:
    abouts = {event.name: event.output for event in CATALOGUE.events}
    feed = dry_run.open.cast.perform(list_events, limit=100)["data"]
    assert {event["type"] for event in feed} >= {"person.joined", "person.invited", "job.created", "job.scheduled"}
    for event in feed:
        example = orjson.loads(to_json(make_event_example(event["type"], abouts[event["type"]])))
        assert list(example) == list(event)
        assert list(example["data"]) == list(event["data"])
        assert list(example["data"]["object"]) == list(event["data"]["object"])


def test_every_setting_stands_in_the_table_of_the_operator() -> None:
    text = (ROOT / "docs" / "running.md").read_text("utf-8")
    assert [name for name in DESCRIPTIONS if f"`{PREFIX}{name.upper()}`" not in text] == []


def test_every_layer_stands_in_the_table_and_no_other() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = {name for layer in contracts[0]["layers"] for name in layer.split(" | ")}
    section = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("\n## Layers\n")[2].partition("\n## ")[0]
    table = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    assert {name for row in table for name in re.findall(r"`(\w+)/?`", row)} == layers


def test_a_decision_bears_the_number_of_its_file() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [path.read_text("utf-8").split(".")[0] for path in decisions]
    assert numbers == [f"# {int(path.name[:4])}" for path in decisions]
