"""`files move` copies all files between the data folder and a bucket, and everything else reads them there."""

from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from mainstay.composition import check_installation, connect, open_files
from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.files import FolderFileStore
from mainstay.maintenance.doctor import examine_installation
from mainstay.settings import SettingError, Settings
from mainstay.values.moments import system_clock
from support.backups import SampleInstallation
from support.command_line import run_command
from support.s3_server import RcloneServer

pytestmark = pytest.mark.engines("sqlite")


@pytest.fixture
def settings(sample_installation: SampleInstallation, bucket: RcloneServer) -> Settings:
    """An installation that was served with its files in a folder, and knows the keys of a bucket."""
    settings = bucket.settings_for(sample_installation.settings)
    database = connect(settings)
    check_installation(replace(settings, files=None), database)
    database.close()
    return settings


def list_files(folder: Path) -> set[str]:
    return {path.parent.name + path.name for path in folder.glob("??/*")}


def move_files(settings: Settings, to: str, source: str | None = None) -> dict[str, Any]:
    outcome: dict[str, Any] = run_command(replace(settings, files=source), "files", "move", "--to", to, "--json").json
    return outcome


def test_files_are_moved_to_a_bucket_and_back(settings: Settings, bucket: RcloneServer, tmp_path: Path) -> None:
    assert settings.files is not None
    folder = DataFolder(settings.data).files
    before = list_files(folder)
    moved = move_files(settings, settings.files)
    assert (moved["files"], moved["copied"], moved["missing"]) == (len(before), len(before), [])
    assert list_files(bucket.folder / "mainstay-files" / "firm") == before
    # Repeated, it copies what came in between.
    assert move_files(settings, settings.files)["copied"] == 0

    rmtree(folder)
    database = connect(settings)
    check_installation(settings, database)
    with pytest.raises(SettingError, match="files of this server"):
        check_installation(replace(settings, files=None), database)
    database.close()
    assert run_command(settings, "check", "--json").json["sound"] is True
    assert run_command(settings, "backup", str(tmp_path / "backup"), "--json").json["files"] == len(before)

    assert move_files(settings, "folder", settings.files)["copied"] == len(before)
    assert list_files(folder) == before
    assert run_command(replace(settings, files=None), "check", "--json").json["sound"] is True


def test_a_damaged_file_is_named_and_not_moved(settings: Settings) -> None:
    assert settings.files is not None
    folder = DataFolder(settings.data).files
    name = min(list_files(folder))
    path = FolderFileStore(folder).path(name)
    content = path.read_bytes()
    path.write_bytes(b"something else")
    result = run_command(replace(settings, files=None), "files", "move", "--to", settings.files)
    assert (result.code, name in result.output) == (1, True)
    assert "Some files are missing or damaged." in result.errors
    # The bucket is not yet the store of this installation.
    assert open_files(settings).read_id() is None
    path.write_bytes(content)
    assert move_files(settings, settings.files)["copied"] == 1
    assert open_files(settings).read_id() is not None


def test_files_of_another_installation_are_left_alone(settings: Settings, bucket: RcloneServer) -> None:
    assert settings.files is not None
    open_files(settings).create_id("another")
    result = run_command(replace(settings, files=None), "files", "move", "--to", settings.files)
    assert result.error == "There are files of another installation. Name an empty place."
    assert list_files(bucket.folder / "mainstay-files" / "firm") == set()


def test_a_backup_is_not_made_while_the_bucket_is_away(
    settings: Settings, bucket: RcloneServer, tmp_path: Path
) -> None:
    bucket.kill()
    result = run_command(settings, "backup", str(tmp_path / "backup"))
    assert result.code == 1
    assert f"The file store at {bucket.endpoint} cannot be used" in result.errors
    assert not (tmp_path / "backup").exists()
    for command in (["check"], ["files", "move", "--to", "folder"]):
        assert run_command(settings, *command).code == 1


def test_doctor_says_whether_the_bucket_can_be_used(settings: Settings, bucket: RcloneServer) -> None:
    def find_files() -> list[tuple[str, bool]]:
        findings = examine_installation(replace(settings, port=1), system_clock())
        return [(found.found, found.remedy is None) for found in findings if found.about == "files"]

    assert find_files() == [("the bucket can be read", True)]
    bucket.kill()
    ((found, is_well),) = find_files()
    assert (found.startswith(f"The file store at {bucket.endpoint} cannot be used"), is_well) == (True, False)


@pytest.mark.parametrize("to", ["elsewhere", "s3://", "s3://bucket?endpoint=host", "s3://bucket?key=secret"])
def test_a_target_that_is_no_store_is_refused(settings: Settings, to: str) -> None:
    assert run_command(settings, "files", "move", "--to", to).error.startswith("--to ")
