"""Files that several processes of a machine map into memory together."""

import contextlib
import mmap
import os
import secrets
from pathlib import Path


def replace_file(path: Path, content: bytes, size: int) -> None:
    """Replace a file with a new one of `size` bytes: the content, followed by a hole of zeros.

    The hole takes no disk space until it is written to. On a full disk, the first write to it through memory would end
    the process with a signal, so bytes that must always be writable belong in the content.
    """
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.truncate(size)
        fresh.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def map_file(file: int, size: int, header: bytes) -> mmap.mmap:
    """Map a file of `replace_file` into memory; raise ValueError if it has another purpose or version."""
    if os.pread(file, len(header), 0) != header or os.fstat(file).st_size != size:
        raise ValueError("The shared file has another purpose or version. It is created again when the server starts.")
    return mmap.mmap(file, size)
