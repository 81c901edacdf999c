"""What an installation answers to every reading that there is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

import orjson

from house.examples import Exhibit
from mainstay.catalogue import CATALOGUE
from mainstay.kernel.context import Envelope
from mainstay.settings import Settings
from mainstay.staging import open_stage
from mainstay.terms.actor import Actor
from mainstay.terms.refusal import Refusal
from mainstay.terms.rights import Role


def answers(settings: Settings, exhibit: Exhibit, now: datetime) -> dict[tuple[str, Role], bytes]:
    """The answer of each operation that only reads, to people of each role, at a moment."""
    with _acting(settings, exhibit, now) as acting:
        return {
            (operation.name, role): _asked(acting, operation.name, acting.cast.actor(role))
            for operation in CATALOGUE.operations
            if not operation.changes
            for role in Role
        }


@contextmanager
def _acting(settings: Settings, exhibit: Exhibit, now: datetime) -> Iterator[Exhibit]:
    stage = open_stage(settings, lambda: now)
    try:
        yield replace(exhibit, cast=replace(exhibit.cast, stage=stage))
    finally:
        stage.database.close()


def _asked(exhibit: Exhibit, name: str, actor: Actor) -> bytes:
    operation = next(one for one in CATALOGUE.operations if one.name == name)
    given = exhibit.input(operation, actor.role) | ({"limit": 100} if operation.lists else {})
    try:
        return exhibit.cast.stage.perform(operation, actor, orjson.dumps(given), Envelope("req")).body
    except Refusal as refusal:
        return f"{type(refusal).__name__}: {refusal}".encode()
