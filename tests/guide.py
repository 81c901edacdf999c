"""The document for operators as commands, and a home of the user `mainstay` in which they are run as they stand."""

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
from running import ServerProcess, start_command

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
NAME = "mainstay.example.com"
_PLACE, _PORT = "/var/lib/mainstay", "8000"
# To install a version takes a minute, and more where there is much to do.
_SECONDS = 900


@dataclass(frozen=True)
class Block:
    """Commands under a heading, and who runs them."""

    heading: str
    who: str
    commands: str

    @property
    def has_to_be_filled_in(self) -> bool:
        """Whether it is about where the source comes from, which each reader has from elsewhere."""
        return "git" in self.commands


@cache
def blocks() -> tuple[Block, ...]:
    """Every block of commands, in the order of the document."""
    text = (ROOT / "docs" / "running.md").read_text("utf-8")
    found, heading = [], ""
    for part in re.finditer(r"^#+ (?P<heading>[^\n]*)$|^```sh\n(?P<commands>.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if part["commands"] is None:
            heading = part["heading"]
        else:
            who = re.match(r"# as (\w+)", part["commands"])
            found.append(Block(heading, who[1] if who else "", part["commands"]))
    return tuple(found)


def of_mainstay(heading: str) -> list[Block]:
    """What the user `mainstay` runs under a heading."""
    return [
        block
        for block in blocks()
        if (block.heading, block.who) == (heading, "mainstay") and not block.has_to_be_filled_in
    ]


@dataclass(frozen=True)
class Home:
    """The home of the user `mainstay` in another place, with its server on another port; all else is as written."""

    path: Path
    port: int

    def furnish(self, *, whole: bool = False) -> None:
        """Put the source there: all of it, or what is put in place of it, with a version that is installed already."""
        source = self.path / "source"
        if whole:
            left = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / "src", source / "src", symlinks=True, ignore=left)
            for name in ("pyproject.toml", "requirements.lock", "README.md", "CHANGELOG.md", "LICENSE"):
                shutil.copy(ROOT / name, source)
        (source / "deploy").mkdir(parents=True)
        for file in DEPLOY.iterdir():
            copy = source / "deploy" / file.name
            copy.write_text(self.moved(file.read_text("utf-8")), "utf-8")
            copy.chmod(file.stat().st_mode)
        if not whole:
            (source / "deploy" / "new-version.sh").write_text(_THIS_VERSION, "utf-8")

    def moved(self, text: str) -> str:
        """What is written for the real place and port, for these."""
        return re.sub(rf"\b{_PORT}\b", str(self.port), text.replace(_PLACE, str(self.path)))

    def follow(self, *steps: Block) -> str:
        """Run blocks as they stand; what they say."""
        said = ""
        for block in steps:
            ended = self.run(block.commands)
            assert ended.returncode == 0, f"{block.commands}\n{ended.stdout}\n{ended.stderr}"
            said += ended.stdout
        return said

    def run(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run commands as whoever has just signed in; the first that fails ends them."""
        shell = ["bash", "--login", "-e", "-o", "pipefail", "-c", commands]
        return subprocess.run(
            shell, env=self._environment, cwd=self.path, capture_output=True, text=True, check=False, timeout=_SECONDS
        )

    def serve(self) -> AbstractContextManager[ServerProcess]:
        """Run what the unit of systemd starts, until the block ends."""
        [started] = unit_lines(self.moved((DEPLOY / "mainstay.service").read_text("utf-8")), "ExecStart")
        settings = replace(
            read_settings({}),
            data=self.path / "data",
            port=self.port,
            base_url=f"http://127.0.0.1:{self.port}",
        )
        return start_command(settings, ["bash", "--login", "-c", f"exec {started}"], self._environment)

    @property
    def _environment(self) -> dict[str, str]:
        # Whoever runs the tests may have many cores; and the long form installs from where they do.
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "PATH"}
        return kept | {"HOME": str(self.path), "LANG": "C.UTF-8", "MAINSTAY_WORKERS": "2"}


# In place of a version that takes a minute to install: the one that is tested.
_THIS_VERSION = f"""#!/bin/sh
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


def unit_lines(unit: str, name: str) -> list[str]:
    """What a unit of systemd says about something, each time."""
    return re.findall(rf"^{name}=(.*)$", unit, re.MULTILINE)
