"""The installation's secret, from which one-time links and webhook secrets are derived."""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from mainstay.settings import MIN_SECRET_LENGTH, SettingError

SECRET_BYTES = 32


def load_installation_secret(setting: str | None, path: Path) -> bytes:
    """Return the secret from the setting or the file.

    The file is created at the first start, readable only by the operator.
    """
    if setting is not None:
        return setting.encode()
    with suppress(FileNotFoundError):
        return _read_secret(path)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_hex(SECRET_BYTES).encode())
        file.flush()
        os.fsync(descriptor)
    # If several processes start at once, all use the secret of the first: a link never replaces a file.
    with suppress(FileExistsError):
        path.hardlink_to(fresh)
    fresh.unlink()
    return _read_secret(path)


def find_installation_secret(setting: str | None, path: Path) -> bytes | None:
    """Return the secret from the setting or the file, or None if there is none yet."""
    if setting is not None:
        return setting.encode()
    return path.read_bytes() if path.exists() else None


def fingerprint_of(secret: bytes) -> str:
    """Return a fingerprint by which a secret can be recognised without being revealed."""
    return hmac.new(secret, b"mainstay backup", hashlib.sha256).hexdigest()[:32]


def _read_secret(path: Path) -> bytes:
    """Read the secret from the file, and refuse one that is too short: it may have been cut off when it was copied."""
    found = path.read_bytes()
    if len(found.rstrip(b"\r\n")) < MIN_SECRET_LENGTH:
        problem = f"The secret in {path} is shorter than {MIN_SECRET_LENGTH} bytes"
        raise SettingError(f"{problem}. Bring back the one it was from a backup, or set MAINSTAY_SECRET.")
    return found
