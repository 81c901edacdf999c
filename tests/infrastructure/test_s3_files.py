"""Files in a bucket of an S3-compatible store."""

import hashlib
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from mainstay.infrastructure.data_folder import DataFolder
from mainstay.infrastructure.deadline import use_deadline
from mainstay.infrastructure.file_cache import FileCache
from mainstay.infrastructure.files import FileStoreUnavailable
from mainstay.infrastructure.s3_client import S3Client
from mainstay.infrastructure.s3_files import S3FileStore
from mainstay.settings import S3Address, read_settings
from support.s3_server import RcloneServer, S3Server, SeaweedServer

ADDRESS = S3Address("https://s3.example", "eu-west-2", "bucket", "")


@pytest.fixture
def seaweed(tmp_path: Path) -> Iterator[SeaweedServer]:
    (tmp_path / "seaweed").mkdir()
    server = SeaweedServer(tmp_path / "seaweed")
    server.start()
    yield server
    server.kill()


@pytest.fixture(params=["bucket", pytest.param("seaweed", marks=pytest.mark.long)])
def server(request: pytest.FixtureRequest) -> S3Server:
    found: S3Server = request.getfixturevalue(request.param)
    return found


def open_store(server: S3Server, folder: Path, secret: str | None = None) -> S3FileStore:
    DataFolder(folder).create()
    files = server.open_files(replace(read_settings({}), data=folder))
    return files if secret is None else replace(files, client=replace(files.client, secret_key=secret))


def test_a_file_is_stored_under_the_hash_of_its_content(server: S3Server, tmp_path: Path) -> None:
    files = open_store(server, tmp_path)
    name = files.store(b"a logo")
    assert name == hashlib.sha256(b"a logo").hexdigest()
    assert files.store(b"a logo") == name
    assert (files.has(name), files.read(name)) == (True, b"a logo")
    path = files.fetch_path(name)
    assert (path.parent, path.read_bytes()) == (tmp_path / "run" / "files", b"a logo")
    large = os.urandom(15_000_000)
    assert files.read(files.store(large)) == large


def test_a_file_that_was_never_stored_is_not_found(server: S3Server, tmp_path: Path) -> None:
    files = open_store(server, tmp_path)
    name = "0" * 64
    assert not files.has(name)
    for read in (files.read, files.fetch_path):
        with pytest.raises(FileNotFoundError):
            read(name)
    assert files.remove_unneeded(name, lambda: False)


def test_the_store_has_one_id_for_good(server: S3Server, tmp_path: Path) -> None:
    files = open_store(server, tmp_path)
    assert files.read_id() is None
    first = files.create_id()
    assert files.create_id() == first == files.read_id() == open_store(server, tmp_path).create_id("another")


def test_a_file_stored_a_moment_ago_is_not_removed(server: S3Server, tmp_path: Path) -> None:
    files = open_store(server, tmp_path)
    name = files.store(b"a photo")
    assert not files.remove_unneeded(name, lambda: False)
    assert files.read(name) == b"a photo"
    # Nothing is left of the try.
    assert files.store(b"a photo") == name


def test_a_wrong_key_or_bucket_is_no_missing_file(server: S3Server, tmp_path: Path) -> None:
    with pytest.raises(FileStoreUnavailable, match="status 403, SignatureDoesNotMatch") as refused:
        open_store(server, tmp_path, secret="a-wrong-secret-key").read_id()
    assert "a-wrong-secret-key" not in f"{refused.value}{open_store(server, tmp_path, secret='a-wrong-secret-key')!r}"
    files = open_store(server, tmp_path)
    elsewhere = replace(files.client, address=files.client.address._replace(bucket="another-bucket"))
    for use in (replace(files, client=elsewhere).read_id, lambda: replace(files, client=elsewhere).store(b"a photo")):
        with pytest.raises(FileStoreUnavailable):
            use()


@pytest.mark.long
def test_two_removals_exclude_each_other(seaweed: SeaweedServer, tmp_path: Path) -> None:
    files = open_store(seaweed, tmp_path)
    name = files.store(b"a photo")
    assert files._announce_removal(name)
    assert not files._announce_removal(name)
    files.bring_back(name)
    assert files._announce_removal(name)


def test_an_old_file_that_nobody_needs_is_removed(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    path = files.fetch_path(name)
    bucket.age(name)
    assert not files.remove_unneeded(name, lambda: True)
    assert files.read(name) == b"a photo"
    assert files.remove_unneeded(name, lambda: False)
    assert (files.has(name), path.exists()) == (False, False)
    # As often as it is tried.
    assert files.remove_unneeded(name, lambda: False)
    assert [found.name for found in bucket.folder.rglob("*") if found.is_file()] == []


def test_a_file_stored_again_long_after_stays(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    bucket.age(name)
    files.store(b"a photo")
    assert not files.remove_unneeded(name, lambda: False)


def test_nobody_relies_on_a_file_that_is_being_removed(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    bucket.age(name)

    def store_meanwhile() -> bool:
        with pytest.raises(FileStoreUnavailable, match="just being removed"):
            files.store(b"a photo")
        return False

    assert files.remove_unneeded(name, store_meanwhile)
    assert files.store(b"a photo") == name
    assert files.read(name) == b"a photo"


def test_an_interrupted_removal_is_completed_or_undone(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    bucket.age(name)

    def end_process() -> bool:
        raise KeyboardInterrupt

    for is_needed in (True, False):
        with pytest.raises(KeyboardInterrupt):
            files.remove_unneeded(name, end_process)
        assert files.read(name) == b"a photo"
        if is_needed:
            files.bring_back(name)
            files.store(b"a photo")
            bucket.age(name)
    assert files.remove_unneeded(name, lambda: False)
    assert not files.has(name)


def test_what_a_dead_process_was_removing_can_be_stored_again(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    assert files._announce_removal(name)
    with pytest.raises(FileStoreUnavailable):
        files.store(b"a photo")
    bucket.age(name)
    assert files.store(b"a photo") == name
    assert not files._is_being_removed(name)


def test_a_damaged_file_is_not_sent(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    bucket.path_of(name).write_bytes(b"a phota")
    assert files.read(name) == b"a phota"
    with pytest.raises(FileNotFoundError):
        files.fetch_path(name)


def test_a_store_that_is_away_is_used_again_when_it_is_back(bucket: RcloneServer, tmp_path: Path) -> None:
    files = open_store(bucket, tmp_path)
    name = files.store(b"a photo")
    bucket.kill()
    for use in (files.read_id, lambda: files.read(name), lambda: files.store(b"another")):
        with pytest.raises(FileStoreUnavailable, match="cannot be used"):
            use()
    bucket.start()
    assert files.read(name) == b"a photo"


def test_nobody_waits_for_a_store_that_does_not_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = ADDRESS._replace(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        files = S3FileStore(S3Client(address, "key", "secret"), FileCache(tmp_path))
        for content in (b"a photo", bytes(20_000_000)):
            with use_deadline(monotonic() + 0.2), pytest.raises(FileStoreUnavailable):
                files.store(content)


def test_copies_that_were_not_used_for_longest_are_removed_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, max_bytes=250)
    for number, name in enumerate(("a", "b", "c")):
        os.utime(cache.fetch_path(name, lambda _: bytes(100)), (number, number))
    assert cache.fetch_path("a", lambda _: b"never read").read_bytes() == bytes(100)
    cache.fetch_path("d", lambda _: bytes(100))
    # What was used a moment ago stays, because it is about to be sent.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]
    cache.clear()
    assert [*tmp_path.iterdir()] == []
