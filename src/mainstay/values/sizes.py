"""Numbers of bytes in units that people read."""

_KILOBYTE, _MEGABYTE, _GIGABYTE = 1_000, 1_000_000, 1_000_000_000


def size_text(count: int) -> str:
    """Return a number of bytes in the largest unit that fits, such as `3.4 MB`."""
    if count >= _GIGABYTE:
        return f"{count / _GIGABYTE:,.1f} GB"
    return f"{count / _MEGABYTE:.1f} MB" if count >= _MEGABYTE else f"{max(count // _KILOBYTE, 1)} KB"
