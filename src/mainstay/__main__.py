"""The command `mainstay`, also as `python -m mainstay`."""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from mainstay.doors.cli.command_line import CommandLineSetup, run_command_line
from mainstay.infrastructure.processes import prepare_worker_process
from mainstay.lazy_import import import_lazily
from mainstay.settings import Settings


def main() -> None:
    """Run the command line."""
    # What a command imports and creates stays until its end, and garbage collection would take a tenth of its time.
    # The server and the worker enable it again after their start.
    gc.disable()
    # Mainstay uses no Pydantic plugins, and looking for them in all installed packages takes time.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    sys.exit(run_command_line(COMMANDS, sys.argv[1:]))


def _serve(settings: Settings, _arguments: Namespace) -> None:
    import_lazily("mainstay.serve_command").serve(settings)


def _worker(settings: Settings, arguments: Namespace) -> None:
    prepare_worker_process(arguments.end_with_parent)
    worker_command = import_lazily("mainstay.worker_command")
    gc.enable()
    worker_command.work(settings)


def _migrate(settings: Settings, _arguments: Namespace) -> dict[str, Any]:
    database = import_lazily("mainstay.composition").connect(settings)
    try:
        return {"applied": import_lazily("mainstay.infrastructure.migrations.apply").migrate(database)}
    finally:
        database.close()


def _adopt(settings: Settings, _arguments: Namespace) -> dict[str, Any]:
    composition = import_lazily("mainstay.composition")
    database = composition.open_performer(settings).database
    try:
        composition.adopt_installation(settings, database)
    finally:
        database.close()
    return {"adopted": ["secret", "files"]}


def _openapi(settings: Settings, _arguments: Namespace) -> None:
    catalogue = import_lazily("mainstay.catalogue").CATALOGUE
    description: bytes = import_lazily("mainstay.doors.api.openapi").build_openapi(catalogue, settings.base_url)
    sys.stdout.write(description.decode() + "\n")


def _version(_settings: Settings, _arguments: Namespace) -> dict[str, Any]:
    return {"version": import_lazily("importlib.metadata").version("mainstay")}


def _lazy_command(module: str, command: str) -> Callable[[Settings, Namespace], dict[str, Any]]:
    """Return a command that imports its module when it is run."""

    def run_command(settings: Settings, arguments: Namespace) -> dict[str, Any]:
        outcome: dict[str, Any] = getattr(import_lazily(f"mainstay.{module}"), command)(settings, arguments)
        return outcome

    return run_command


COMMANDS = CommandLineSetup(
    "mainstay.composition",
    {
        "serve": _serve,
        "worker": _worker,
        "migrate": _migrate,
        "adopt": _adopt,
        "openapi": _openapi,
        "version": _version,
        **{
            command: _lazy_command("doors.cli.backups", command)
            for command in ("check", "backup", "verify_backup", "restore", "move", "files_move")
        },
        "mail_test": _lazy_command("doors.cli.mail", "mail_test"),
        "doctor": _lazy_command("doors.cli.doctor", "doctor"),
        "assistant_eval": _lazy_command("evaluation.command", "assistant_eval"),
    },
)


if __name__ == "__main__":
    main()
