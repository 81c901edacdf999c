"""What is slow to import is imported only by what uses it: a command begins at once, however large the house is."""

import subprocess
import sys

import pytest

from cast import Cast
from mainstay.settings import Settings, environment_of

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
_TOLD = "import sys; sys.stderr.write(' '.join(sys.modules))"


def imported(code: str, settings: Settings | None = None) -> set[str]:
    """The modules that are there after this was done in a process of its own."""
    environment = environment_of(settings) if settings else {}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{_TOLD}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), **environment},
    )
    return set(done.stderr.split())


def command(*words: str) -> str:
    return (
        f"from mainstay.__main__ import HOUSE\nfrom mainstay.doors.cli.line import run\nassert run(HOUSE, {words}) == 0"
    )


@pytest.mark.parametrize("code", ["import mainstay.__main__", command("version"), command("version", "--json")])
def test_what_needs_no_house_builds_none(code: str) -> None:
    modules = imported(code)
    assert modules.isdisjoint({*LIBRARIES, "pydantic", "apsw", "mainstay.catalogue", "mainstay.kernel.perform"})


@pytest.mark.engines("sqlite")
def test_a_command_imports_what_it_does_and_nothing_else(settings: Settings, cast: Cast) -> None:
    modules = imported(command("key", "list", "--organisation", cast.organisation), settings)
    assert "mainstay.identity.keys" in modules
    rooms = {"catalogue", "business.people.operations", "business.people.joining", "webhooks.endpoints", "main"}
    assert modules.isdisjoint({*LIBRARIES, *(f"mainstay.{room}" for room in rooms)})


@pytest.mark.engines("sqlite")
def test_what_a_command_answers_does_not_make_it_import_the_catalogue(settings: Settings, cast: Cast) -> None:
    modules = imported(command("subscription", "show", cast.organisation), settings)
    assert modules.isdisjoint({*LIBRARIES, "mainstay.catalogue", "mainstay.identity.keys"})


def test_a_server_imports_no_driver_and_no_library_before_it_is_used() -> None:
    modules = imported("import mainstay.serving")
    assert modules.isdisjoint({"markdown_it", "multipart", "PIL", "psycopg", "psycopg_pool", "redis"})
