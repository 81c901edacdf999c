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
from mainstay.settings import MEANINGS, PREFIX, Settings, WrongSetting, is_readable, read_settings
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
        _check_readable(arguments)
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


def _check_readable(arguments: Sequence[str]) -> None:
    for word in arguments:
        if not is_readable(word):
            shown = word.encode(errors="surrogateescape").decode(errors="replace")
            raise WrongSetting(f"A word of the command is no text in UTF-8: {shown}")


def _command(house: House, settings: Settings, words: argparse.Namespace) -> Outcome:
    staging = late(house.staging)
    stage = staging.open_stage(settings)
    try:
        operator = late("mainstay.doors.cli.operator").Operator(
            stage,
            partial(staging.open_signer, settings),
            settings.base_url,
            staging.open_files(settings),
            partial(staging.open_link_maker, settings),
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
    adding.whole("doctor", "say what is wrong with this installation, and how to mend it")
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


# What is named in many commands, and how.
_MEANT = {
    "organisation": "the organisation's id or name",
    "person": "the person's id, e-mail address or name",
}


def _name(parser: argparse.ArgumentParser, *flags: str) -> None:
    """Let these be named, which have to be."""
    for flag in flags:
        parser.add_argument(flag, required=True, help=_MEANT[flag.removeprefix("--")])


def _add_organisation(adding: _Adding) -> None:
    group = adding.group("organisation", "organisations")
    create = group.command("create", "a new organisation with its owner", "organisation_create")
    create.add_argument("--name", required=True, help="what people call it")
    create.add_argument("--owner-name", required=True, help="the owner's full name")
    create.add_argument("--owner-email", required=True, help="the address with which the owner signs in")
    create.add_argument("--country", help="two letters, such as DE (default: GB)")
    create.add_argument("--currency", help="three letters, such as EUR (default: GBP)")
    create.add_argument("--time-zone", help="such as Europe/Berlin (default: Europe/London)")
    _add_password(create)
    group.command("list", "every organisation", "organisation_list")


def _add_person(adding: _Adding) -> None:
    group = adding.group("person", "people of an organisation")
    add = group.command("add", "add a person who can sign in at once", "person_add")
    _name(add, "--organisation")
    add.add_argument("--name", required=True, help="the person's full name")
    add.add_argument("--email", required=True, help="the address with which they sign in")
    add.add_argument("--role", required=True, choices=[role.value for role in Role], help="what they may do")
    _add_password(add)
    _name(group.command("list", "everyone who has not left", "person_list"), "--organisation")
    password = group.command("password", "make a link to a new password, which works once", "person_password")
    _name(password, "--organisation", "--person")
    leave = group.command("leave", "let a person leave, with their keys and connections", "person_leave")
    _name(leave, "--organisation", "--person")


def _add_key(adding: _Adding) -> None:
    group = adding.group("key", "API keys")
    create = group.command("create", "a new key, shown once", "key_create")
    _name(create, "--organisation", "--person")
    create.add_argument("--name", required=True, help="what the key is for")
    access = [access.value for access in Access]
    create.add_argument("--access", required=True, choices=access, help="whether it may also change things")
    group.command("revoke", "end a key", "key_revoke").add_argument("key", help="the key's id")
    _name(group.command("list", "every key", "key_list"), "--organisation")


def _add_webhook(adding: _Adding) -> None:
    group = adding.group("webhook", "where events are sent to")
    create = group.command("create", "a new webhook; its secret is shown once", "webhook_create")
    _name(create, "--organisation")
    create.add_argument("--url", required=True, help="where events are posted to")
    create.add_argument("--event", nargs="+", action="extend", metavar="KIND", help="a kind to send (default: all)")
    _name(group.command("list", "every webhook", "webhook_list"), "--organisation")
    delete = group.command("delete", "delete a webhook, with its delivery log", "webhook_delete")
    delete.add_argument("webhook", help="the webhook's id")


def _add_subscription(adding: _Adding) -> None:
    group = adding.group("subscription", "whether an organisation's records can be changed")
    for name, about in (("lapse", "close changes"), ("renew", "open changes"), ("show", "active or inactive")):
        command = group.command(name, about, f"subscription_{name}")
        command.add_argument("organisation", help=_MEANT["organisation"])


def _add_outbox(adding: _Adding) -> None:
    group = adding.group("outbox", "what is done after a change, and what of it failed")
    group.command("list", "what failed, and how much waits", "outbox_list")
    for name, about in (("retry", "try again what failed"), ("drop", "never do what failed")):
        group.command(name, about, f"outbox_{name}").add_argument("work", help="the id that `outbox list` tells")


def _add_password(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _add_setting(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(f"--{name.replace('_', '-')}", dest=f"set_{name}", help=MEANINGS[name], metavar="…")
