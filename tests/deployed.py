"""An installation to which the document for operators has led, by following it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from guide import Home, of_mainstay
from running import ServerProcess, free_port
from visiting import Somebody

_NEW_KEY = 'mainstay key create --organisation "Example Ltd" --person olivia@example.com --access write --name K --json'


@dataclass(frozen=True)
class Deployed:
    """A home whose server runs, what its doctor said before it did, the first owner and a key of theirs."""

    home: Home
    server: ServerProcess
    examined: str
    owner: Somebody
    key: str


def install(folder: Path, *, whole: bool = False) -> Home:
    """Follow the document up to where settings are written; a whole installation takes a minute."""
    home = Home(folder, free_port())
    home.furnish(whole=whole)
    write_settings, *_ = of_mainstay("Its settings")
    home.follow(*of_mainstay("The program"), write_settings)
    return home


@contextmanager
def deploy(home: Home) -> Iterator[Deployed]:
    """Follow it from there up to where it is served."""
    _, examine, make_the_first = of_mainstay("Its settings")
    examined = home.run(examine.commands).stdout
    made = home.follow(make_the_first)
    told = dict(re.findall(r"^  (\w+): (.+)$", made.partition("owner:")[2], re.MULTILINE))
    owner = Somebody(told["id"], told["email"], told["password"])
    key = orjson.loads(home.run(_NEW_KEY).stdout)["key"]
    with home.serve() as server:
        yield Deployed(home, server, examined, owner, key)
