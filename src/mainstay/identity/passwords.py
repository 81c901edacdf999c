"""Passwords: hashed with argon2id, with the parameters that OWASP recommends for a server (19 MiB, two passes)."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Fault, Invalid

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)

# Long enough that it cannot be guessed, and short enough that hashing it cannot exhaust our memory.
MIN_LENGTH, MAX_LENGTH = 10, 256


def hash_password(password: str) -> str:
    """Return the hash of a password, which is all that is stored."""
    return _HASHER.hash(password)


def is_password(password: str, password_hash: str) -> bool:
    """Return whether a password has this hash."""
    try:
        return _HASHER.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def check_new_password(field: str, password: str) -> None:
    """Refuse a password that is too short to be safe or too long to be hashed."""
    if len(password) < MIN_LENGTH:
        raise Invalid([Fault(field, Message("has fewer than {min_length} characters", min_length=MIN_LENGTH))])
    if len(password) > MAX_LENGTH:
        raise Invalid([Fault(field, Message("is longer than {max_length} characters", max_length=MAX_LENGTH))])


def generate_password() -> str:
    """Return a random password for someone who did not choose one."""
    return secrets.token_urlsafe(15)
