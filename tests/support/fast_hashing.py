"""Fast password hashing for tests, and the real one for tests of hashing."""

from contextlib import AbstractContextManager
from unittest.mock import patch

from argon2 import PasswordHasher

from mainstay.identity import passwords

_REAL_HASHER = passwords._HASHER
_FAST_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def use_fast_hashing() -> AbstractContextManager[object]:
    """Have this process hash passwords with hardly any work. A hash holds its own parameters."""
    return patch.object(passwords, "_HASHER", _FAST_HASHER)


def use_real_hashing() -> AbstractContextManager[object]:
    """Have this process hash passwords as in production."""
    return patch.object(passwords, "_HASHER", _REAL_HASHER)
