"""Operations on conversations with the assistant: ask, stop, read and delete. Only their person does them."""

from typing import Annotated

from pydantic import Field

from mainstay.business.assistant import store
from mainstay.business.assistant.model import (
    TOO_LONG,
    ConversationOut,
    StepKind,
    Turn,
    TurnOut,
    TurnStatus,
    is_too_long,
)
from mainstay.business.organisation.assistant_settings import ASSISTANT_SETTINGS, AssistantSource
from mainstay.identity.sessions import belongs_to_person
from mainstay.kernel.context import Context
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.record_store import fetch_any
from mainstay.values.fields import NOT_IN_FORMS, STARTING_AFTER, Paragraph, make_id_validator
from mainstay.values.ids import new_id
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Access, Permission
from mainstay.vocabulary.refusal import Conflict, Forbidden, NotFound
from mainstay.vocabulary.schemas import Input, ListInput, PageResult

_OFFICE_ONLY = frozenset({Door.OFFICE})
MAX_QUESTION_LENGTH = 8_000
_MAX_TITLE_LENGTH = 80
# How many questions of one person, and of one organisation, are worked on at once.
MAX_WORKING_OF_PERSON = 3
MAX_WORKING = 12

# What a call gets as its result if nobody decided about it, or if it was not made.
NOT_CONFIRMED = "The person did not confirm this. Nothing was done."
NOT_MADE = "The person stopped the answer. This was not done."

_ConversationId = Annotated[str, make_id_validator("conversation", "a conversation")]
_TurnId = Annotated[str, make_id_validator("turn", "a question")]


class AskAssistant(Input):
    """What to ask, and where."""

    question: Annotated[Paragraph, Field(max_length=MAX_QUESTION_LENGTH)] = Field(
        description="What the assistant should find out or do."
    )
    conversation_id: _ConversationId | None = Field(
        None, description="The conversation to go on with. Default: a new one."
    )
    access: Access = Field(
        default=Access.READ, description="Of a new conversation: whether the assistant may only read, or also change."
    )
    record_id: Annotated[str, Field(max_length=100), NOT_IN_FORMS] | None = Field(
        None, title="Record", description="The record in view."
    )
    session_id: Annotated[str, make_id_validator("ses", "a sign-in"), NOT_IN_FORMS] = Field(
        description="The sign-in of the browser. When it ends, the assistant stops."
    )


class StopAssistant(Input):
    """Which answer to stop."""

    turn_id: _TurnId = Field(description="The question.")


class GetConversation(Input):
    """Which conversation."""

    conversation_id: _ConversationId = Field(description="The conversation.")


class DeleteConversation(Input):
    """Which conversation to delete."""

    conversation_id: _ConversationId = Field(description="The conversation.")


class ListConversations(ListInput):
    """Which conversations to list."""

    starting_after: _ConversationId | None = STARTING_AFTER


@operation(permission=Permission.CONNECTIONS_READ, effect=Effect.READ, doors=_OFFICE_ONLY, single_statement=True)
def list_conversations(ctx: Context, given: ListConversations) -> PageResult[ConversationOut]:
    """List conversations.

    Your own conversations with the assistant, the latest first. Nobody else reads them.
    """
    rows = store.page_own_conversations(ctx, given.limit, given.starting_after)
    return PageResult.from_rows(ConversationOut, rows, given.limit)


@operation(permission=Permission.CONNECTIONS_READ, effect=Effect.READ, doors=_OFFICE_ONLY, single_statement=True)
def get_conversation(ctx: Context, given: GetConversation) -> ConversationOut:
    """Get conversation.

    One of your own conversations with the assistant.
    """
    return _read_conversation(ctx, given.conversation_id)


@operation(
    permission=Permission.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    not_undone=Message("Delete the conversation instead."),
    past_text="Assistant asked",
)
def ask_assistant(ctx: Context, given: AskAssistant) -> TurnOut:
    """Ask the assistant.

    It works with your permissions. It only prepares what can't be undone, and you confirm it.
    """
    settings = ASSISTANT_SETTINGS.fetch(ctx, None)
    if settings.assistant_source is AssistantSource.OFF:
        raise Conflict(Message("The assistant is off. An owner or admin can turn it on in the settings."))
    if ctx.actor.id is None or not belongs_to_person(ctx.db, given.session_id, ctx.actor.id):
        raise NotFound("sign-in")
    record_id = fetch_any(ctx, given.record_id).id if given.record_id else None
    _check_load(ctx)
    conversation_id = given.conversation_id
    if conversation_id is None:
        if given.access is Access.WRITE and not ctx.actor.can(Permission.CONNECTIONS_WRITE):
            raise Forbidden(Message("With your role, the assistant can only read. Ask an owner or admin."))
        conversation_id = new_id("conversation")
        store.insert_conversation(ctx, conversation_id, _make_title(given.question), given.access)
    else:
        store.find_own_conversation(ctx.db, conversation_id)
        _close_latest_turn(ctx, conversation_id)
    turn_id = new_id("turn")
    values = {
        "conversation_id": conversation_id,
        "session_id": given.session_id,
        "question": given.question,
        "record_id": record_id,
    }
    store.insert_turn(ctx, turn_id, values)
    return TurnOut(object=TurnOut.noun, id=turn_id, conversation_id=conversation_id)


@operation(
    permission=Permission.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    open_when_lapsed=True,
    not_undone=Message("Ask the question again."),
    past_text="Assistant stopped",
)
def stop_assistant(ctx: Context, given: StopAssistant) -> TurnOut:
    """Stop the assistant.

    What it has done so far stays done, and can be undone.
    """
    turn = store.fetch_own_turn(ctx.db, given.turn_id)
    if turn.status is TurnStatus.WAITING:
        end_waiting_turn(ctx, turn)
    elif turn.status is TurnStatus.WORKING:
        store.request_stop(ctx.db, turn.id)
    return TurnOut(object=TurnOut.noun, id=turn.id, conversation_id=turn.conversation_id)


@operation(
    permission=Permission.CONNECTIONS_READ,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    open_when_lapsed=True,
    asks_again=True,
    only_adds=False,
    done_message="Conversation deleted.",
    not_undone=Message("A deleted conversation can't be restored."),
    past_text="Conversation deleted",
)
def delete_conversation(ctx: Context, given: DeleteConversation) -> ConversationOut:
    """Delete conversation.

    What the assistant changed stays, and so does its history.
    """
    conversation = _read_conversation(ctx, given.conversation_id)
    store.delete_conversations(ctx.db, "id = :id", id=given.conversation_id)
    return conversation


OPERATIONS = (list_conversations, get_conversation, ask_assistant, stop_assistant, delete_conversation)


def end_waiting_turn(ctx: Context, turn: Turn) -> None:
    """End a turn that waits for its person, who confirmed nothing of what is left."""
    for card in turn.cards:
        content = {**card.place._asdict(), "text": NOT_CONFIRMED, "isError": True}
        store.add_step(ctx.db, turn.id, StepKind.ANSWERED, content, ctx.now)
    store.set_status(ctx.db, turn.id, TurnStatus.STOPPED, ctx.now)


def _close_latest_turn(ctx: Context, conversation_id: str) -> None:
    """End the turn before a new question, if it waits for its person.

    Refuse the question while that turn is worked on, or if the conversation is too long.
    """
    turns = store.read_turns(ctx.db, conversation_id)
    if is_too_long(turns):
        raise Conflict(TOO_LONG)
    latest = turns[-1] if turns else None
    if latest and latest.status is TurnStatus.WORKING:
        raise Conflict(Message("The assistant is still answering. Wait for it, or stop it first."))
    if latest and latest.status is TurnStatus.WAITING:
        end_waiting_turn(ctx, latest)


def _check_load(ctx: Context) -> None:
    own, everyone = store.count_working(ctx)
    if own >= MAX_WORKING_OF_PERSON:
        raise Conflict(
            Message(
                "The assistant is answering {count} of your questions. Wait for one of them, or stop it.", count=own
            )
        )
    if everyone >= MAX_WORKING:
        raise Conflict(
            Message("The assistant is answering {count} questions of your colleagues. Try again soon.", count=everyone)
        )


def _read_conversation(ctx: Context, conversation_id: str) -> ConversationOut:
    row = store.find_own_conversation(ctx.db, conversation_id)
    names = ("id", "title", "access", "created_at", "asked_at")
    return ConversationOut(object=ConversationOut.noun, **dict(zip(names, row, strict=True)))


def _make_title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _MAX_TITLE_LENGTH else f"{line[: _MAX_TITLE_LENGTH - 1]}\N{HORIZONTAL ELLIPSIS}"
