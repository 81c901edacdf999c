"""The command line: parses the arguments, runs the command and prints its outcome."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from mainstay.doors.cli.output import CheckFailed, format_outcome
from mainstay.infrastructure.database import DatabaseUnavailable, NewerSchema, OlderSchema
from mainstay.infrastructure.files import FileStoreUnavailable
from mainstay.lazy_import import import_lazily
from mainstay.settings import DESCRIPTIONS, PREFIX, SettingError, Settings, is_readable, read_settings
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.permissions import Access, Role
from mainstay.vocabulary.refusal import Refusal

EXIT_DONE, EXIT_REFUSED = 0, 1
# The kinds of tasks of an evaluation. Their module is too large to import for its names.
EVALUATION_KINDS = ("read", "draft", "irreversible", "injection")

# The modules of the commands about organisations, by the first word of the command. Only the one that is needed is
# imported.
_COMMAND_MODULES = {
    "organisation": "mainstay.doors.cli.people",
    "person": "mainstay.doors.cli.people",
    "key": "mainstay.doors.cli.keys",
    "webhook": "mainstay.doors.cli.webhooks",
    "subscription": "mainstay.doors.cli.subscriptions",
    "outbox": "mainstay.doors.cli.outbox",
    "demo": "mainstay.doors.cli.demo",
}


@dataclass(frozen=True, slots=True)
class CommandLineSetup:
    """What the command line is built from."""

    # The module that builds a `Performer`, imported only for the commands that need one.
    composition_module: str
    # The commands about the whole installation, which perform no operations, by name.
    standalone_commands: dict[str, Callable[[Settings, argparse.Namespace], JsonObject | None]]


def run_command_line(setup: CommandLineSetup, arguments: Sequence[str]) -> int:
    """Run the command in the arguments, and return the exit code."""
    options = _build_parser().parse_args(arguments)
    exit_code, outcome = EXIT_DONE, None
    try:
        _check_readable(arguments)
        settings = read_settings(_merge_environment(options))
        if options.command in setup.standalone_commands:
            outcome = setup.standalone_commands[options.command](settings, options)
        else:
            outcome = _run_operator_command(setup, settings, options)
    except (Refusal, SettingError, DatabaseUnavailable, FileStoreUnavailable, NewerSchema, OlderSchema) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return EXIT_REFUSED
    except CheckFailed as failure:
        sys.stderr.write(f"{failure}\n")
        exit_code, outcome = EXIT_REFUSED, failure.outcome
    if outcome is not None:
        text = format_outcome(options.command, outcome, settings.base_url)
        sys.stdout.write(orjson.dumps(outcome).decode() + "\n" if options.json else text)
    return exit_code


def _check_readable(arguments: Sequence[str]) -> None:
    for argument in arguments:
        if not is_readable(argument):
            text = argument.encode(errors="surrogateescape").decode(errors="replace")
            raise SettingError(f"An argument is not text in UTF-8: {text}")


def _run_operator_command(setup: CommandLineSetup, settings: Settings, options: argparse.Namespace) -> JsonObject:
    composition = import_lazily(setup.composition_module)
    performer = composition.open_performer(settings)
    try:
        operator = import_lazily("mainstay.doors.cli.operator").Operator(
            performer,
            partial(composition.open_signer, settings),
            settings.base_url,
            composition.open_files(settings),
            partial(composition.open_link_maker, settings),
        )
        outcome: JsonObject = getattr(import_lazily(options.module), options.command)(operator, options)
        return outcome
    finally:
        performer.database.close()


def _merge_environment(options: argparse.Namespace) -> dict[str, str]:
    """Return the environment, overridden by the flags of the command."""
    flags = {PREFIX + name.upper(): value for name in DESCRIPTIONS if (value := getattr(options, f"set_{name}", None))}
    return {**os.environ, **flags}


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mainstay", description="Business management for the trades and services.")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print one JSON object")
    for name in ("data", "database"):
        _add_setting_option(shared, name)
    commands = _CommandAdder(parser.add_subparsers(required=True, metavar="command"), shared)

    serve = commands.add_standalone("serve", "run the server, with the worker")
    for name in DESCRIPTIONS:
        if name not in {"data", "database"}:
            _add_setting_option(serve, name)
    demo = commands.add_command("demo", "create a demo organisation, or new keys for it", "demo")
    demo.add_argument("--large", action="store_true", help="with 20,000 jobs; takes some minutes")
    commands.add_standalone("migrate", "update the database to the latest schema")
    commands.add_standalone("adopt", "accept the secret and the files here, if the former ones are lost for good")
    worker = commands.add_standalone("worker", "run background tasks only, without the server")
    worker.add_argument("--end-with-parent", type=int, help=argparse.SUPPRESS)
    commands.add_standalone("doctor", "find problems of this installation, and say how to fix them")
    _add_backup_commands(commands)
    commands.add_standalone("openapi", "print the OpenAPI description of the HTTP API")
    commands.add_standalone("version", "print the version")
    _add_organisation_commands(commands)
    _add_person_commands(commands)
    _add_key_commands(commands)
    _add_webhook_commands(commands)
    _add_subscription_commands(commands)
    _add_outbox_commands(commands)
    mail = commands.add_group("mail", "check that emails are sent").add_standalone(
        "test", "send a test email", "mail_test"
    )
    mail.add_argument("address", help="the recipient's email address")
    _add_assistant_commands(commands)
    return parser


@dataclass(frozen=True, slots=True)
class _CommandAdder:
    """Adds commands to a parser, with the options that all commands share."""

    subparsers: Any
    shared_options: argparse.ArgumentParser

    def add_standalone(self, name: str, help_text: str, command: str | None = None) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self.subparsers.add_parser(
            name, help=help_text, parents=[self.shared_options]
        )
        parser.set_defaults(command=command or name)
        return parser

    def add_group(self, name: str, help_text: str) -> "_CommandAdder":
        parser = self.subparsers.add_parser(name, help=help_text)
        return _CommandAdder(parser.add_subparsers(required=True, metavar="command"), self.shared_options)

    def add_command(self, name: str, help_text: str, command: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self.subparsers.add_parser(
            name, help=help_text, parents=[self.shared_options]
        )
        parser.set_defaults(module=_COMMAND_MODULES[command.partition("_")[0]], command=command)
        return parser


def _add_backup_commands(commands: _CommandAdder) -> None:
    backup = commands.add_standalone("backup", "copy everything into one file, also while the server runs")
    backup.add_argument("file", help="the new file")
    backup.add_argument(
        "--without-files", action="store_true", help="only the database and the secret, if files/ is copied otherwise"
    )
    verify = commands.add_standalone(
        "verify-backup", "restore a backup into a temporary place, check it and remove it", "verify_backup"
    )
    verify.add_argument("file", help="the backup")
    restore = commands.add_standalone("restore", "restore a backup into an empty place, and check it")
    restore.add_argument("file", help="the backup")
    move = commands.add_standalone("move", "copy everything to another database, and check it; stop the server first")
    move.add_argument("--to", required=True, help="postgresql://…, or a folder for the embedded database and files")
    files = commands.add_group("files", "photos, documents and logos")
    files_move = files.add_standalone(
        "move", "copy the files to another store; repeat it after the server was stopped", "files_move"
    )
    files_move.add_argument("--to", required=True, help="what MAINSTAY_FILES will be: s3://…, or `folder`")
    commands.add_standalone("check", "check all stored data and name what is wrong, without changing anything")


# The help of the arguments that many commands share.
_ARGUMENT_HELP = {
    "organisation": "the organisation's ID or name",
    "person": "the person's ID, email or name",
}


def _require_arguments(parser: argparse.ArgumentParser, *flags: str) -> None:
    """Add these required arguments."""
    for flag in flags:
        parser.add_argument(flag, required=True, help=_ARGUMENT_HELP[flag.removeprefix("--")])


def _add_organisation_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("organisation", "organisations")
    create = group.add_command("create", "create an organisation with its owner", "organisation_create")
    create.add_argument("--name", required=True, help="the organisation's name")
    create.add_argument("--owner-name", required=True, help="the owner's full name")
    create.add_argument("--owner-email", required=True, help="the owner's email for signing in")
    create.add_argument("--country", help="two letters, such as DE (default: GB)")
    create.add_argument("--currency", help="three letters, such as EUR (default: GBP)")
    create.add_argument("--time-zone", help="such as Europe/Berlin (default: Europe/London)")
    _add_password_option(create)
    group.add_command("list", "list all organisations", "organisation_list")


def _add_person_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("person", "people of an organisation")
    add = group.add_command("add", "add a person who can sign in at once", "person_add")
    _require_arguments(add, "--organisation")
    add.add_argument("--name", required=True, help="the person's full name")
    add.add_argument("--email", required=True, help="their email for signing in")
    add.add_argument("--role", required=True, choices=[role.value for role in Role], help="their role")
    _add_password_option(add)
    _require_arguments(group.add_command("list", "list all people who have not left", "person_list"), "--organisation")
    password = group.add_command("password", "create a one-time link to set a new password", "person_password")
    _require_arguments(password, "--organisation", "--person")
    leave = group.add_command("leave", "remove a person, with their keys and connections", "person_leave")
    _require_arguments(leave, "--organisation", "--person")


def _add_key_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("key", "API keys")
    create = group.add_command("create", "create a key; it is shown only once", "key_create")
    _require_arguments(create, "--organisation", "--person")
    create.add_argument("--name", required=True, help="what the key is for")
    access = [access.value for access in Access]
    create.add_argument("--access", required=True, choices=access, help="whether it may change records")
    group.add_command("revoke", "revoke a key", "key_revoke").add_argument("key", help="the key's ID")
    _require_arguments(group.add_command("list", "list all keys", "key_list"), "--organisation")


def _add_webhook_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("webhook", "webhooks")
    create = group.add_command("create", "create a webhook; its secret is shown only once", "webhook_create")
    _require_arguments(create, "--organisation")
    create.add_argument("--url", required=True, help="where events are sent")
    create.add_argument(
        "--event", nargs="+", action="extend", metavar="KIND", help="a type of event to send (default: all)"
    )
    _require_arguments(group.add_command("list", "list all webhooks", "webhook_list"), "--organisation")
    delete = group.add_command("delete", "delete a webhook, with its delivery log", "webhook_delete")
    delete.add_argument("webhook", help="the webhook's ID")


def _add_subscription_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("subscription", "subscriptions: whether records can be changed")
    for name, help_text in (
        ("lapse", "make the records read-only"),
        ("renew", "allow changes again"),
        ("show", "show whether it is active"),
    ):
        command = group.add_command(name, help_text, f"subscription_{name}")
        command.add_argument("organisation", help=_ARGUMENT_HELP["organisation"])


def _add_outbox_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("outbox", "background tasks, and those that failed")
    group.add_command("list", "list failed tasks, and count waiting ones", "outbox_list")
    for name, help_text in (("retry", "retry a failed task"), ("drop", "delete a failed task")):
        group.add_command(name, help_text, f"outbox_{name}").add_argument(
            "work", help="the task's ID, from `outbox list`"
        )


def _add_assistant_commands(commands: _CommandAdder) -> None:
    group = commands.add_group("assistant", "the assistant, and agents that do its work")
    evaluation = group.add_standalone(
        "eval", "let an agent do thirty tasks in a sample firm, and judge it", "assistant_eval"
    )
    evaluation.add_argument(
        "--mcp", action="store_true", help="an agent that connects over MCP (default: the built-in assistant)"
    )
    evaluation.add_argument("--model-url", help="address of its model (default: MAINSTAY_ASSISTANT_URL)", metavar="URL")
    evaluation.add_argument("--model", help="name of its model (default: MAINSTAY_ASSISTANT_MODEL)", metavar="NAME")
    evaluation.add_argument(
        "--dialect", choices=["chat", "messages", "responses"], help="protocol of its model (default: the setting's)"
    )
    evaluation.add_argument(
        "--port", type=int, default=8765, help="port to listen on, on this machine only (default: 8765)"
    )
    evaluation.add_argument("--task", nargs="+", action="extend", default=[], metavar="ID", help="only these tasks")
    evaluation.add_argument("--kind", choices=EVALUATION_KINDS, help="only tasks of this kind")


def _add_password_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _add_setting_option(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(f"--{name.replace('_', '-')}", dest=f"set_{name}", help=DESCRIPTIONS[name], metavar="…")
