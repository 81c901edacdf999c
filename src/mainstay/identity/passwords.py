"""Passwords: argon2id, with the parameters that OWASP names for a server (19 MiB, two passes)."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from mainstay.terms.refusal import Fault, Invalid

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)

# Long enough against guessing, short enough to be hashed without an attack on our memory.
SHORTEST, LONGEST = 10, 256


def hash_password(password: str) -> str:
    """What is kept of a password."""
    return _HASHER.hash(password)


def is_password(password: str, kept: str) -> bool:
    """Whether this is the password that was kept."""
    try:
        return _HASHER.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


def check_new_password(field: str, password: str) -> None:
    """Refuse a password that is too easily guessed or too long to be hashed."""
    if len(password) < SHORTEST:
        raise Invalid([Fault(field, f"has fewer than {SHORTEST} characters")])
    if len(password) > LONGEST:
        raise Invalid([Fault(field, f"has more than {LONGEST} characters")])


def new_password() -> str:
    """A password for someone who did not choose one."""
    return secrets.token_urlsafe(15)
