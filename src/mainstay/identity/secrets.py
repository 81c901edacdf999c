"""Secrets that give access: 32 random bytes behind a prefix that secret scanners can find. Only a hash is stored."""

import hashlib
import secrets

API_KEY = "svc_sk_"
ACCESS_TOKEN = "svc_at_"
REFRESH_TOKEN = "svc_rt_"
OAUTH_CODE = "svc_ac_"
CLIENT_SECRET = "svc_cs_"
CALENDAR_LINK = "svc_cl_"
UPLOAD_ADDRESS = "svc_ul_"
DOWNLOAD_LINK = "svc_dl_"

# All prefixes have the same length, and 32 bytes are 43 characters of base64.
_LENGTH = len(API_KEY) + 43


def new_secret(prefix: str) -> str:
    """Return a new secret, which is to be shown once."""
    return prefix + secrets.token_urlsafe(32)


def is_secret(text: str, prefix: str) -> bool:
    """Return whether a text has the form of a secret of this kind."""
    return len(text) == _LENGTH and text.startswith(prefix)


def hash_secret(secret: str) -> str:
    """Return the hash under which a secret is stored. A fast hash is enough, because secrets are long and random."""
    hashing = _SHA256.copy()
    hashing.update(secret.encode())
    return hashing.hexdigest()


# Copied for each hash, because looking up the algorithm takes longer than hashing.
_SHA256 = hashlib.sha256()
