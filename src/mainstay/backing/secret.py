"""The installation's secret, from which one-time links and the secrets of webhooks are derived."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from mainstay.settings import SHORTEST_SECRET, WrongSetting

BYTES = 32


def installation_secret(setting: str | None, path: Path) -> bytes:
    """The secret of the setting, or of the file, which is made at first start for the operator's eyes only."""
    if setting is not None:
        return setting.encode()
    with suppress(FileNotFoundError):
        return _long_enough(path)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_hex(BYTES).encode())
        file.flush()
        os.fsync(descriptor)
    # Of several processes that start at once, the first one's secret is everyone's: a link never replaces a file.
    with suppress(FileExistsError):
        path.hardlink_to(fresh)
    fresh.unlink()
    return _long_enough(path)


def _long_enough(path: Path) -> bytes:
    """What is in the file, unless everyone could guess it: it may have been cut short when it was copied."""
    found = path.read_bytes()
    if len(found.rstrip(b"\r\n")) < SHORTEST_SECRET:
        told = f"The secret in {path} is shorter than {SHORTEST_SECRET} bytes"
        raise WrongSetting(f"{told}. Bring back the one it was from a backup, or set MAINSTAY_SECRET.")
    return found
