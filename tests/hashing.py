"""Passwords: what is slow on purpose is slow only where that is tested."""

from contextlib import AbstractContextManager
from unittest.mock import patch

from argon2 import PasswordHasher

from mainstay.identity import passwords

_DEAR = passwords._HASHER
_CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def cheap_passwords() -> AbstractContextManager[object]:
    """Have this process hash passwords with hardly any work. What was hashed says itself how it is to be looked at."""
    return patch.object(passwords, "_HASHER", _CHEAP)


def dear_passwords() -> AbstractContextManager[object]:
    """Have it hash them as the product does."""
    return patch.object(passwords, "_HASHER", _DEAR)
