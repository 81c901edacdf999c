"""`python -m mainstay`, and the command `mainstay`."""

import gc
import sys
from argparse import Namespace
from typing import Any

from mainstay.backing.processes import end_with_parent
from mainstay.doors.cli.line import House, run
from mainstay.late import late
from mainstay.settings import Settings


def main() -> None:
    """Do what the command line says."""
    sys.exit(run(HOUSE, sys.argv[1:]))


def _serve(settings: Settings, _words: Namespace) -> None:
    # Nothing of what is imported and made now goes away again: looking for it would take a tenth of the time.
    gc.disable()
    late("mainstay.serving").serve(settings)


def _worker(settings: Settings, words: Namespace) -> None:
    if words.end_with_parent:
        end_with_parent(words.end_with_parent)
    late("mainstay.working").work(settings)


def _migrate(settings: Settings, _words: Namespace) -> dict[str, Any]:
    database = late("mainstay.staging").connect(settings)
    try:
        return {"applied": late("mainstay.backing.migrations.apply").migrate(database)}
    finally:
        database.close()


def _openapi(settings: Settings, _words: Namespace) -> None:
    catalogue = late("mainstay.catalogue").CATALOGUE
    described: bytes = late("mainstay.doors.api.openapi").describe(catalogue, settings.base_url)
    sys.stdout.write(described.decode() + "\n")


def _version(_settings: Settings, _words: Namespace) -> dict[str, Any]:
    return {"version": late("importlib.metadata").version("mainstay")}


HOUSE = House(
    "mainstay.staging",
    {"serve": _serve, "worker": _worker, "migrate": _migrate, "openapi": _openapi, "version": _version},
)


if __name__ == "__main__":
    main()
