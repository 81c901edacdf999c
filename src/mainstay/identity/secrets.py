"""Secrets that open a door: 32 random bytes behind a prefix that scanners can find; only a hash is kept."""

import hashlib
import secrets

API_KEY = "svc_sk_"
ACCESS_TOKEN = "svc_at_"
REFRESH_TOKEN = "svc_rt_"
CODE = "svc_ac_"
CLIENT_SECRET = "svc_cs_"
CALENDAR = "svc_cl_"

# Every prefix is as long, and 32 bytes are 43 characters of base64.
_LENGTH = len(API_KEY) + 43


def new_secret(prefix: str) -> str:
    """A secret, to be shown once."""
    return prefix + secrets.token_urlsafe(32)


def is_secret(text: str, prefix: str) -> bool:
    """Whether this could be a secret of that kind."""
    return len(text) == _LENGTH and text.startswith(prefix)


def secret_hash(secret: str) -> str:
    """What is kept of a secret. It is random and long: a quick hash is enough."""
    hashing = _SHA256.copy()
    hashing.update(secret.encode())
    return hashing.hexdigest()


# Asked for once: finding the algorithm takes longer than using it.
_SHA256 = hashlib.sha256()
