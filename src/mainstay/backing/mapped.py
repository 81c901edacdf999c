"""Files that several processes of a machine hold in memory together."""

import contextlib
import mmap
import os
import secrets
from pathlib import Path


def write_fresh(path: Path, content: bytes, size: int) -> None:
    """Put a new file of `size` bytes in the place of any earlier one: the content, then a hole of zeros.

    The hole takes no room until it is written to. On a full disk, a first write there through memory would end the
    process with a signal: what must always be writable belongs to the content.
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


def hold(file: int, size: int, opening: bytes) -> mmap.mmap:
    """Hold a file of `write_fresh` in memory; ValueError when it is another's or another version's."""
    if os.pread(file, len(opening), 0) != opening or os.fstat(file).st_size != size:
        raise ValueError("The shared file was made for something else; it is made anew at the start of the server.")
    return mmap.mmap(file, size)
