"""`python -m mainstay`, and the command `mainstay`."""

import sys
from argparse import Namespace
from importlib.metadata import version
from typing import Any

from mainstay.backing.migrations.apply import migrate
from mainstay.backing.processes import end_with_parent
from mainstay.catalogue import CATALOGUE
from mainstay.doors.api.openapi import describe
from mainstay.doors.cli.line import House, run
from mainstay.main import connect, open_signer, open_stage, work
from mainstay.serving import serve
from mainstay.settings import Settings


def main() -> None:
    """Do what the command line says."""
    sys.exit(run(HOUSE, sys.argv[1:]))


def _serve(settings: Settings, _words: Namespace) -> None:
    serve(settings)


def _worker(settings: Settings, words: Namespace) -> None:
    if words.end_with_parent:
        end_with_parent(words.end_with_parent)
    work(settings)


def _migrate(settings: Settings, _words: Namespace) -> dict[str, Any]:
    database = connect(settings)
    try:
        return {"applied": migrate(database)}
    finally:
        database.close()


def _openapi(settings: Settings, _words: Namespace) -> None:
    sys.stdout.write(describe(CATALOGUE.operations, settings.base_url).decode() + "\n")


def _version(_settings: Settings, _words: Namespace) -> dict[str, Any]:
    return {"version": version("mainstay")}


HOUSE = House(
    open_stage,
    open_signer,
    {"serve": _serve, "worker": _worker, "migrate": _migrate, "openapi": _openapi, "version": _version},
)


if __name__ == "__main__":
    main()
