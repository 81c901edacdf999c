"""Libraries written in Rust give up in a way of their own where they stumble, which no `except Exception` sees."""


def is_panic(fault: BaseException) -> bool:
    """Whether a library has given up; each has a class of its own for it, which cannot be imported."""
    return type(fault).__name__ == "PanicException"
