"""Off-site backups by restic of Debian: the commands of the document, run as they stand."""

import re
import shutil
from pathlib import Path

import pytest

from mainstay.infrastructure.data_folder import DataFolder
from support.agent_files import request_upload, send_file
from support.debian_programs import find_program
from support.deployed import DeployedInstallation
from support.images import draw_image
from support.operator_guide import find_mainstay_blocks

pytestmark = pytest.mark.engines("sqlite")


def store_file(deployed: DeployedInstallation, content: bytes) -> None:
    """Store a file at a new customer."""
    server, key = deployed.server, deployed.key
    customer = server.request("POST", "/api/v1/customers", key, json={"name": "Calder Property Services"}).json()
    assert send_file(server, request_upload(server, key, customer["id"]), content).status_code == 201


def test_everything_is_encrypted_elsewhere_and_comes_back(deployed: DeployedInstallation, tmp_path: Path) -> None:
    home = deployed.home
    # Where the profile of this user looks for programs, because a login shell has a PATH of its own.
    (home.path / "current" / "bin" / "restic").symlink_to(find_program("restic"))
    store_file(deployed, draw_image())
    write_settings, make_backup, try_restoring = find_mainstay_blocks("Off-site backups")

    home.run_blocks(write_settings)
    settings = home.path / "restic.env"
    assert settings.stat().st_mode & 0o777 == (home.path / "restic-password").stat().st_mode & 0o777 == 0o600
    settings.write_text(re.sub("sftp:[^']*", str(tmp_path / "repository"), settings.read_text("utf-8")), "utf-8")
    home.run_blocks(make_backup)
    # The next one adds what is new, and keeps one of each day.
    assert home.run("~/source/deploy/off-site-backup.sh").returncode == 0

    stored = b"".join(file.read_bytes() for file in (tmp_path / "repository").rglob("*") if file.is_file())
    assert b"Olivia" not in stored
    assert b"mainstay backup" not in stored
    assert not (home.path / "backups" / "off-site" / "database.backup").exists()

    restored = home.run_blocks(try_restoring)

    assert "files: 0\n" in restored
    assert "holds  The audit trail is unbroken" in restored
    assert "WRONG" not in restored
    assert not (home.path / "restored").exists()


def test_a_file_that_is_not_there_is_noticed_when_restoring_is_tried(
    deployed: DeployedInstallation, tmp_path: Path
) -> None:
    store_file(deployed, draw_image(size=(41, 31)))
    home, database = deployed.home, tmp_path / "database.backup"
    home.run(f"mainstay backup --without-files '{database}'")
    data = DataFolder(tmp_path / "data")
    data.path.mkdir()
    shutil.copytree(DataFolder(home.path / "data").files, data.files)
    restore = f"MAINSTAY_DATA='{data.path}' mainstay restore '{database}'"

    assert home.run(restore).returncode == 0

    shutil.rmtree(data.path)
    ended = home.run(restore)
    assert ended.returncode == 1
    assert "which cannot be read" in ended.stdout
