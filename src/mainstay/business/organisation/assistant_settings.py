"""Which model the built-in assistant uses in an organisation, and what it may cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, SecretStr

from mainstay.changes.undo import Inverse
from mainstay.kernel.context import Context
from mainstay.kernel.inverse import Act, restore_values
from mainstay.kernel.kind import Kind
from mainstay.kernel.operation import Effect, operation
from mainstay.kernel.reads import declare_get
from mainstay.values.choices import TextEnum
from mainstay.values.fields import NOT_IN_FORMS, TextLine, WebAddress, WholeNumber, omittable_field
from mainstay.values.message import Message
from mainstay.vocabulary.actor import Door
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.refusal import Fault, Invalid
from mainstay.vocabulary.schemas import Input, Record, StoredRecord

_OFFICE_ONLY = frozenset({Door.OFFICE})
_MAX_TOKENS = 10**12


class AssistantSource(TextEnum):
    """Whose model the assistant uses."""

    OFF = "off"
    INSTALLATION = "installation"
    OWN = "own"

    @property
    def label(self) -> str:
        """The label that people read."""
        return _SOURCE_LABELS[self]


_SOURCE_LABELS = {
    AssistantSource.OFF: "None: the assistant is off",
    AssistantSource.INSTALLATION: "The model of this installation",
    AssistantSource.OWN: "Your own model",
}


class ModelDialect(TextEnum):
    """The protocol that a model's server speaks."""

    CHAT = "chat"
    MESSAGES = "messages"
    RESPONSES = "responses"

    @property
    def label(self) -> str:
        """The label that people read."""
        return _DIALECT_LABELS[self]


_DIALECT_LABELS = {
    ModelDialect.CHAT: "Chat Completions (Ollama, llama.cpp, vLLM and most others)",
    ModelDialect.MESSAGES: "Messages (Anthropic)",
    ModelDialect.RESPONSES: "Responses (OpenAI)",
}

_Source = Annotated[AssistantSource, Field(title="Model", description="Who provides the model.")]
_Address = Annotated[
    WebAddress | None,
    Field(title="Address", description="The address of your model's server, e.g. https://llm.example.com/v1."),
]
_Dialect = Annotated[ModelDialect, Field(title="Protocol", description="The protocol your model's server uses.")]
_Model = Annotated[TextLine | None, Field(title="Model name", description="The model's name on your server.")]
_ContextTokens = Annotated[
    WholeNumber,
    Field(
        ge=8_000,
        le=10_000_000,
        title="Context (tokens)",
        description="How much the model can read at once. Below 64,000, it gets fewer tools.",
    ),
]
_DailyTokens = Annotated[
    WholeNumber,
    Field(
        ge=0,
        le=_MAX_TOKENS,
        title="Tokens per person and day",
        description="When they are used up, the assistant answers again tomorrow.",
    ),
]
_MonthlyTokens = Annotated[
    WholeNumber,
    Field(
        ge=0,
        le=_MAX_TOKENS,
        title="Tokens per month",
        description="For everyone together. When they are used up, the assistant answers again next month.",
    ),
]
_RetentionDays = Annotated[
    WholeNumber,
    Field(
        ge=1,
        le=3650,
        title="Keep conversations (days)",
        description="A conversation is deleted this many days after its last question.",
    ),
]


class AssistantSettingsOut(Record):
    """The settings of the built-in assistant."""

    noun = "assistantSettings"
    office_path = "/settings/assistant"

    assistant_source: AssistantSource = Field(title="Model", description="Who provides the model.")
    assistant_address: str | None = Field(title="Address", description="Of your own model's server.")
    assistant_dialect: ModelDialect = Field(title="Protocol", description="The protocol your model's server uses.")
    assistant_model: str | None = Field(title="Model name", description="The model's name on your server.")
    has_assistant_key: bool = Field(title="Key", description="Whether a key of your model's server is stored.")
    assistant_context_tokens: int = Field(title="Context (tokens)", description="How much the model can read at once.")
    assistant_daily_tokens: int = Field(title="Tokens per person and day", description="How much each person may use.")
    assistant_monthly_tokens: int = Field(title="Tokens per month", description="How much all may use together.")
    assistant_retention_days: int = Field(
        title="Keep conversations (days)", description="After their last question, they are deleted."
    )


@dataclass(frozen=True, slots=True)
class AssistantSettings(StoredRecord):
    """The settings of the assistant, as rules see them."""

    output = AssistantSettingsOut

    assistant_source: AssistantSource
    assistant_address: str | None
    assistant_dialect: ModelDialect
    assistant_model: str | None
    # Encrypted by the installation for this organisation.
    assistant_key: str | None
    assistant_context_tokens: int
    assistant_daily_tokens: int
    assistant_monthly_tokens: int
    assistant_retention_days: int

    @property
    def display_name(self) -> str:
        """The name of the settings as a record."""
        return "Assistant"


ASSISTANT_SETTINGS = Kind(
    AssistantSettings,
    source="organisation",
    label="assistant settings",
    plural="assistant settings",
    heading="Assistant",
    area="Settings",
    prefix="assistant_settings",
    id_field=None,
    tenant_column="id",
    columns={"has_assistant_key": "CASE WHEN organisation.assistant_key IS NULL THEN 0 ELSE 1 END"},
)


class UpdateAssistantSettings(Input):
    """What to change; null clears."""

    assistant_source: _Source = omittable_field()
    assistant_address: _Address = None
    assistant_dialect: _Dialect = omittable_field()
    assistant_model: _Model = None
    # The office encrypts what is typed, so that it is stored neither in the trail nor with the answers of forms.
    assistant_key: Annotated[SecretStr, NOT_IN_FORMS] | None = Field(
        None, title="Key", description="The encrypted key of your model's server."
    )
    assistant_context_tokens: _ContextTokens = omittable_field()
    assistant_daily_tokens: _DailyTokens = omittable_field()
    assistant_monthly_tokens: _MonthlyTokens = omittable_field()
    assistant_retention_days: _RetentionDays = omittable_field()


get_assistant_settings = declare_get(
    ASSISTANT_SETTINGS,
    "Get assistant settings. Which model answers, and what it may cost.",
    Permission.ORGANISATION_CHANGE,
    doors=_OFFICE_ONLY,
)


def _restore_settings(act: Act) -> Sequence[Inverse] | Message:
    """Restore the previous values. A replaced key is stored nowhere else, so it has to be typed again."""
    if act.given.assistant_key is not None:
        return Message("Enter the previous key again.")
    return restore_values(act)


@operation(
    permission=Permission.ORGANISATION_CHANGE,
    effect=Effect.CHANGE,
    doors=_OFFICE_ONLY,
    on=ASSISTANT_SETTINGS,
    done_message="Assistant settings saved.",
    undone_by=_restore_settings,
    past_text="Assistant settings changed",
)
def update_assistant_settings(
    ctx: Context, given: UpdateAssistantSettings, settings: AssistantSettings
) -> AssistantSettings:
    """Edit assistant settings.

    Choose the model, and how much people can ask it.
    """
    changes = given.sent_fields()
    if "assistant_key" in changes:
        changes["assistant_key"] = given.assistant_key and given.assistant_key.get_secret_value()
    elif changes.get("assistant_address", settings.assistant_address) != settings.assistant_address:
        # A key goes to the server that it was typed for, and to no other.
        changes["assistant_key"] = None
    source = changes.get("assistant_source", settings.assistant_source)
    if source is AssistantSource.OWN:
        _check_own_model(changes, settings)
    return ASSISTANT_SETTINGS.save(ctx, settings, changes)


OPERATIONS = (get_assistant_settings, update_assistant_settings)


def _check_own_model(changes: dict[str, object], settings: AssistantSettings) -> None:
    """Refuse a model of the organisation's own without an address or a name."""
    needed = {"assistant_address": settings.assistant_address, "assistant_model": settings.assistant_model}
    missing = [name for name, stored in needed.items() if not changes.get(name, stored)]
    if missing:
        fields = UpdateAssistantSettings.model_fields
        raise Invalid(
            [Fault(fields[name].alias or name, Message("is required for your own model")) for name in missing]
        )
