"""Settings, requests and replies for tests of models."""

from collections.abc import Iterable, Sequence

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.client import DIALECTS
from mainstay.doors.assistant.models.conversation import (
    ConversationMessage,
    ModelEvent,
    ModelRequest,
    ModelTool,
    UserText,
)
from mainstay.doors.assistant.models.dialect import ReplyParser
from mainstay.doors.assistant.models.model_settings import ModelSettings

LIST_JOBS = ModelTool(
    "list_jobs", "List jobs.", {"type": "object", "properties": {"search": {"type": "string"}}, "required": []}
)


def make_model_settings(dialect: ModelDialect, url: str = "http://127.0.0.1", model: str = "scripted") -> ModelSettings:
    """Make the settings of a model."""
    return ModelSettings(url, dialect, model, "sk-scripted", allows_private=True)


def make_model_request(*messages: ConversationMessage, tools: Sequence[ModelTool] = (LIST_JOBS,)) -> ModelRequest:
    """Make a request, for a greeting if nothing else is said."""
    return ModelRequest("You help a plumber.", messages or (UserText("Hello"),), tools, 500)


def parse_pieces(
    dialect: ModelDialect, pieces: Iterable[bytes], request: ModelRequest | None = None
) -> list[ModelEvent]:
    """Return the events of a reply that arrives in these pieces, and then ends."""
    settings = make_model_settings(dialect)
    parser = ReplyParser(DIALECTS[dialect].open_reader(settings, request or make_model_request()))
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events if parser.is_finished else [*events, parser.end()]
