from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mainstay.infrastructure.installation_secret import load_installation_secret
from mainstay.settings import SettingError, read_settings


def test_the_secret_is_made_once_for_the_operator_s_eyes_only(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret = load_installation_secret(None, path)
    assert len(secret) == 64
    assert load_installation_secret(None, path) == secret
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["secret"]


def test_processes_that_start_at_once_share_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        secrets = set(threads.map(lambda _: load_installation_secret(None, tmp_path / "secret"), range(64)))
    assert len(secrets) == 1


def test_a_setting_comes_before_the_file(tmp_path: Path) -> None:
    assert load_installation_secret("s" * 32, tmp_path / "secret") == b"s" * 32
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", [b"", b"s" * 31, b"s" * 31 + b"\n"])
def test_a_file_that_was_cut_short_is_refused_and_stays(kept: bytes, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(kept)
    with pytest.raises(SettingError, match=r"/secret is shorter than 32 bytes\. Bring back the one it was"):
        load_installation_secret(None, path)
    assert path.read_bytes() == kept


def test_a_short_secret_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match="MAINSTAY_SECRET must have at least 32 characters"):
        read_settings({"MAINSTAY_SECRET": "s" * 31})
