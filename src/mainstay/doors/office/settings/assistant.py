"""Settings → Assistant: which model answers, the key of its server, a test of it, and what was used."""

from dataclasses import dataclass
from datetime import timedelta

from mainstay.business.assistant import store
from mainstay.business.organisation.assistant_settings import (
    ASSISTANT_SETTINGS,
    AssistantSettings,
    get_assistant_settings,
    update_assistant_settings,
)
from mainstay.doors.assistant.assistant_parts import key_purpose
from mainstay.doors.assistant.models.model_check import CheckName, ModelCheck, check_model
from mainstay.doors.assistant.turn_runner import TurnRunner
from mainstay.doors.http import Response
from mainstay.doors.office.kit.form import Form, OpenForm, PathValues, find_by_path
from mainstay.doors.office.kit.office_pages import OfficePages, OfficeRequest
from mainstay.doors.office.kit.record_layout import RecordLayout
from mainstay.doors.office.kit.record_pages import RecordPages
from mainstay.doors.office.kit.record_panels import PANELS_WITHOUT_FILES
from mainstay.doors.office.kit.reference_fields import AnyRecord
from mainstay.doors.pages.door import Route
from mainstay.doors.pages.message_format import PageFormat
from mainstay.doors.pages.page_language import translate_text
from mainstay.doors.pages.rendering import redirect
from mainstay.kernel.catalogue import check_permission
from mainstay.values.message import Message
from mainstay.vocabulary.refusal import Conflict, Fault, Invalid, TooManyRequests

_PATH = ASSISTANT_SETTINGS.path
# A key has no end of its own.
_KEY_LIFETIME = timedelta(days=36_500)
_MAX_KEY_LENGTH = 2_000
TESTS_AN_HOUR = 20

ASSISTANT_LAYOUT = RecordLayout(
    kind=ASSISTANT_SETTINGS,
    edit_title="Edit assistant settings",
    lead="The assistant looks things up, drafts and plans for people, with their permissions.",
    base_template="settings.html",
    title_of=lambda _: translate_text("Assistant"),
    subtitle_of=lambda _: translate_text(
        "The assistant looks things up, drafts and plans for people, with their permissions."
    ),
    columns=(),
    facts=(
        "assistantSource",
        "assistantAddress",
        "assistantDialect",
        "assistantModel",
        "hasAssistantKey",
        "assistantContextTokens",
        "assistantDailyTokens",
        "assistantMonthlyTokens",
        "assistantRetentionDays",
    ),
    page_body="assistant_model.html",
    panels=PANELS_WITHOUT_FILES,
    first_fields=("assistantSource", "assistantAddress", "assistantDialect", "assistantModel"),
)

_CHECK_TITLES = {
    CheckName.ANSWER: Message("It answers"),
    CheckName.TOOLS: Message("It uses tools"),
    CheckName.CONTEXT: Message("It reads enough at once"),
}


@dataclass(frozen=True)
class AssistantSettingsPages:
    """The settings of the assistant, with the key and the test of the model."""

    office: OfficePages
    turns: TurnRunner

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            *Form(self.office, find_by_path, self._save_key).routes(f"{_PATH}/key", _PATH),
            *Form(self.office, find_by_path, self._test).routes(f"{_PATH}/test", _PATH),
            *RecordPages(self.office, ASSISTANT_LAYOUT, add_variables=self._add_variables).routes(),
        ]

    async def _add_variables(self, request: OfficeRequest, _record: AnyRecord | None) -> dict[str, object]:
        """Return whether there is a model of the installation, and the tokens that were used this month."""
        settings, (_, month) = await self.office.visitors.runner.run_read(self._read, request)
        parts, model = self.turns.parts, self.turns.parts.operator_model
        return {
            "has_model": parts.choose_model(request.actor.organisation, settings) is not None,
            "can_set_up": request.can_perform(update_assistant_settings),
            "max_key": _MAX_KEY_LENGTH,
            "operator_model": model.model if model else None,
            "used_this_month": request.display.format_number(str(month)),
        }

    async def _save_key(self, form: OpenForm[PathValues]) -> Response:
        """Store the key of the organisation's own model, encrypted; or remove it, if none was typed."""
        key = form.fields.get("key", "").strip()
        if len(key) > _MAX_KEY_LENGTH or not key.isascii() or not key.isprintable():
            raise Invalid([Fault("key", Message("is not a key"))])
        organisation = form.request.actor.organisation
        until = self.office.visitors.performer.clock() + _KEY_LIFETIME
        encrypted = self.office.visitors.sealer.encrypt(key_purpose(organisation), key, until) if key else None
        await self.office.perform(form.request, update_assistant_settings, {"assistantKey": encrypted})
        return redirect(f"{_PATH}?done={update_assistant_settings.name}")

    async def _test(self, form: OpenForm[PathValues]) -> Response:
        """Check the model that would answer now, and show what can be done about what it lacks."""
        request, parts = form.request, self.turns.parts
        check_permission(update_assistant_settings, request.actor)
        settings, _ = await self.office.visitors.runner.run_read(self._read, request)
        model = parts.choose_model(request.actor.organisation, settings)
        if model is None:
            raise Conflict(Message("There is no model to test. Choose one first."))
        limit = f"model tests of {request.actor.organisation}"
        if not (await self.office.visitors.rate_limits.take(limit, TESTS_AN_HOUR, 3_600.0)).accepted:
            raise TooManyRequests(Message("You have tested the model too often. Try again in an hour."))
        checks = await check_model(parts.client, model)
        record = await self.office.perform(request, get_assistant_settings)
        return self.office.render_page(
            "assistant_test.html", request, of=ASSISTANT_LAYOUT, record=record, checks=self._show(request, checks)
        )

    def _show(self, request: OfficeRequest, checks: list[ModelCheck]) -> list[tuple[str, bool, str]]:
        page_format = PageFormat(request.display)
        return [
            (page_format.render(_CHECK_TITLES[check.name]), check.is_passed, page_format.render(check.message))
            for check in checks
        ]

    def _read(self, request: OfficeRequest) -> tuple[AssistantSettings, tuple[int, int]]:
        performer = self.office.visitors.performer
        with performer.database.read_transaction(request.actor.organisation) as db:
            usage = store.read_usage(db, request.actor.id or "", self.office.today(request).isoformat())
            return store.read_assistant_settings(db), usage
