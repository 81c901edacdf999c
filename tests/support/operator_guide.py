"""The document for operators as commands, and a home of the user `mainstay` in which they are run."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import mainstay
from mainstay.settings import read_settings
from support.servers import ServerProcess, start_command

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
HOST_NAME = "mainstay.example.com"
_HOME_PATH, _PORT = "/var/lib/mainstay", "8000"
# To install a version takes a minute, and more where there is much to do.
_TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class CommandBlock:
    """Commands under a heading, and who runs them."""

    heading: str
    user: str
    commands: str

    @property
    def needs_editing(self) -> bool:
        """Whether the reader must fill in where the source comes from."""
        return "git" in self.commands


@cache
def read_blocks() -> tuple[CommandBlock, ...]:
    """Every block of commands, in the order of the document."""
    text = (ROOT / "docs" / "running.md").read_text("utf-8")
    found, heading = [], ""
    for part in re.finditer(r"^#+ (?P<heading>[^\n]*)$|^```sh\n(?P<commands>.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if part["commands"] is None:
            heading = part["heading"]
        else:
            user = re.match(r"# as (\w+)", part["commands"])
            found.append(CommandBlock(heading, user[1] if user else "", part["commands"]))
    return tuple(found)


def find_mainstay_blocks(heading: str) -> list[CommandBlock]:
    """Return the blocks that the user `mainstay` runs under a heading."""
    return [
        block
        for block in read_blocks()
        if (block.heading, block.user) == (heading, "mainstay") and not block.needs_editing
    ]


@dataclass(frozen=True)
class GuideHome:
    """The home of the user `mainstay` in another place, with its server on another port; all else is as written."""

    path: Path
    port: int

    def put_source(self, *, full_source: bool = False) -> None:
        """Put the source there: all of it, or only its `deploy` with this version as the installed one."""
        source = self.path / "source"
        if full_source:
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / "src", source / "src", symlinks=True, ignore=ignore)
            for name in ("pyproject.toml", "requirements.lock", "README.md", "CHANGELOG.md", "LICENSE"):
                shutil.copy(ROOT / name, source)
        (source / "deploy").mkdir(parents=True)
        for file in DEPLOY.iterdir():
            copy = source / "deploy" / file.name
            copy.write_text(self.relocate(file.read_text("utf-8")), "utf-8")
            copy.chmod(file.stat().st_mode)
        if not full_source:
            (source / "deploy" / "new-version.sh").write_text(_INSTALL_THIS_VERSION, "utf-8")

    def relocate(self, text: str) -> str:
        """Replace the real home and port by these."""
        return re.sub(rf"\b{_PORT}\b", str(self.port), text.replace(_HOME_PATH, str(self.path)))

    def run_blocks(self, *blocks_to_run: CommandBlock) -> str:
        """Run blocks unchanged, and return their output."""
        output = ""
        for block in blocks_to_run:
            result = self.run(block.commands)
            assert result.returncode == 0, f"{block.commands}\n{result.stdout}\n{result.stderr}"
            output += result.stdout
        return output

    def run(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run commands in a login shell; the first that fails ends them."""
        shell = ["bash", "--login", "-e", "-o", "pipefail", "-c", commands]
        return subprocess.run(
            shell,
            env=self._environment,
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
        )

    def serve(self) -> AbstractContextManager[ServerProcess]:
        """Run what the unit of systemd starts, until the block ends."""
        [command] = read_unit_values(self.relocate((DEPLOY / "mainstay.service").read_text("utf-8")), "ExecStart")
        settings = replace(
            read_settings({}),
            data=self.path / "data",
            port=self.port,
            base_url=f"http://127.0.0.1:{self.port}",
        )
        return start_command(settings, ["bash", "--login", "-c", f"exec {command}"], self._environment)

    @property
    def _environment(self) -> dict[str, str]:
        # The machine of the tests may have many cores; and the long form uses its package index.
        inherited = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "PATH"}
        return inherited | {"HOME": str(self.path), "LANG": "C.UTF-8", "MAINSTAY_WORKERS": "2"}


# In place of a version that takes a minute to install: the one that is tested.
_INSTALL_THIS_VERSION = f"""#!/bin/sh
set -eu
mkdir -p "$HOME/versions"
new=$(mktemp -d "$HOME/versions/XXXXXX")
mkdir "$new/bin"
cat > "$new/bin/mainstay" <<'END'
#!/bin/sh
PYTHONPATH='{Path(mainstay.__file__).parents[1]}' exec '{sys.executable}' -m mainstay "$@"
END
chmod +x "$new/bin/mainstay"
ln -sfn "$new" "$HOME/next"
"""


def read_unit_values(unit: str, name: str) -> list[str]:
    """Return every value of a setting in a systemd unit."""
    return re.findall(rf"^{name}=(.*)$", unit, re.MULTILINE)
