"""Secrets that are shown once, on the page after the form that created them.

The form answers with a redirect. The secret travels encrypted in a cookie for that one record, which the next page
removes. A page that did not arrive can be loaded again; a page that did arrive never shows the secret a second time.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from mainstay.doors.http import Headers, Request
from mainstay.doors.pages.session import Visitor, Visitors

LIFETIME = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class OneTimeSecret:
    """A created record with its secret, and the header that removes it from the browser."""

    content: dict[str, Any]
    headers: Headers


@dataclass(frozen=True, slots=True)
class OneTimeSecrets:
    """Carries secrets from a form to the page after it."""

    visitors: Visitors

    def build_cookie(self, visitor: Visitor, record_id: str, content: dict[str, Any]) -> tuple[str, str]:
        """Return the cookie header that lets the next page of this record show what was created."""
        sealed = self.visitors.sealer.encrypt(
            _seal_purpose(visitor, record_id),
            orjson.dumps(content).decode(),
            self.visitors.performer.clock() + LIFETIME,
        )
        return self.visitors.short_lived_cookie(_cookie_name(record_id), sealed, LIFETIME)

    def take(self, request: Request, visitor: Visitor, record_id: str) -> OneTimeSecret | None:
        """Return what a form of this session handed to this browser about a record, or None."""
        sealed = self.visitors.read_short_lived_cookie(request, _cookie_name(record_id))
        content = self.visitors.sealer.decrypt(
            _seal_purpose(visitor, record_id), sealed, self.visitors.performer.clock()
        )
        if content is None:
            return None
        removal = self.visitors.short_lived_cookie(_cookie_name(record_id), "", timedelta())
        return OneTimeSecret(orjson.loads(content), (removal,))


def _cookie_name(record_id: str) -> str:
    return f"made-{record_id}"


def _seal_purpose(visitor: Visitor, record_id: str) -> str:
    return f"shown once {visitor.session} {record_id}"
