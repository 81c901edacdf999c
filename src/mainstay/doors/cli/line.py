"""The command line: its words, what they do, and how the outcome is told."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.backing.database import NewerSchema, Unreachable
from mainstay.doors.cli.telling import Outcome, Unsound, tell
from mainstay.late import late
from mainstay.settings import MEANINGS, PREFIX, Settings, WrongSetting, read_settings
from mainstay.terms.refusal import Refusal
from mainstay.terms.rights import Access, Role

DONE, REFUSED = 0, 1

# Where the commands are, about what happens in the house, by the word they begin with; most are not given, and their
# modules not needed.
_MODULES = {
    "organisation": "mainstay.doors.cli.people",
    "person": "mainstay.doors.cli.people",
    "key": "mainstay.doors.cli.keys",
    "webhook": "mainstay.doors.cli.webhooks",
    "subscription": "mainstay.doors.cli.subscriptions",
    "outbox": "mainstay.doors.cli.outbox",
    "demo": "mainstay.doors.cli.demo",
}


@dataclass(frozen=True, slots=True)
class House:
    """What the command line is given to command."""

    # The module that opens the stage, imported only by the commands that need one.
    staging: str
    # Commands about the house as a whole rather than about what happens in it, by name.
    whole: dict[str, Callable[[Settings, argparse.Namespace], Outcome | None]]


def run(house: House, arguments: Sequence[str]) -> int:
    """Do what the arguments say; the exit code."""
    words = _parser().parse_args(arguments)
    ended, outcome = DONE, None
    try:
        settings = read_settings(_environment(words))
        if words.command in house.whole:
            outcome = house.whole[words.command](settings, words)
        else:
            outcome = _command(house, settings, words)
    except (Refusal, WrongSetting, Unreachable, NewerSchema) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return REFUSED
    except Unsound as found:
        sys.stderr.write(f"{found}\n")
        ended, outcome = REFUSED, found.outcome
    if outcome is not None:
        told = tell(words.command, outcome, settings.base_url)
        sys.stdout.write(orjson.dumps(outcome).decode() + "\n" if words.json else told)
    return ended


def _command(house: House, settings: Settings, words: argparse.Namespace) -> Outcome:
    staging = late(house.staging)
    stage = staging.open_stage(settings)
    try:
        operator = late("mainstay.doors.cli.operator").Operator(
            stage, partial(staging.open_signer, settings), settings.base_url, staging.open_files(settings)
        )
        outcome: Outcome = getattr(late(words.module), words.command)(operator, words)
        return outcome
    finally:
        stage.database.close()


def _environment(words: argparse.Namespace) -> dict[str, str]:
    """The environment with the flags laid over it."""
    flags = {PREFIX + name.upper(): given for name in MEANINGS if (given := getattr(words, f"set_{name}", None))}
    return {**os.environ, **flags}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mainstay", description="Business management for the trades and services.")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print one JSON object")
    for name in ("data", "database"):
        _add_setting(shared, name)
    adding = _Adding(parser.add_subparsers(required=True, metavar="command"), shared)

    serve = adding.whole("serve", "serve all doors, with the worker beside them")
    for name in MEANINGS:
        if name not in {"data", "database"}:
            _add_setting(serve, name)
    demo = adding.command("demo", "make a demo organisation, or its keys anew", "demo")
    demo.add_argument("--large", action="store_true", help="one with 20,000 jobs, in some minutes")
    adding.whole("migrate", "bring the database to the newest schema")
    worker = adding.whole("worker", "empty the outbox, without serving")
    worker.add_argument("--end-with-parent", type=int, help=argparse.SUPPRESS)
    _add_safekeeping(adding)
    adding.whole("openapi", "print the OpenAPI description of the HTTP API")
    adding.whole("version", "print the version")
    _add_organisation(adding)
    _add_person(adding)
    _add_key(adding)
    _add_webhook(adding)
    _add_subscription(adding)
    _add_outbox(adding)
    mail = adding.group("mail", "whether mails leave").whole("test", "send one mail at once", "mail_test")
    mail.add_argument("address", help="to whom")
    return parser


@dataclass(frozen=True, slots=True)
class _Adding:
    """Adds commands with what they share."""

    places: Any
    shared: argparse.ArgumentParser

    def whole(self, name: str, about: str, command: str | None = None) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self.places.add_parser(name, help=about, parents=[self.shared])
        parser.set_defaults(command=command or name)
        return parser

    def group(self, name: str, about: str) -> "_Adding":
        parser = self.places.add_parser(name, help=about)
        return _Adding(parser.add_subparsers(required=True, metavar="command"), self.shared)

    def command(self, name: str, about: str, command: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self.places.add_parser(name, help=about, parents=[self.shared])
        parser.set_defaults(module=_MODULES[command.partition("_")[0]], command=command)
        return parser


def _add_safekeeping(adding: _Adding) -> None:
    backup = adding.whole("backup", "copy everything into one file, while it is served")
    backup.add_argument("file", help="the new file")
    restore = adding.whole("restore", "bring a backup back into an empty place, and prove it")
    restore.add_argument("file", help="the backup")
    move = adding.whole("move", "copy everything to another database, and prove it; stop the server first")
    move.add_argument("--to", required=True, help="postgresql://…, or a folder for the embedded database and files")
    adding.whole("check", "prove the books: name what is wrong with all that is kept, and change nothing")


def _add_organisation(adding: _Adding) -> None:
    group = adding.group("organisation", "organisations")
    create = group.command("create", "a new organisation with its owner", "organisation_create")
    for flag in ("--name", "--owner-name", "--owner-email"):
        create.add_argument(flag, required=True)
    for flag in ("--country", "--currency", "--time-zone"):
        create.add_argument(flag)
    _add_password(create)


def _add_person(adding: _Adding) -> None:
    group = adding.group("person", "people of an organisation")
    add = group.command("add", "add a person who can sign in at once", "person_add")
    for flag in ("--organisation", "--name", "--email"):
        add.add_argument(flag, required=True)
    add.add_argument("--role", required=True, choices=[role.value for role in Role])
    _add_password(add)
    leave = group.command("leave", "let a person leave, with their keys and connections", "person_leave")
    for flag in ("--organisation", "--person"):
        leave.add_argument(flag, required=True)


def _add_key(adding: _Adding) -> None:
    group = adding.group("key", "API keys")
    create = group.command("create", "a new key, shown once", "key_create")
    for flag in ("--organisation", "--person", "--name"):
        create.add_argument(flag, required=True)
    create.add_argument("--access", required=True, choices=[access.value for access in Access])
    group.command("revoke", "end a key", "key_revoke").add_argument("key")
    group.command("list", "every key", "key_list").add_argument("--organisation", required=True)


def _add_webhook(adding: _Adding) -> None:
    group = adding.group("webhook", "where events are sent to")
    create = group.command("create", "a new webhook; its secret is shown once", "webhook_create")
    for flag in ("--organisation", "--url"):
        create.add_argument(flag, required=True)
    create.add_argument("--event", nargs="+", action="extend", metavar="KIND", help="a kind to send (default: all)")
    group.command("list", "every webhook", "webhook_list").add_argument("--organisation", required=True)
    group.command("delete", "delete a webhook, with its delivery log", "webhook_delete").add_argument("webhook")


def _add_subscription(adding: _Adding) -> None:
    group = adding.group("subscription", "whether an organisation's records can be changed")
    group.command("lapse", "close changes", "subscription_lapse").add_argument("organisation")
    group.command("renew", "open changes", "subscription_renew").add_argument("organisation")
    group.command("show", "active or inactive", "subscription_show").add_argument("organisation")


def _add_outbox(adding: _Adding) -> None:
    group = adding.group("outbox", "what is done after a change, and what of it failed")
    group.command("list", "what failed, and how much waits", "outbox_list")
    group.command("retry", "try again what failed", "outbox_retry").add_argument("work")
    group.command("drop", "never do what failed", "outbox_drop").add_argument("work")


def _add_password(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _add_setting(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(f"--{name.replace('_', '-')}", dest=f"set_{name}", help=MEANINGS[name], metavar="…")
