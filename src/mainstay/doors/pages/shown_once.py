"""Secrets that are shown once: not by the form that makes them, which answers with a redirect, but on the next page.

Between the two a secret travels sealed, in a cookie of that one record that the page takes away. A page that did not
arrive can be loaded again; one that did shows nothing a second time.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from mainstay.doors.http import Headers, Request
from mainstay.doors.pages.session import Visitor, Visitors

LIFE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Handed:
    """What was made, with its secret, and the header that takes it out of the browser."""

    made: dict[str, Any]
    headers: Headers


@dataclass(frozen=True, slots=True)
class ShownOnce:
    """Hands secrets from a form to the page after it."""

    visitors: Visitors

    def hand_over(self, visitor: Visitor, record: str, made: dict[str, Any]) -> tuple[str, str]:
        """The header with which a form answers: the next page about this record shows what was made."""
        sealed = self.visitors.sealer.seal(
            _about(visitor, record), orjson.dumps(made).decode(), self.visitors.stage.clock() + LIFE
        )
        return self.visitors.short_cookie(_name(record), sealed, LIFE)

    def take(self, request: Request, visitor: Visitor, record: str) -> Handed | None:
        """What this browser was handed about a record by a form of this session, if it was."""
        sealed = self.visitors.read_short_cookie(request, _name(record))
        made = self.visitors.sealer.open(_about(visitor, record), sealed, self.visitors.stage.clock())
        if made is None:
            return None
        gone = self.visitors.short_cookie(_name(record), "", timedelta())
        return Handed(orjson.loads(made), (gone,))


def _name(record: str) -> str:
    return f"made-{record}"


def _about(visitor: Visitor, record: str) -> str:
    return f"shown once {visitor.session} {record}"
