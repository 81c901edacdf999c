"""A new version over the data of an earlier one, and the way back, by the commands of the document."""

import os
import signal
import tarfile
from pathlib import Path

import pytest

from deployed import install
from guide import Block, Home, of_mainstay

# The data of a Mainstay with schema step 31, made by the version of that time: a bit of everything there was then.
EARLIER = Path(__file__).with_name("earlier.tar.xz")
STEPS_SINCE = (
    "0032_invoices",
    "0034_forgotten_events",
    "0035_purchasing",
    "0037_books",
    "0038_marks_alone",
    "0039_recorded_again",
    "0040_billable_materials",
    "0041_words_of_quotes",
    "0042_without_a_look",
    "0043_who_took_over",
    "0044_who_took_over_at_scale",
    "0045_letters_as_typed",
    "0046_what_changed",
    "0047_words_with_apostrophes",
    "0048_deliveries_in_order",
    "0049_crews_in_order",
    "0050_words_together",
    "0055_storage",
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """One in which an earlier version was used."""
    home = install(tmp_path / "home")
    with tarfile.open(EARLIER) as earlier:
        earlier.extractall(home.path, filter="data")
    return home


@pytest.fixture
def upgrade(home: Home) -> Block:
    """What is run once the new version is installed."""
    install_it, upgrade = of_mainstay("A new version")
    home.follow(install_it)
    return upgrade


def test_a_new_version_takes_over_the_data_of_an_earlier_one(home: Home, upgrade: Block) -> None:
    old, new = ((home.path / name).readlink() for name in ("current", "next"))

    said = home.follow(upgrade)

    assert [step for step in STEPS_SINCE if step not in said] == []
    assert "holds  The schema is the one this version knows" in said
    assert ((home.path / "current").readlink(), (home.path / "previous").readlink()) == (new, old)
    with home.serve() as server:
        assert server.request("GET", "/readyz").json() == {"status": "ready"}
        # All of its processes at once, as systemd does.
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(30) == 0


# A version whose migration fails when it has spoilt something.
FAILS = """#!/bin/sh
[ "$1" = version ] && exit
echo > ~/data/mainstay.db
exit 1
"""


def test_when_a_new_version_fails_everything_is_as_it_was(home: Home, upgrade: Block) -> None:
    (home.path / "next" / "bin" / "mainstay").write_text(FAILS)
    # Left from an upgrade before: the way back does not lead there.
    (home.path / "previous").symlink_to(home.path / "versions" / "older")
    old = (home.path / "current").readlink()

    ended = home.run(upgrade.commands)

    assert ended.returncode == 1
    assert (home.path / "data" / "mainstay.db").read_text() == "\n"

    said = home.follow(*of_mainstay("When a new version fails"))

    assert ("holds  The audit trail is unbroken" in said, "WRONG" in said) == (True, False)
    assert (home.path / "current").readlink() == old
    assert "Organisation 1" in home.run("mainstay organisation list").stdout
    [failed] = home.path.glob("data-that-failed-*")
    assert (failed / "mainstay.db").read_text() == "\n"
