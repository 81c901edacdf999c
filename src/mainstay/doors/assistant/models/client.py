"""Ask a model for its next reply, over a connection to its checked address."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus

from mainstay.business.organisation.assistant_settings import ModelDialect
from mainstay.doors.assistant.models.chat_dialect import ChatDialect
from mainstay.doors.assistant.models.conversation import Finished, ModelEvent, ModelRequest, ReplyBegun
from mainstay.doors.assistant.models.dialect import Dialect, ReplyParser
from mainstay.doors.assistant.models.messages_dialect import MessagesDialect
from mainstay.doors.assistant.models.model_problem import ModelProblem, make_status_problem, make_unclear_problem
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.assistant.models.responses_dialect import ResponsesDialect
from mainstay.infrastructure.guarded_connection import NoResponse
from mainstay.infrastructure.streaming_client import StreamingClient
from mainstay.values.message import Message

DIALECTS: dict[ModelDialect, Dialect] = {
    ModelDialect.MESSAGES: MessagesDialect(),
    ModelDialect.CHAT: ChatDialect(),
    ModelDialect.RESPONSES: ResponsesDialect(),
}
_MAX_ERROR_BYTES = 16_384


async def stream_reply(
    client: StreamingClient, settings: ModelSettings, request: ModelRequest
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the pieces of the next reply as they arrive, and at last the whole of it; raise ModelProblem if it fails.

    Who stops early closes the iterator (`aclosing`) or cancels the task: both close the connection at once.
    """
    if settings.key and not (settings.key.isascii() and settings.key.isprintable()):
        raise ModelProblem(Message("The key has a character that no key can have. Enter it again."), is_temporary=False)
    dialect = DIALECTS[settings.dialect]
    url, headers, body = dialect.build_request(settings, request)
    parser = ReplyParser(dialect.open_reader(settings, request))
    try:
        async with client.post(url, headers, body, allows_private=settings.allows_private) as response:
            if response.status != HTTPStatus.OK:
                reason = await response.read_beginning(_MAX_ERROR_BYTES)
                raise make_status_problem(response.status, response.headers.get("retry-after"), reason, settings.key)
            yield ReplyBegun()
            async with aclosing(response.iterate_body()) as pieces:
                async for piece in pieces:
                    for event in parser.feed(piece):
                        yield event
                    if parser.is_finished:
                        return
            yield parser.end()
    except NoResponse as fault:
        raise _make_connection_problem(fault, settings) from fault


async def fetch_reply(client: StreamingClient, settings: ModelSettings, request: ModelRequest) -> Finished:
    """Return the whole next reply."""
    async with aclosing(stream_reply(client, settings, request)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return event
    raise make_unclear_problem()


def _make_connection_problem(fault: NoResponse, settings: ModelSettings) -> ModelProblem:
    if fault.kind == "address refused" and settings.allows_private:
        message = Message("This isn't the address of a server. Enter one such as http://localhost:11434.")
        return ModelProblem(message, is_temporary=False)
    message, is_temporary = _CONNECTION_PROBLEMS[fault.kind]
    return ModelProblem(message, is_temporary=is_temporary)


# By the kind of fault.
_CONNECTION_PROBLEMS = {
    "address refused": (
        Message("This address of a model's server is not allowed. It has to begin with https:// and to be public."),
        False,
    ),
    "name not found": (Message("The name of the model's server was not found. Check the address."), True),
    "connection refused": (Message("The model's server can't be reached. Check that it runs."), True),
    "TLS failed": (Message("The model's server has no valid certificate for this address."), False),
    "connection broken": (Message("The connection to the model's server broke off."), True),
    "answer not understood": (
        Message("The answer of the model's server was not understood. Check its address and protocol."),
        False,
    ),
    "no answer in time": (Message("The model's server stopped responding."), True),
    "took too long": (Message("The model took too long to answer."), True),
}
