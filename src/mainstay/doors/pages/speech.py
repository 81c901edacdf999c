"""What operations say to programs and people alike, as people are told it: without names of ours.

A refusal names fields as programs send them, and tells what to call next in brackets, in a clause behind a semicolon or
in a sentence of its own; ids are in brackets, too. On a page, fields are called by their labels, and what names an
operation or is an id is left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.kernel.operation import Operation
from mainstay.terms.refusal import Fault, Invalid, Refusal
from mainstay.values.durations import hours_text
from mainstay.values.fields import NO_ID, As
from mainstay.values.ids import has_id
from mainstay.values.words import words_of

Labels = Mapping[str, str]
_NONE: Labels = MappingProxyType({})

_BRACKETS = re.compile(r" ?\([^()]*\)")
_SENTENCES = re.compile(r"(?<=[.!?]) +")
# One of a few values, as programs write them.
_ONE_OF, _VALUE = "is not one of ", re.compile(r"'([^']*)'")
_BEYOND, _MINUTES = re.compile(r"\bis (below|above) ([0-9]+)"), As("minutes")
_MARKED = re.compile(r"`([^`]*)`")


class Speech:
    """Knows the names by which programs know operations and their fields."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        # A name that is a plain word is said to people, too.
        tools = [operation.name for operation in operations if "_" in operation.name]
        fields = {name for operation in operations for name in labels_of(operation.input) if name != name.lower()}
        self._tools = re.compile(rf"\b(?:{'|'.join(tools)})\b|\bJSON\b")
        # What stands in braces is typed as it is.
        self._fields = re.compile(rf"(?<!\{{)\b(?:{'|'.join(sorted(fields - _dotted(fields)))})\b")

    def refusal(self, refusal: Refusal, operation: Operation) -> Refusal:
        """What an operation was refused with, in words for people; each fault stays one of its field."""
        labels, lengths = labels_of(operation.input), _lengths_of(operation.input)
        if not isinstance(refusal, Invalid):
            refusal.text = self.text(refusal.text, labels)
            return refusal
        said = [_as_length(fault) if fault.field in lengths else fault for fault in refusal.faults]
        faults = [replace(fault, problem=self._problem(fault, labels)) for fault in said]
        return Invalid(faults, " ".join(f"{label(fault.field, labels)} {fault.problem}." for fault in faults))

    def text(self, text: str, labels: Labels = _NONE) -> str:
        """A text in words for people."""
        plain = _BRACKETS.sub(lambda found: "" if self._is_for_programs(found[0]) else found[0], text)
        sentences = (self._sentence(sentence) for sentence in _SENTENCES.split(plain))
        told = " ".join(filter(None, sentences))
        told = _MARKED.sub(lambda found: _quoted(found[1], labels), told)
        return self._fields.sub(lambda found: _quoted(found[0], labels), told)

    def _problem(self, fault: Fault, labels: Labels) -> str:
        if fault.problem.startswith(NO_ID):
            return "is none that is known here"
        if fault.problem.startswith(_ONE_OF):
            return _VALUE.sub(lambda found: words_of(found[1]), fault.problem)
        return self.text(fault.problem, labels)

    def _sentence(self, sentence: str) -> str:
        clauses = [clause for clause in sentence.split("; ") if not self._tools.search(clause)]
        told = "; ".join(clauses)
        return f"{told}." if told and sentence.endswith(".") and not told.endswith(".") else told

    def _is_for_programs(self, text: str) -> bool:
        return bool("`" in text or has_id(text) or self._tools.search(text) or self._fields.search(text))


def _as_length(fault: Fault) -> Fault:
    """A fault of a length, which people write in hours: `is above 1440` is longer than 24:00."""
    return replace(fault, problem=_BEYOND.sub(lambda found: _longer(found[1], int(found[2])), fault.problem))


def _longer(beyond: str, minutes: int) -> str:
    return f"is {'shorter' if beyond == 'below' else 'longer'} than {hours_text(minutes)}"


def label(path: str, labels: Labels) -> str:
    """What people call a field, by the way to it: `workingHours.monday.0.from`."""
    names = [name for name in path.split(".") if not name.isdecimal()]
    known = next((labels[way] for way in (".".join(names), names[-1]) if way in labels), None)
    return known or _words(names[-1])


@cache
def labels_of(model: type[BaseModel]) -> Labels:
    """The labels of a model's fields and of those within them, by the way to each."""
    return dict(_labels(model, ""))


def _labels(model: type[BaseModel], within: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        alias = within + (field.alias or name)
        yield alias, field.title or words_of(name)
        for part in _within(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from _labels(part, f"{alias}.")


@cache
def _lengths_of(model: type[BaseModel]) -> frozenset[str]:
    """The fields in which programs send minutes, and people a time."""
    return frozenset(
        field.alias or name
        for name, field in model.model_fields.items()
        if _MINUTES in (*field.metadata, *_within(field.annotation))
    )


def _within(kind: Any) -> Iterator[Any]:
    """A type, and whatever it is made of: other types, and what is written beside them."""
    yield kind
    for part in get_args(kind):
        yield from _within(part)


def _dotted(names: set[str]) -> set[str]:
    return {name for name in names if "." in name}


def _quoted(name: str, labels: Labels) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{labels.get(name) or _words(name)}\N{RIGHT DOUBLE QUOTATION MARK}"


def _words(name: str) -> str:
    return words_of(re.sub("(?<=[a-z])Ids?$", "", name))
