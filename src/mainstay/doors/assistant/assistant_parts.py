"""What the work on every turn uses, and which model answers in an organisation."""

from dataclasses import dataclass

from mainstay.business.organisation.assistant_settings import AssistantSettings, AssistantSource
from mainstay.doors.assistant.live_text import LiveText
from mainstay.doors.assistant.models.model_settings import ModelSettings
from mainstay.doors.assistant.prompt import ToolSource
from mainstay.doors.runner import Runner
from mainstay.identity.encryption import Encryptor
from mainstay.infrastructure.streaming_client import StreamingClient
from mainstay.kernel.perform import Performer


@dataclass(frozen=True)
class AssistantParts:
    """What the work on every turn uses."""

    performer: Performer
    runner: Runner
    tools: ToolSource
    # What clients of the tool server read about all tools.
    tool_instructions: str
    client: StreamingClient
    encryptor: Encryptor
    # The model of the installation, if the operator has set one up.
    operator_model: ModelSettings | None
    live: LiveText

    def choose_model(self, organisation: str, settings: AssistantSettings) -> ModelSettings | None:
        """Return the model that answers in an organisation, or None if there is none."""
        match settings.assistant_source:
            case AssistantSource.INSTALLATION:
                return self.operator_model
            case AssistantSource.OWN if settings.assistant_address and settings.assistant_model:
                key = settings.assistant_key and self.encryptor.decrypt(
                    key_purpose(organisation), settings.assistant_key, self.performer.clock()
                )
                return ModelSettings(
                    settings.assistant_address,
                    settings.assistant_dialect,
                    settings.assistant_model,
                    key or None,
                    allows_private=False,
                )
        return None


def key_purpose(organisation: str) -> str:
    """Return for what the key of an organisation's own model is encrypted."""
    return f"assistant key of {organisation}"
