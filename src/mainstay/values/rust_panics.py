"""Panics of libraries written in Rust, which arrive as exceptions that `except Exception` does not catch."""


def is_panic(fault: BaseException) -> bool:
    """Return whether a Rust library panicked; each has an exception class of its own, which cannot be imported."""
    return type(fault).__name__ == "PanicException"
