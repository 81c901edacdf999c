"""Hidden data: words and record ids that must not appear in answers, and who may see each."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mainstay.vocabulary.actor import Actor, Door
from mainstay.vocabulary.permissions import Permission, Role
from support.cast import Cast

WORD_PREFIX = "Zqx"


class RestrictedViewer(Enum):
    """Someone who sees only their own records: a role, and whether they see the team's schedule."""

    MEMBER = (Role.MEMBER, True)
    MEMBER_WITHOUT_SCHEDULE = (Role.MEMBER, False)
    SUBCONTRACTOR = (Role.SUBCONTRACTOR, False)

    @property
    def role(self) -> Role:
        """Their role."""
        return self.value[0]

    def actor(self, cast: Cast, door: Door = Door.OFFICE) -> Actor:
        """Return such a person of the cast."""
        actor = cast.actor(self.role, door=door)
        return (
            actor._replace(permissions=actor.permissions - {Permission.ALL_SCHEDULE_READ})
            if self is RestrictedViewer.MEMBER_WITHOUT_SCHEDULE
            else actor
        )


AllowedViewers = frozenset[RestrictedViewer]
NOBODY: AllowedViewers = frozenset()
MEMBERS: AllowedViewers = frozenset({RestrictedViewer.MEMBER, RestrictedViewer.MEMBER_WITHOUT_SCHEDULE})
TEAM: AllowedViewers = frozenset({RestrictedViewer.MEMBER})


@dataclass
class HiddenData:
    """Hidden words and record ids; each with the viewers who may see it anyway."""

    words: dict[str, AllowedViewers] = field(default_factory=dict)
    records: dict[str, AllowedViewers] = field(default_factory=dict)
    # Records whose id is shown to people who may not see the record: the person of a job.
    ids_shown_anyway: set[str] = field(default_factory=set)
    number: str = ""

    def add_word(self, what: str, seen_by: AllowedViewers = NOBODY) -> str:
        """Add a hidden word."""
        new_word = f"{WORD_PREFIX}{what}"
        assert new_word not in self.words
        self.words[new_word] = seen_by
        return new_word

    def add_phone(self, number: int, seen_by: AllowedViewers = NOBODY) -> str:
        """A new phone number, likewise."""
        made = f"+44 1632 9609{number}"
        self.words[made] = seen_by
        return made

    def add_record(self, record: dict[str, Any], seen_by: AllowedViewers = NOBODY) -> str:
        """Add a hidden record, and return its id."""
        self.records[record["id"]] = seen_by
        return str(record["id"])

    def hidden_ids(self, viewer: RestrictedViewer, kind: str = "") -> list[str]:
        """Return the ids of the records, all or of one kind, that a viewer must not see."""
        return [one for one, seen_by in self.records.items() if viewer not in seen_by and one.startswith(kind)]

    def hidden_texts(self, viewer: RestrictedViewer) -> list[str]:
        """Return all words and ids that a viewer must not see."""
        everything = {**self.words, **self.records}
        return [
            one for one, seen_by in everything.items() if viewer not in seen_by and one not in self.ids_shown_anyway
        ]

    def find_leaks(self, viewer: RestrictedViewer, answer: str, sent: str = "") -> list[str]:
        """Return the hidden words and ids in an answer that the viewer did not send themselves."""
        answer_text, sent_text = _normalise(answer), _normalise(sent)
        return [
            one
            for one in self.hidden_texts(viewer)
            if _normalise(one) in answer_text and _normalise(one) not in sent_text
        ]


def _normalise(text: str) -> str:
    """Remove what a door may add: case, the spaces in a phone number, the commas in an amount."""
    return text.lower().replace(" ", "").replace(",", "")
