"""Performs operations for code of the product that does not answer a request, such as the command line."""

import secrets
from dataclasses import dataclass

import orjson

from mainstay.kernel.context import RequestDetails
from mainstay.kernel.operation import Operation
from mainstay.kernel.perform import Performer
from mainstay.values.json_object import JsonObject
from mainstay.vocabulary.actor import Actor


@dataclass(frozen=True, slots=True)
class JsonPerformer:
    """Performs operations, and returns their answers as JSON."""

    performer: Performer

    def perform(self, operation: Operation, actor: Actor, **given: object) -> JsonObject:
        """Perform an operation, and return its answer."""
        details = RequestDetails(id="cli_" + secrets.token_hex(10), record_only=True)
        answer = self.performer.perform(operation, actor, orjson.dumps(given), details)
        result: JsonObject = orjson.loads(answer.body)
        return result
