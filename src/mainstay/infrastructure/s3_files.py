"""Files in a bucket of an S3-compatible store.

A file is an object whose key ends in the SHA-256 of its content, which each upload also signs: a store that checks
signatures accepts no other content under this key. Objects appear complete or not at all.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from errno import ENOENT
from http import HTTPStatus
from pathlib import Path
from time import time

from mainstay.infrastructure.file_cache import FileCache
from mainstay.infrastructure.files import REMOVAL_GRACE_PERIOD, FileStoreUnavailable, content_name_of
from mainstay.infrastructure.s3_client import S3Client, S3Response

_ID_KEY = "store-id"
# What is removed is announced here first, so that a process that stores the same content meanwhile notices.
_REMOVAL_FOLDER = "removals"
# An announcement of this age is left over from a process that died: each of its requests has a deadline.
_ABANDONED_SECONDS = 300.0
# How often content is stored again that was just being removed.
_MAX_TRIES = 3
_CREATE_ONLY = {"if-none-match": "*"}


@dataclass(frozen=True, slots=True)
class S3FileStore:
    """Files in a bucket; those that are sent to browsers are kept for a while in a folder of this machine."""

    client: S3Client
    cache: FileCache

    def store(self, content: bytes) -> str:
        """Store this content and return its name.

        Content that is already stored is stored again, so that it stays for a while from now on. A removal that runs
        meanwhile either sees the new object, or is seen here: by its announcement, or because the object is gone.
        """
        name = content_name_of(content)
        for _ in range(_MAX_TRIES):
            self.client.put(_key_of(name), content)
            if not self._is_being_removed(name) and self.has(name):
                return name
        raise FileStoreUnavailable("The same file is just being removed from the file store. Try again.")

    def has(self, name: str) -> bool:
        """Return whether the bucket has a file with this name."""
        return self.client.head(_key_of(name)) is not None

    def read(self, name: str) -> bytes:
        """Return the content of a file, as the bucket has it."""
        return self._get(_key_of(name))

    def fetch_path(self, name: str) -> Path:
        """Return the path of a copy on this machine, which exists for some minutes; damaged content is not found."""
        return self.cache.fetch_path(name, self._read_intact)

    def remove_unneeded(self, name: str, is_needed: Callable[[], bool]) -> bool:
        """Remove a file that is not needed; return False if it stays because it is needed or was stored recently.

        If the removal was interrupted, repeating it completes it.
        """
        started_at = time()
        if not self._announce_removal(name):
            return False
        found = self.client.head(_key_of(name))
        if found and (_age_of(found) < REMOVAL_GRACE_PERIOD.total_seconds() or is_needed()):
            self.bring_back(name)
            return False
        if time() - started_at > _ABANDONED_SECONDS / 2:
            # This process was stopped for so long that nobody waits for it any more.
            return False
        self.client.delete(_key_of(name))
        self.cache.remove(name)
        self.bring_back(name)
        return True

    def bring_back(self, name: str) -> None:
        """Withdraw the announcement that a file is being removed, if there is one."""
        self.client.delete(_removal_key_of(name))

    def read_id(self) -> str | None:
        """Return the ID of this store, by which a server notices that it has the files of another installation."""
        try:
            return self._get(_ID_KEY).decode("ascii")
        except FileNotFoundError:
            return None

    def create_id(self, store_id: str | None = None) -> str:
        """Give this store an ID unless it has one, and return the one that it has."""
        if found := self.read_id():
            return found
        self.client.put(_ID_KEY, (store_id or secrets.token_hex(16)).encode(), _CREATE_ONLY)
        return self._get(_ID_KEY).decode("ascii")

    def remove_unfinished(self) -> None:
        """Empty the cache; the bucket itself never has unfinished files."""
        self.cache.clear()

    def _get(self, key: str) -> bytes:
        content = self.client.get(key)
        if content is None:
            raise FileNotFoundError(ENOENT, "There is no such file", key)
        return content

    def _read_intact(self, name: str) -> bytes:
        content = self.read(name)
        if content_name_of(content) != name:
            raise FileNotFoundError(name)
        return content

    def _announce_removal(self, name: str) -> bool:
        """Announce a removal; return False if another process removes the same file."""
        if self.client.put(_removal_key_of(name), b"", _CREATE_ONLY) != HTTPStatus.PRECONDITION_FAILED:
            return True
        # An abandoned announcement is withdrawn, for the next try.
        self._is_being_removed(name)
        return False

    def _is_being_removed(self, name: str) -> bool:
        """Return whether a process is removing this file; withdraw an announcement that was abandoned."""
        found = self.client.head(_removal_key_of(name))
        if found and _age_of(found) > _ABANDONED_SECONDS:
            self.bring_back(name)
            return False
        return found is not None


def _key_of(name: str) -> str:
    return f"{name[:2]}/{name[2:]}"


def _removal_key_of(name: str) -> str:
    return f"{_REMOVAL_FOLDER}/{name}"


def _age_of(found: S3Response) -> float:
    """Return the age of an object in seconds, by the clock of the store."""
    now, stored_at = (parsedate_to_datetime(found.headers[name]) for name in ("date", "last-modified"))
    return (now - stored_at).total_seconds()
