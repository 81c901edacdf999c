"""Slow modules are imported only where they are used, so that a command starts at once."""

import subprocess
import sys

import pytest

from mainstay.settings import Settings, to_environment
from support.cast import Cast

# What only some use: drivers, clients, the server, templates, hashes, pictures, uploads, documents.
LIBRARIES = (
    "granian",
    "jinja2",
    "markdown_it",
    "multipart",
    "argon2",
    "PIL",
    "psycopg",
    "psycopg_pool",
    "redis",
    "httpx2",
    "typst",
    "segno",
)
_PRINT_MODULES = "import sys; sys.stderr.write(' '.join(sys.modules))"


def find_imported_modules(code: str, settings: Settings | None = None) -> set[str]:
    """Return the modules that are loaded after running code in a process of its own."""
    environment = to_environment(settings) if settings else {}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{_PRINT_MODULES}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), **environment},
    )
    return set(done.stderr.split())


def make_command_code(*words: str) -> str:
    return (
        "from mainstay.__main__ import COMMANDS\n"
        f"from mainstay.doors.cli.command_line import run_command_line\nassert run_command_line(COMMANDS, {words}) == 0"
    )


@pytest.mark.parametrize(
    "code", ["import mainstay.__main__", make_command_code("version"), make_command_code("version", "--json")]
)
def test_what_needs_no_installation_builds_none(code: str) -> None:
    modules = find_imported_modules(code)
    assert modules.isdisjoint({*LIBRARIES, "pydantic", "apsw", "mainstay.catalogue", "mainstay.kernel.perform"})


@pytest.mark.engines("sqlite")
def test_a_command_imports_what_it_does_and_nothing_else(settings: Settings, cast: Cast) -> None:
    modules = find_imported_modules(make_command_code("key", "list", "--organisation", cast.organisation), settings)
    assert "mainstay.identity.keys" in modules
    unwanted = {"catalogue", "business.people.operations", "business.people.joining", "webhooks.endpoints", "main"}
    assert modules.isdisjoint({*LIBRARIES, *(f"mainstay.{room}" for room in unwanted)})


@pytest.mark.engines("sqlite")
def test_what_a_command_answers_does_not_make_it_import_the_catalogue(settings: Settings, cast: Cast) -> None:
    modules = find_imported_modules(make_command_code("subscription", "show", cast.organisation), settings)
    assert modules.isdisjoint({*LIBRARIES, "mainstay.catalogue", "mainstay.identity.keys"})


def test_a_server_imports_no_driver_and_no_library_before_it_is_used() -> None:
    modules = find_imported_modules("import mainstay.serve_command")
    assert modules.isdisjoint({"markdown_it", "multipart", "PIL", "psycopg", "psycopg_pool", "redis"})
