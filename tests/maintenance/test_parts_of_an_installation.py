"""A server with the secret or the files of another installation refuses to start, and `doctor` names them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest

from mainstay.composition import check_installation, open_files, open_performer
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.database import Database
from mainstay.infrastructure.files import FolderFileStore
from mainstay.maintenance.doctor import examine_installation
from mainstay.settings import SettingError, Settings
from mainstay.values.moments import system_clock
from support.command_line import run_command

SECRET, OTHER_SECRET = "one secret of all the servers of a firm", "another secret, of some other firm's server"


@pytest.fixture
def settings(fresh_settings: Settings) -> Settings:
    """The settings of an installation whose secret is a setting."""
    return replace(fresh_settings, secret=SECRET, port=1)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The database of an installation that has been served once."""
    database = open_performer(settings).database
    check_installation(settings, database)
    yield database
    database.close()


def find_problems(settings: Settings) -> list[str]:
    findings = examine_installation(settings, system_clock())
    return [found.found for found in findings if found.about == "installation"]


def test_a_second_start_finds_what_the_first_one_took(settings: Settings, database: Database) -> None:
    check_installation(settings, database)
    assert find_problems(settings) == []


def test_another_secret_is_refused(settings: Settings, database: Database) -> None:
    other = replace(settings, secret=OTHER_SECRET)
    with pytest.raises(SettingError, match=r"secret of this server is not .* MAINSTAY_SECRET .* `mainstay adopt`"):
        check_installation(other, database)
    assert find_problems(other) == ["The secret of this server is not that of its database"]


def test_an_empty_file_store_is_refused(settings: Settings, database: Database) -> None:
    rmtree(DataFolder(settings.data).files)
    with pytest.raises(SettingError, match=r"files of this server are not .* `mainstay adopt`"):
        check_installation(settings, database)
    assert find_problems(settings) == ["The files of this server are not those of its database"]
    # The refusal gave the empty store no ID of its own.
    assert open_files(settings).read_id() is None


def test_the_file_store_of_another_installation_is_refused(settings: Settings, database: Database) -> None:
    files = DataFolder(settings.data).files
    rmtree(files)
    FolderFileStore(files).create_id()
    with pytest.raises(SettingError, match="files of this server"):
        check_installation(settings, database)


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("command", ["serve", "worker"])
def test_neither_server_nor_worker_starts(settings: Settings, command: str) -> None:
    result = run_command(replace(settings, secret=OTHER_SECRET, port=18_999), command)
    assert (result.code, result.output) == (1, "")
    assert "The secret of this server is not that of its database." in result.errors


def test_an_operator_can_adopt_what_there_is(settings: Settings, database: Database) -> None:
    rmtree(DataFolder(settings.data).files)
    other = replace(settings, secret=OTHER_SECRET)
    assert run_command(other, "adopt").code == 0
    check_installation(other, database)
    with pytest.raises(SettingError, match="secret of this server"):
        check_installation(settings, database)


def test_two_first_starts_at_once_agree_on_one_store(tmp_path: Path) -> None:
    files = FolderFileStore(tmp_path / "files")
    first = files.create_id()
    assert files.create_id() == first == files.read_id()
    assert [path.name for path in files.folder.iterdir()] == ["store-id"]
