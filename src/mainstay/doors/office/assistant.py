"""The assistant's pages: a person asks, watches the answer, and confirms or declines what it may not do itself."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import orjson

from mainstay.business.assistant import store
from mainstay.business.assistant.model import Conversation, Turn, TurnStatus
from mainstay.business.assistant.operations import (
    MAX_QUESTION_LENGTH,
    ask_assistant,
    delete_conversation,
    get_conversation,
    list_conversations,
    stop_assistant,
)
from mainstay.business.organisation.assistant_settings import AssistantSettings, update_assistant_settings
from mainstay.changes.undo import find_undone
from mainstay.doors.assistant.cards import Cards
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.assistant.turn_work import find_reached_limit
from mainstay.doors.http import Response, StreamBody
from mainstay.doors.office.assistant_view import ConversationView, ShownTurn
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.forms import query_parameters
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.rendering import redirect
from mainstay.values.ids import is_id
from mainstay.values.message import Message
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import NotFound, Refusal, TooManyRequests

PATH = "/assistant"
# How often a stream looks for steps that another process stored, and how often it shows that it is alive.
_LOOK_SECONDS, _ALIVE_SECONDS = 1.0, 15.0
# How many streams of one session are open at once, in one process.
MAX_STREAMS = 4
_REFRESH = (("refresh", "3"),)
_QUESTION_FIELDS = ("question", "conversationId", "access", "recordId")
_STEP_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True)
class AssistantPages:
    """The page of conversations, each conversation, and the stream of an answer."""

    office: OfficePages
    turns: TurnRunner

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        protect, of_one = self.office.require_sign_in, PATH + "/{id}"
        return [
            Route("GET", PATH, protect(self.show_all)),
            *Form(self.office, find_by_path, self._ask).routes(f"{PATH}/ask", PATH),
            Route("GET", of_one, protect(self.show)),
            Route("GET", f"{of_one}/stream", protect(self.stream)),
            Route("GET", f"{of_one}/file", protect(self.download)),
            *Form(self.office, find_by_path, self._stop).routes(f"{of_one}/stop", of_one),
            *Form(self.office, find_by_path, self._decide).routes(f"{of_one}/decide", of_one),
            *Form(self.office, find_by_path, self._delete).routes(f"{of_one}/delete", of_one),
        ]

    async def show_all(self, request: OfficeRequest, _: PathValues) -> Response:
        """Show the form for a question, and the person's conversations."""
        query = query_parameters(request.http_request)
        page = await self.office.perform(
            request, list_conversations, {"startingAfter": query["after"]} if "after" in query else {}
        )
        record_id = query.get("record", "")
        return self.office.render_page(
            "conversations.html",
            request,
            area="Assistant",
            notice=self.office.find_notice(request),
            conversations=page.data,
            next_page=f"{PATH}?after={page.data[-1].id}" if page.has_more else None,
            record=await self._find_record(request, record_id) if record_id else None,
            **await self._shared_variables(request),
        )

    async def show(self, request: OfficeRequest, path_values: PathValues) -> Response:
        """Show a conversation. Without JavaScript, it loads again while the assistant works."""
        conversation = await self._read(request, path_values["id"])
        turns = [await self._show_turn(request, turn) for turn in conversation.turns]
        is_working = bool(turns) and turns[-1].is_working
        return self.office.render_page(
            "conversation.html",
            request,
            area="Assistant",
            headers=_REFRESH if is_working else (),
            notice=self.office.find_notice(request),
            conversation=conversation,
            turns=turns,
            record=None,
            has_changed=query_parameters(request.http_request).get("changed") == "yes",
            **await self._shared_variables(request),
        )

    async def download(self, request: OfficeRequest, path_values: PathValues) -> Response:
        """Return a conversation as a text file."""
        conversation = await self._read(request, path_values["id"])
        parts = []
        for turn in conversation.turns:
            said = [step.content["text"] for step in turn.steps if step.content.get("text") and "calls" in step.content]
            parts.append("\n\n".join([f"> {turn.question}", *said]))
        headers = (("content-disposition", 'attachment; filename="conversation.md"'),)
        body = "\n\n".join(parts).encode()
        return Response(200, body, headers, content_type="text/markdown; charset=utf-8", quiet=True)

    async def stream(self, request: OfficeRequest, path_values: PathValues) -> Response:
        """Stream what happens in the latest turn of a conversation, as server-sent events."""
        conversation = await self._read(request, path_values["id"])
        if not conversation.turns:
            raise NotFound("question")
        if self.turns.parts.live.count(request.visitor.session) >= MAX_STREAMS:
            raise TooManyRequests(Message("This is open in too many windows. Close some of them."))
        last = request.http_request.headers.get("last-event-id", "")
        seen = int(last) if _STEP_NUMBER.fullmatch(last) else 0
        body = StreamBody(self._stream_turn(request, conversation.turns[-1].id, seen))
        return Response(200, body, (("x-accel-buffering", "no"),), content_type="text/event-stream", quiet=True)

    async def _ask(self, form: OpenForm[PathValues]) -> Response:
        """Ask a question, in a conversation or in a new one."""
        request = form.request
        given = {name: value for name, value in form.fields.items() if name in _QUESTION_FIELDS and value}
        turn = await self.office.perform(request, ask_assistant, given | {"sessionId": request.visitor.session})
        if not _is_streamed(form):
            self.turns.begin(request.actor.organisation, turn.id)
        return redirect(f"{PATH}/{turn.conversation_id}")

    async def _stop(self, form: OpenForm[PathValues]) -> Response:
        turn_id = form.fields.get("turn", "")
        await self.office.perform(form.request, stop_assistant, {"turnId": turn_id})
        self.turns.stop_turn(turn_id)
        return redirect(f"{PATH}/{form.subject['id']}")

    async def _decide(self, form: OpenForm[PathValues]) -> Response:
        """Confirm or decline the cards whose tokens were sent. The button says which, and of how many."""
        shown = {
            int(name.removeprefix("card ")): token
            for name, token in form.fields.items()
            if name.startswith("card ") and _STEP_NUMBER.fullmatch(name.removeprefix("card "))
        }
        decision, _, number = form.button.partition(" ")
        if number:
            shown = {card: token for card, token in shown.items() if str(card) == number}
        turn_id = form.fields.get("turn", "")
        are_same = await self._cards(form.request).decide(turn_id, shown, confirmed=decision == "confirm")
        if not _is_streamed(form):
            self.turns.begin(form.request.actor.organisation, turn_id)
        return redirect(f"{PATH}/{form.subject['id']}" + ("" if are_same else "?changed=yes"))

    async def _delete(self, form: OpenForm[PathValues]) -> Response:
        await self.office.perform(form.request, delete_conversation, {"conversationId": form.subject["id"]})
        return redirect(f"{PATH}?done={delete_conversation.name}")

    async def _stream_turn(self, request: OfficeRequest, turn_id: str, seen: int) -> AsyncGenerator[bytes, None]:
        """Yield each new state of a turn with the number of its last step, and what the model writes meanwhile.

        The turn is worked on in this process, unless another one has begun.
        """
        self.turns.begin(request.actor.organisation, turn_id)
        live, alive_at = self.turns.parts.live, monotonic()
        with live.watch(turn_id, request.visitor.session) as watch:
            while True:
                turn = await self._read_turn(request, turn_id)
                last = turn.steps[-1].number if turn.steps else 0
                if last > seen:
                    shown_turn = await self._show_turn(request, turn)
                    page = self.office.render_page("turn.html", request, shown_turn=shown_turn)
                    yield _make_event("step", page.body if isinstance(page.body, bytes) else b"", last)
                    seen = last
                if turn.status is not TurnStatus.WORKING or self.turns.is_closing:
                    yield _make_event("end", b"", seen)
                    return
                text = await watch.wait(_LOOK_SECONDS)
                if text:
                    yield _make_event("text", orjson.dumps(text))
                if monotonic() - alive_at > _ALIVE_SECONDS:
                    if await self.office.visitors.find_visitor(request.http_request) is None:
                        return
                    yield b": alive\n\n"
                    alive_at = monotonic()

    async def _show_turn(self, request: OfficeRequest, turn: Turn) -> ShownTurn:
        view = ConversationView(self.office, request)
        try:
            cards = await self._cards(request).open(turn) if request.actor.subscribed else []
        except Refusal:
            # What was asked for is no longer possible, for example because the person has signed in again.
            cards = []
        changes = [int(change) for change in turn.undoable_changes]
        undone = await self.office.visitors.runner.run_read(self._find_undone, request, changes) if changes else {}
        return view.show_turn(turn, cards, undone)

    def _find_undone(self, request: OfficeRequest, changes: list[int]) -> dict[int, bool]:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(request.actor.organisation) as db:
            return find_undone(db, changes, performer.clock())

    def _cards(self, request: OfficeRequest) -> Cards:
        return Cards(self.turns, request.actor, PageFormat(request.display))

    async def _shared_variables(self, request: OfficeRequest) -> dict[str, Any]:
        """Return what both pages show: whether there is a model, what may be done, and what was used."""
        settings, usage = await self.office.visitors.runner.run_read(self._read_usage, request)
        limit, (today, month) = find_reached_limit(settings, usage), usage
        return {
            "has_model": self.office.has_assistant(request),
            "can_set_up": request.can_perform(update_assistant_settings),
            "can_change": request.actor.can(Permission.CONNECTIONS_WRITE),
            "can_ask": request.can_perform(ask_assistant),
            "reached_limit": PageFormat(request.display).render(limit) if limit else "",
            "settings": settings,
            "used_percent": min(100 * today // max(settings.assistant_daily_tokens, 1), 100),
            "used_this_month": _format_tokens(request, month),
            "max_question": MAX_QUESTION_LENGTH,
        }

    def _read_usage(self, request: OfficeRequest) -> tuple[AssistantSettings, tuple[int, int]]:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(request.actor.organisation) as db:
            usage = store.read_usage(db, request.actor.id or "", self.office.today(request).isoformat())
            return store.read_assistant_settings(db), usage

    async def _find_record(self, request: OfficeRequest, record_id: str) -> object:
        """Return the record in view, or None if the person may not see it."""
        try:
            return await self.office.get_record(request, record_id)
        except Refusal:
            return None

    async def _read(self, request: OfficeRequest, conversation_id: str) -> Conversation:
        if not is_id(conversation_id, "conversation"):
            raise NotFound("conversation")
        await self.office.perform(request, get_conversation, {"conversationId": conversation_id})
        return await self.office.visitors.runner.run_read(self._read_conversation, request, conversation_id)

    def _read_conversation(self, request: OfficeRequest, conversation_id: str) -> Conversation:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(request.actor.organisation) as db:
            return store.read_conversation(db, conversation_id)

    async def _read_turn(self, request: OfficeRequest, turn_id: str) -> Turn:
        return await self.office.visitors.runner.run_read(self._read_turn_now, request, turn_id)

    def _read_turn_now(self, request: OfficeRequest, turn_id: str) -> Turn:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(request.actor.organisation) as db:
            return store.fetch_turn(db, turn_id)


def _is_streamed(form: OpenForm[PathValues]) -> bool:
    """Return whether the browser opens the stream of the answer next, which begins the work on it."""
    return form.fields.get("streamed") == "yes"


def _format_tokens(request: OfficeRequest, tokens: int) -> str:
    return request.display.format_number(str(tokens))


def _make_event(name: str, data: bytes, number: int = 0) -> bytes:
    """Return a server-sent event; the number is that of the last stored step."""
    head = f"event: {name}\n".encode() + (f"id: {number}\n".encode() if number else b"")
    return head + b"".join(b"data: %b\n" % line for line in data.split(b"\n")) + b"\n"
