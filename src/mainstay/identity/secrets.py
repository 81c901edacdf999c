"""Secrets that open a door: 32 random bytes behind a prefix that scanners can find; only a hash is kept."""

import hashlib
import secrets

API_KEY = "svc_sk_"


def new_secret(prefix: str) -> str:
    """A secret, to be shown once."""
    return prefix + secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """What is kept of a secret. It is random and long: a quick hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()
