"""An agent that knows only the list of tools, its task, and the answers so far."""

import re
from typing import Any

from support.mcp_client import call_legacy, call_tool
from support.servers import RunningServer

Record = dict[str, Any]

_ID = re.compile(r"\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b")


class ScriptedAgent:
    """Counts its calls, and fails if it invents anything: tools, arguments or ids."""

    def __init__(self, server: RunningServer, token: str) -> None:
        self._server, self._token = server, token
        self._tools = {tool["name"]: tool for tool in call_legacy(server, token, "tools/list")["tools"]}
        self._seen_text = ""
        self.calls: list[str] = []

    def begin_task(self, task: str) -> None:
        """Begin a task, and forget the one before."""
        self._seen_text, self.calls = task, []

    def call(self, tool: str, /, **arguments: Any) -> Record:
        """Call a tool and return its answer; an irreversible operation is previewed first, then confirmed."""
        answer = self._call_once(tool, arguments)
        if answer.get("status") != "preview":
            return answer
        assert answer["preview"]["blockers"] == []
        result: Record = self._call_once(tool, arguments | {"confirmed": True})["result"]
        return result

    def find(self, kind: str, words: str) -> str:
        """Return the id of the only record of a kind that is found by some words."""
        hits = self.call("search", text=words)["hits"]
        [found] = [hit["id"] for hit in hits if hit["object"] == kind]
        return str(found)

    def _call_once(self, tool: str, arguments: Record) -> Record:
        schema = self._tools[tool]["inputSchema"]
        assert arguments.keys() <= schema["properties"].keys(), "it is told of every argument there is"
        invented_ids = {*_ID.findall(str(arguments))} - {*_ID.findall(self._seen_text)}
        assert invented_ids == set(), "it was told every id that it knows"
        self.calls.append(tool)
        result = call_tool(self._server, self._token, tool, **arguments)
        self._seen_text += str(result["content"])
        assert result["isError"] is False, result["content"]
        answer: Record = result["structuredContent"]
        return answer
