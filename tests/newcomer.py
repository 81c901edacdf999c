"""An agent that knows nothing of the house but its list of tools, what it was asked, and what it was answered."""

import re
from typing import Any

from agents import ask, call_tool
from running import RunningServer

Record = dict[str, Any]

_ID = re.compile(r"\b[a-z]+_[0-9A-HJKMNP-TV-Z]{26}\b")


class Newcomer:
    """Counts its calls, and is held to it that it makes up nothing: neither tools, nor arguments, nor ids."""

    def __init__(self, server: RunningServer, token: str) -> None:
        self._server, self._token = server, token
        self._tools = {tool["name"]: tool for tool in ask(server, token, "tools/list")["tools"]}
        self._heard = ""
        self.calls: list[str] = []

    def is_asked(self, task: str) -> None:
        """Begin with a task, and forget the one before."""
        self._heard, self.calls = task, []

    def call(self, tool: str, /, **arguments: Any) -> Record:
        """What a tool answers; what cannot be undone is looked at first, and then done."""
        answer = self._once(tool, arguments)
        if answer.get("status") != "preview":
            return answer
        assert answer["preview"]["blockers"] == []
        result: Record = self._once(tool, arguments | {"confirmed": True})["result"]
        return result

    def find(self, kind: str, words: str) -> str:
        """The id of the one record of a kind that is meant by some words."""
        hits = self.call("search", text=words)["hits"]
        [found] = [hit["id"] for hit in hits if hit["object"] == kind]
        return str(found)

    def _once(self, tool: str, arguments: Record) -> Record:
        schema = self._tools[tool]["inputSchema"]
        assert arguments.keys() <= schema["properties"].keys(), "it is told of every argument there is"
        made_up = {*_ID.findall(str(arguments))} - {*_ID.findall(self._heard)}
        assert made_up == set(), "it was told every id that it knows"
        self.calls.append(tool)
        result = call_tool(self._server, self._token, tool, **arguments)
        self._heard += str(result["content"])
        assert result["isError"] is False, result["content"]
        answer: Record = result["structuredContent"]
        return answer
