"""Templates arrange. What a state or a role means is told by the model, and no template decides anything by one."""

import re
from importlib.resources import files

import pytest

from mainstay.catalogue import CATALOGUE
from mainstay.vocabulary.permissions import Permission, Role

FOLDER = files("mainstay.doors.pages").joinpath("templates")
TEMPLATES = {file.name: file.read_text("utf-8") for file in FOLDER.iterdir()}
STATE_AND_ROLE_NAMES = {
    *Role,
    *Permission,
    *(state for operation in CATALOGUE.operations for state in operation.output.states),
}
# What stands within the signs of the template language, and not the words around.
_INSIDE = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
_LEFT = re.compile(r"\b(status|role|state)\b(\s*\|[^%}]*)?\s*(==|!=|\bin\b|\bnot in\b|\bis\b)")
_RIGHT = re.compile(r"(==|!=|\bin)\s*[\w.]*\b(status|role)\b")
_LITERAL = re.compile(r"""["']([\w:]+)["']""")


def find_decisions(text: str) -> list[str]:
    """The parts of a template that compare a state or a role, or name one."""
    return [
        part
        for part in _INSIDE.findall(text)
        if _LEFT.search(part) or _RIGHT.search(part) or STATE_AND_ROLE_NAMES & set(_LITERAL.findall(part))
    ]


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_no_template_decides_by_a_state_or_a_role(name: str) -> None:
    assert find_decisions(TEMPLATES[name]) == []


@pytest.mark.parametrize(
    "text",
    [
        '{% if person.status == "left" %}',
        "{% if record.status in done %}",
        "{% if actor.role != boss %}",
        '{{ "Gone" if x == "revoked" }}',
        "{% if may('people:change') %}",
        "{% elif delivery.status|lower == word %}",
        "{% if 'owner' in roles %}",
        "{% if wanted == webhook.status %}",
    ],
)
def test_such_a_decision_would_be_found(text: str) -> None:
    assert find_decisions(text) == [text]


@pytest.mark.parametrize(
    "text",
    ["status == left", "{{ actor.role.words }}", "{{ form.state(state) }}", "{{ at.with_(status=value) }}"],
)
def test_what_only_shows_is_no_decision(text: str) -> None:
    assert find_decisions(text) == []


# What is called a status there is what a list is narrowed to, which nobody reads.
ALLOWED_DECISIONS = {"form.html": ["{{ one.status }}"], "index.html": ["{{ at.chosen.status }}"]}


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_state_is_told_in_words_and_not_as_programs_write_it(name: str) -> None:
    assert re.findall(r"{{ [\w.]*\.status }}", TEMPLATES[name]) == ALLOWED_DECISIONS.get(name, [])


# So many letters has what is typed there at most, which nothing else says.
ALLOWED_LENGTHS = {"hours_week.html": ["12"], "planning.html": ["4"]}


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_how_much_and_how_long_is_told_from_where_it_is_decided(name: str) -> None:
    text = TEMPLATES[name]
    assert re.findall(r'maxlength="(\d+)"', text) == ALLOWED_LENGTHS.get(name, [])
    assert re.findall(r"(?i)\b(?:\d+|one|two|seven|ten|twelve) (?:characters|MB|hours|days)\b", text) == []
