"""What must not be told, and to whom: words that are looked for in answers, and the ids of records."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from cast import Cast
from mainstay.terms.actor import Actor, Door
from mainstay.terms.rights import Right, Role

BEGINNING = "Zqx"


class Viewer(Enum):
    """Someone who sees no more than their own: a role, and whether the team's schedule is open to them."""

    MEMBER = (Role.MEMBER, True)
    APART = (Role.MEMBER, False)
    SUBCONTRACTOR = (Role.SUBCONTRACTOR, False)

    @property
    def role(self) -> Role:
        """Their role."""
        return self.value[0]

    def actor(self, cast: Cast, door: Door = Door.OFFICE) -> Actor:
        """Such a person of the cast."""
        actor = cast.actor(self.role, door=door)
        return actor._replace(rights=actor.rights - {Right.ALL_SCHEDULE_READ}) if self is Viewer.APART else actor


Viewers = frozenset[Viewer]
NOBODY: Viewers = frozenset()
MEMBERS: Viewers = frozenset({Viewer.MEMBER, Viewer.APART})
TEAM: Viewers = frozenset({Viewer.MEMBER})


@dataclass
class Hidden:
    """The words, and the ids of the records in which they stand; each with those who may be told nevertheless."""

    words: dict[str, Viewers] = field(default_factory=dict)
    records: dict[str, Viewers] = field(default_factory=dict)
    # Those of which someone who may not see them is told the id: whose the job is.
    named: set[str] = field(default_factory=set)
    number: str = ""

    def word(self, what: str, seen_by: Viewers = NOBODY) -> str:
        """A new word for something."""
        made = f"{BEGINNING}{what}"
        assert made not in self.words
        self.words[made] = seen_by
        return made

    def phone(self, number: int, seen_by: Viewers = NOBODY) -> str:
        """A new phone number, likewise."""
        made = f"+44 1632 9609{number}"
        self.words[made] = seen_by
        return made

    def keep(self, record: dict[str, Any], seen_by: Viewers = NOBODY) -> str:
        """Note a record as one of them; its id."""
        self.records[record["id"]] = seen_by
        return str(record["id"])

    def ids(self, viewer: Viewer, kind: str = "") -> list[str]:
        """The ids of the records, perhaps of one kind, that someone does not see."""
        return [one for one, seen_by in self.records.items() if viewer not in seen_by and one.startswith(kind)]

    def from_(self, viewer: Viewer) -> list[str]:
        """All that someone must not be told."""
        everything = {**self.words, **self.records}
        return [one for one, seen_by in everything.items() if viewer not in seen_by and one not in self.named]

    def told(self, viewer: Viewer, answer: str, sent: str = "") -> list[str]:
        """What an answer tells that someone must not be told, and has not said themselves."""
        told, said = _plain(answer), _plain(sent)
        return [one for one in self.from_(viewer) if _plain(one) in told and _plain(one) not in said]


def _plain(text: str) -> str:
    """Without what a door may add on its way: case, the spaces in a phone number, the commas in an amount."""
    return text.lower().replace(" ", "").replace(",", "")
