"""A model that follows a script of an evaluated agent: each call of the script is one reply of the model."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from mainstay.evaluation.agent import TaskSession
from support.evaluated_agents import Record, Script, ScriptTools
from support.model_server import ModelServer, RecordedRequest
from support.model_streams import ScriptedCall, ScriptedTurn

_SECONDS = 60.0


class _CallsByModel(ScriptTools):
    """What a script does if the built-in assistant performs its calls, and its person clicks on cards."""

    def confirm(self, tool: str, /, **arguments: Any) -> Record:
        """Call an operation, whose result arrives after the person has decided."""
        done: Record = self.call(tool, **arguments)["result"]
        return done


class ScriptFollower:
    """Replies to the requests of one conversation as a script says."""

    def __init__(self, script: Script, session: TaskSession) -> None:
        self._replies: queue.Queue[ScriptedTurn] = queue.Queue()
        self._results: queue.Queue[str] = queue.Queue()
        tools = _CallsByModel(self._call, session)
        self._thread = threading.Thread(target=lambda: self._replies.put(ScriptedTurn(script(tools))), daemon=True)
        self._thread.start()
        self._answered = 0

    def answer(self, request: RecordedRequest) -> ScriptedTurn:
        """Return the next reply, after the script has got the result of its latest call."""
        if len(request.results) > self._answered:
            self._answered = len(request.results)
            self._results.put(request.results[-1].text)
        return self._replies.get(timeout=_SECONDS)

    def _call(self, tool: str, arguments: Record) -> Record:
        self._replies.put(ScriptedTurn(calls=(ScriptedCall(tool, arguments),)))
        text = self._results.get(timeout=_SECONDS)
        is_error = not text.startswith("{")
        content = None if is_error else orjson.loads(text.partition("\n")[0])
        return {"isError": is_error, "structuredContent": content, "content": text}


@contextmanager
def follow_script(model: ModelServer, script: Script, session: TaskSession) -> Iterator[None]:
    """Let a model follow a script until the block ends."""
    follower = ScriptFollower(script, session)
    model.answer = follower.answer
    yield
