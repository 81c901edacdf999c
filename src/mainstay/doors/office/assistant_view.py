"""A conversation as its page shows it: what was asked, each step in a line, the answer, and what waits for a click."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from markupsafe import Markup

from mainstay.business.assistant.model import CallPlace, Step, StepKind, Turn, TurnStatus
from mainstay.doors.assistant.cards import OpenCard
from mainstay.doors.office.kit.markdown import render_markdown
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest, Preview, read_preview
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import current_language, translate_text
from mainstay.kernel.operation import Operation
from mainstay.values.choices import label_in_text, to_label
from mainstay.values.stored_message import load_message
from mainstay.vocabulary.refusal import NotFound

_MAX_DETAIL = 2_000


class CallLine(NamedTuple):
    """A call in one line, which unfolds."""

    text: str
    # The page of the record that it made or changed.
    path: str
    detail: str
    has_failed: bool


class ShownReply(NamedTuple):
    """A reply of the model: its calls, and its text."""

    html: Markup
    calls: Sequence[CallLine]


class ShownCard(NamedTuple):
    """What waits for a click of the person."""

    number: int
    token: str
    # The words of the button.
    label: str
    preview: Preview
    warnings: Sequence[str]
    # Whether it can be confirmed by itself: not if the cards before it change what it shows.
    stands_alone: bool


class ShownTurn(NamedTuple):
    """A question with what was done for it."""

    turn: Turn
    replies: Sequence[ShownReply]
    cards: Sequence[ShownCard]
    problem: str
    last_step: int
    # By change that is recent enough to be undone: whether it was.
    undone: Mapping[int, bool]

    @property
    def undoable_changes(self) -> list[str]:
        """The changes that can be undone together, the newest first."""
        changes = self.turn.undoable_changes
        return changes if all(self.undone.get(int(change)) is False for change in changes) else []

    @property
    def is_undone(self) -> bool:
        """Whether all that can be undone was undone."""
        changes = self.turn.undoable_changes
        return bool(changes) and all(self.undone.get(int(change)) for change in changes)

    @property
    def is_working(self) -> bool:
        """Whether the assistant works on it now."""
        return self.turn.status is TurnStatus.WORKING

    @property
    def is_open(self) -> bool:
        """Whether it is not finished."""
        return self.turn.status.is_open

    @property
    def is_stopped(self) -> bool:
        """Whether its person stopped it."""
        return self.turn.status is TurnStatus.STOPPED

    @property
    def confirmable(self) -> Sequence[ShownCard]:
        """The cards against which nothing stands."""
        return [card for card in self.cards if not card.preview.blockers]


class ConversationView(NamedTuple):
    """Makes what the page of a conversation shows."""

    office: OfficePages
    request: OfficeRequest

    def show_turn(self, turn: Turn, cards: Sequence[OpenCard], undone: Mapping[int, bool]) -> ShownTurn:
        """Return a turn as it is shown."""
        results = turn.results
        replies = [self._show_reply(step, results, turn.status) for step in turn.steps if step.kind is StepKind.SAID]
        shown_cards = [self._show_card(card) for card in cards]
        last = turn.steps[-1].number if turn.steps else 0
        return ShownTurn(turn, replies, shown_cards, self._render(turn.problem), last, undone)

    def _show_reply(self, step: Step, results: Mapping[CallPlace, Step], status: TurnStatus) -> ShownReply:
        calls = [
            self._show_call(name, arguments, results.get(CallPlace(step.number, position)), status)
            for position, (_id, name, arguments) in enumerate(step.content["calls"])
        ]
        base_url = self.office.visitors.base_url
        return ShownReply(render_markdown(step.content["text"], base_url), calls)

    def _show_call(self, name: str, arguments: str, result: Step | None, status: TurnStatus) -> CallLine:
        operation = self.office.operations.get(name)
        content = result.content if result else {}
        has_failed = bool(content.get("isError"))
        title = current_language().translate(operation.title) if operation else to_label(name)
        if content.get("decision") == "declined":
            text = translate_text("Not confirmed: {action}", action=label_in_text(title))
        elif result is None and status is TurnStatus.WAITING:
            text = translate_text("Waits for you: {action}", action=label_in_text(title))
        elif result is None and status is TurnStatus.WORKING:
            text = title
        elif has_failed or result is None:
            text = translate_text("Not done: {action}", action=label_in_text(title))
        elif operation is None or not operation.changes:
            text = self._describe_read(title, operation, content)
        else:
            past = self.office.catalogue.find_past_text(name, _parse(arguments))
            text = current_language().translate(past) if past else title
        detail = "\n\n".join(part for part in (arguments, str(content.get("text", ""))) if part and part != "{}")
        return CallLine(text, self._path_of(content.get("record")), detail[:_MAX_DETAIL], has_failed)

    def _describe_read(self, title: str, operation: Operation | None, content: Mapping[str, Any]) -> str:
        """Say what was looked at: how many records, or which page of the office."""
        data = _parse(content.get("text", "")).get("data")
        if operation and operation.returns_page and isinstance(data, list):
            return translate_text("{action}: {count} found", action=title, count=str(len(data)))
        return translate_text("Looked up: {action}", action=label_in_text(title))

    def _show_card(self, card: OpenCard) -> ShownCard:
        page_format = PageFormat(self.request.display)
        return ShownCard(
            card.step.number,
            card.token,
            current_language().translate(card.operation.title),
            read_preview(card.preview),
            [page_format.render(warning) for warning in card.warnings],
            card.stands_alone,
        )

    def _path_of(self, record_id: object) -> str:
        try:
            return self.office.path_of(str(record_id)) if record_id else ""
        except NotFound:
            return ""

    def _render(self, stored: str | None) -> str:
        """Return a stored message in the reader's language."""
        return PageFormat(self.request.display).render(load_message(stored)) if stored else ""


def _parse(text: str) -> dict[str, Any]:
    """Return the JSON object of a text; nothing if it is none."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
