"""An installation made by following the document for operators."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from support.browser_session import NewPerson
from support.operator_guide import GuideHome, find_mainstay_blocks
from support.servers import ServerProcess, free_port

_NEW_KEY = 'mainstay key create --organisation "Example Ltd" --person olivia@example.com --access write --name K --json'


@dataclass(frozen=True)
class DeployedInstallation:
    """A home with a running server, the output of its doctor, the first owner and a key of theirs."""

    home: GuideHome
    server: ServerProcess
    doctor_output: str
    owner: NewPerson
    key: str


def install_home(folder: Path, *, whole: bool = False) -> GuideHome:
    """Follow the document up to where settings are written; a whole installation takes a minute."""
    home = GuideHome(folder, free_port())
    home.put_source(full_source=whole)
    write_settings, *_ = find_mainstay_blocks("Its settings")
    home.run_blocks(*find_mainstay_blocks("The program"), write_settings)
    return home


@contextmanager
def deploy(home: GuideHome) -> Iterator[DeployedInstallation]:
    """Follow the document from there until the server runs."""
    _, run_doctor, make_first_organisation = find_mainstay_blocks("Its settings")
    doctor_output = home.run(run_doctor.commands).stdout
    output = home.run_blocks(make_first_organisation)
    owner_details = dict(re.findall(r"^  (\w+): (.+)$", output.partition("owner:")[2], re.MULTILINE))
    owner = NewPerson(owner_details["id"], owner_details["email"], owner_details["password"])
    key = orjson.loads(home.run(_NEW_KEY).stdout)["key"]
    with home.serve() as server:
        yield DeployedInstallation(home, server, doctor_output, owner, key)
