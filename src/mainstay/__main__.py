"""`python -m mainstay`, and the command `mainstay`."""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from mainstay.backing.processes import begin_worker
from mainstay.doors.cli.line import House, run
from mainstay.late import late
from mainstay.settings import Settings


def main() -> None:
    """Do what the command line says."""
    # Nothing of what is imported and made now goes away again, and looking for it takes a tenth of a command's time.
    # What goes on for longer begins to look once it stands.
    gc.disable()
    # Nobody's plugin looks at what is checked here, and none is looked for in everything that is installed.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.exit(run(HOUSE, sys.argv[1:]))


def _serve(settings: Settings, _words: Namespace) -> None:
    late("mainstay.serving").serve(settings)


def _worker(settings: Settings, words: Namespace) -> None:
    begin_worker(words.end_with_parent)
    working = late("mainstay.working")
    gc.enable()
    working.work(settings)


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


def _of(module: str, command: str) -> Callable[[Settings, Namespace], dict[str, Any]]:
    """A command that is in a module of its own, which is imported when it is given."""

    def run_it(settings: Settings, words: Namespace) -> dict[str, Any]:
        outcome: dict[str, Any] = getattr(late(f"mainstay.doors.cli.{module}"), command)(settings, words)
        return outcome

    return run_it


HOUSE = House(
    "mainstay.staging",
    {
        "serve": _serve,
        "worker": _worker,
        "migrate": _migrate,
        "openapi": _openapi,
        "version": _version,
        **{command: _of("safekeeping", command) for command in ("check", "backup", "restore", "move")},
        "mail_test": _of("mail", "mail_test"),
        "doctor": _of("doctor", "doctor"),
    },
)


if __name__ == "__main__":
    main()
