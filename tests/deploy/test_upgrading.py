"""A new version over the data of an earlier one, and the way back, by the commands of the document."""

import os
import signal
import tarfile
from pathlib import Path

import pytest

from mainstay.infrastructure.migrations.apply import steps_for
from support.deployed import install_home
from support.operator_guide import CommandBlock, GuideHome, find_mainstay_blocks

# A data folder of the beta of 18 November 2026, made by that version.
EARLIER_DATA = Path(__file__).parents[1] / "maintenance" / "beta_2026_11_18" / "data.tar.gz"


@pytest.fixture
def earlier_home(tmp_path: Path) -> GuideHome:
    """One in which an earlier version was used."""
    home = install_home(tmp_path / "home")
    with tarfile.open(EARLIER_DATA) as earlier:
        earlier.extractall(home.path / "data", filter="data")
    return home


@pytest.fixture
def upgrade_block(earlier_home: GuideHome) -> CommandBlock:
    """What is run once the new version is installed."""
    install_it, upgrade = find_mainstay_blocks("A new version")
    earlier_home.run_blocks(install_it)
    return upgrade


def test_a_new_version_takes_over_the_data_of_an_earlier_one(
    earlier_home: GuideHome, upgrade_block: CommandBlock
) -> None:
    old, new = ((earlier_home.path / name).readlink() for name in ("current", "next"))

    output = earlier_home.run_blocks(upgrade_block)

    assert [step.name for step in steps_for("sqlite")[1:] if step.name not in output] == []
    assert "holds  The schema is the one this version knows" in output
    assert ((earlier_home.path / "current").readlink(), (earlier_home.path / "previous").readlink()) == (new, old)
    with earlier_home.serve() as server:
        assert server.request("GET", "/readyz").json() == {"status": "ready"}
        # All of its processes at once, as systemd does.
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(30) == 0


# A version whose migration fails when it has spoilt something.
FAILING_VERSION = """#!/bin/sh
[ "$1" = version ] && exit
echo > ~/data/mainstay.db
exit 1
"""


def test_when_a_new_version_fails_everything_is_as_it_was(earlier_home: GuideHome, upgrade_block: CommandBlock) -> None:
    (earlier_home.path / "next" / "bin" / "mainstay").write_text(FAILING_VERSION)
    # Left from an upgrade before: the way back does not lead there.
    (earlier_home.path / "previous").symlink_to(earlier_home.path / "versions" / "older")
    old = (earlier_home.path / "current").readlink()

    ended = earlier_home.run(upgrade_block.commands)

    assert ended.returncode == 1
    assert (earlier_home.path / "data" / "mainstay.db").read_text() == "\n"

    output = earlier_home.run_blocks(*find_mainstay_blocks("When a new version fails"))

    assert ("holds  The audit trail is unbroken" in output, "WRONG" in output) == (True, False)
    assert (earlier_home.path / "current").readlink() == old
    assert "Organisation 1" in earlier_home.run("mainstay organisation list").stdout
    [failed] = earlier_home.path.glob("data-that-failed-*")
    assert (failed / "mainstay.db").read_text() == "\n"
