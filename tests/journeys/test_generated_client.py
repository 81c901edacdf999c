"""A client that others' tools make of the description, used against the server."""

import importlib
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mainstay.vocabulary.permissions import Access, Role
from support.cast import Cast
from support.servers import RunningServer

GENERATOR = Path(sys.prefix, "bin", "openapi-python-client")
GENERATOR_OPTIONS = "--path openapi.json --config config.yaml --meta none --output-path made --fail-on-warning"
CONFIG = """
project_name_override: made
package_name_override: made
post_hooks: []
content_type_overrides:
  application/pdf: application/octet-stream
  application/xml: application/octet-stream
"""


@pytest.fixture(scope="module")
def client_package(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a package that was generated from the public description."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "openapi.json").write_bytes(server.request("GET", "/openapi.json").content)
    ran = subprocess.run(
        [str(GENERATOR), "generate", *shlex.split(GENERATOR_OPTIONS)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    sys.path.insert(0, str(folder))
    yield "made"
    sys.path.remove(str(folder))


def import_part(made: str, name: str) -> ModuleType:
    return importlib.import_module(f"{made}.{name}")


@pytest.fixture
def client(client_package: str, server: RunningServer, cast: Cast) -> Iterator[Any]:
    with import_part(client_package, "client").AuthenticatedClient(
        base_url=f"{server.url}/api/v1", token=cast.make_key()
    ) as client:
        yield client


def test_it_reads_records_and_lists_by_their_names(client_package: str, client: Any, cast: Cast) -> None:
    people = import_part(client_package, "api.people.list_people").sync(client=client, limit=2)
    assert type(people).__name__ == "PersonList"
    assert [type(person).__name__ for person in people.data] == ["Person", "Person"]
    assert people.has_more is True
    organisation = import_part(client_package, "api.organisation.get_organisation").sync(client=client)
    assert organisation.id == cast.organisation
    me = import_part(client_package, "api.people.get_me").sync(client=client)
    assert me.role == import_part(client_package, "models.role").Role.OWNER
    owners = import_part(client_package, "api.people.list_people").sync(client=client, role=me.role)
    assert [person.role for person in owners.data] == [me.role]


def test_it_changes_records_and_hears_refusals(client_package: str, client: Any, cast: Cast) -> None:
    models = import_part(client_package, "models")
    invite = import_part(client_package, "api.people.invite_person")
    given = models.InvitePerson(name="Nina", email="nina@x.example", role=models.AssignableRole.MEMBER)
    invited = invite.sync_detailed(client=client, body=given)
    assert (invited.status_code, type(invited.parsed).__name__) == (201, "Person")
    assert "update_person" in invited.parsed.available_actions
    again = invite.sync_detailed(client=client, body=given)
    assert (again.status_code, type(again.parsed).__name__) == (409, "Error")
    remove = import_part(client_package, "api.people.remove_person")
    preview = remove.sync(cast.people[Role.MEMBER], client=client, body=models.RemovePerson())
    assert type(preview).__name__ == "Preview"
    done = remove.sync(cast.people[Role.MEMBER], client=client, body=models.RemovePerson(confirmed=True))
    assert (type(done).__name__, done.status) == ("Person", "left")


def test_it_has_a_type_for_every_event(client_package: str, client: Any, server: RunningServer, cast: Cast) -> None:
    event = server.request("GET", "/api/v1/events?limit=1", cast.make_key(Access.READ)).json()["data"][0]
    joined = import_part(client_package, "models.person_joined").PersonJoined.from_dict(event)
    assert joined.data.object_.name == "Olivia Owner"
    feed = import_part(client_package, "api.webhooks.list_events").sync(client=client)
    assert feed.data[0].type_ == "person.joined"
