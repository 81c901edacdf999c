"""Read everything that an installation can answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

import orjson

from mainstay.catalogue import CATALOGUE
from mainstay.composition import open_performer
from mainstay.kernel.context import RequestDetails
from mainstay.settings import Settings
from mainstay.vocabulary.actor import Actor
from mainstay.vocabulary.permissions import Role
from mainstay.vocabulary.refusal import Refusal
from rules.examples import SampleRecords

# Its lines are made for the answer, with new ids.
_WITH_NEW_IDS = {"get_credit_note_proof"}


def read_everything(settings: Settings, samples: SampleRecords, now: datetime) -> dict[tuple[str, Role], bytes]:
    """Return the answer of each operation that only reads, for each role, at a moment."""
    with _open_samples_at(settings, samples, now) as opened:
        return {
            (operation.name, role): _perform_read(opened, operation.name, opened.cast.actor(role))
            for operation in CATALOGUE.operations
            if not operation.changes and operation.name not in _WITH_NEW_IDS
            for role in Role
        }


@contextmanager
def _open_samples_at(settings: Settings, samples: SampleRecords, now: datetime) -> Iterator[SampleRecords]:
    performer = open_performer(settings, lambda: now)
    try:
        yield replace(samples, cast=replace(samples.cast, performer=performer))
    finally:
        performer.database.close()


def _perform_read(samples: SampleRecords, name: str, actor: Actor) -> bytes:
    operation = next(one for one in CATALOGUE.operations if one.name == name)
    given = samples.example_input(operation, actor.role) | ({"limit": 100} if operation.returns_page else {})
    try:
        return samples.cast.performer.perform(operation, actor, orjson.dumps(given), RequestDetails("req")).body
    except Refusal as refusal:
        return f"{type(refusal).__name__}: {refusal}".encode()
