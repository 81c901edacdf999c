"""Texts of operations, rewritten for people: without the names that only programs use.

A refusal names fields as programs send them. It says what to call next in brackets, in a clause after a semicolon or in
a sentence of its own, and ids are in brackets too. On a page, fields are called by their labels, and mentions of
operations and ids are left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.kernel.operation import Operation
from mainstay.values.choices import to_label
from mainstay.values.durations import hours_text
from mainstay.values.fields import NOT_AN_ID, InputKind
from mainstay.values.ids import contains_id
from mainstay.vocabulary.refusal import Fault, Invalid, Refusal

Labels = Mapping[str, str]
_NO_LABELS: Labels = MappingProxyType({})

_BRACKETS = re.compile(r" ?\([^()]*\)")
_SENTENCES = re.compile(r"(?<=[.!?]) +")
# A list of allowed values, as programs write them.
_ONE_OF, _VALUE = "is not one of ", re.compile(r"'([^']*)'")
_OUT_OF_RANGE, _MINUTES = re.compile(r"\bis (below|above) ([0-9]+)"), InputKind("minutes")
_BACKTICKED = re.compile(r"`([^`]*)`")


class TextRewriter:
    """Rewrites texts, knowing the names of all operations and of their fields."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        # A name that is a plain English word may appear in texts for people.
        tools = [operation.name for operation in operations if "_" in operation.name]
        fields = {name for operation in operations for name in labels_of(operation.input) if name != name.lower()}
        self._operation_names = re.compile(rf"\b(?:{'|'.join(tools)})\b|\bJSON\b")
        # Names in braces are placeholders that people type as they are.
        self._field_names = re.compile(rf"(?<!\{{)\b(?:{'|'.join(sorted(fields - _dotted_names(fields)))})\b")

    def rewrite_refusal(self, refusal: Refusal, operation: Operation) -> Refusal:
        """Rewrite a refusal for people. Each fault stays assigned to its field."""
        labels, durations = labels_of(operation.input), _duration_fields_of(operation.input)
        if not isinstance(refusal, Invalid):
            refusal.text = self.rewrite(refusal.text, labels)
            return refusal
        rewritten = [_limit_to_hours(fault) if fault.field in durations else fault for fault in refusal.faults]
        faults = [replace(fault, problem=self._rewrite_problem(fault, labels)) for fault in rewritten]
        return Invalid(faults, " ".join(f"{field_label(fault.field, labels)} {fault.problem}." for fault in faults))

    def rewrite(self, text: str, labels: Labels = _NO_LABELS) -> str:
        """Rewrite a text for people."""
        plain = _BRACKETS.sub(lambda match: "" if self._is_for_programs(match[0]) else match[0], text)
        sentences = (self._rewrite_sentence(sentence) for sentence in _SENTENCES.split(plain))
        rewritten = " ".join(filter(None, sentences))
        rewritten = _BACKTICKED.sub(lambda match: _quote_label(match[1], labels), rewritten)
        return self._field_names.sub(lambda match: _quote_label(match[0], labels), rewritten)

    def _rewrite_problem(self, fault: Fault, labels: Labels) -> str:
        if fault.problem.startswith(NOT_AN_ID):
            return "is none that is known here"
        if fault.problem.startswith(_ONE_OF):
            return _VALUE.sub(lambda match: to_label(match[1]), fault.problem)
        return self.rewrite(fault.problem, labels)

    def _rewrite_sentence(self, sentence: str) -> str:
        clauses = [clause for clause in sentence.split("; ") if not self._operation_names.search(clause)]
        rewritten = "; ".join(clauses)
        return f"{rewritten}." if rewritten and sentence.endswith(".") and not rewritten.endswith(".") else rewritten

    def _is_for_programs(self, text: str) -> bool:
        return bool(
            "`" in text or contains_id(text) or self._operation_names.search(text) or self._field_names.search(text)
        )


def _limit_to_hours(fault: Fault) -> Fault:
    """Rewrite the limit of a duration in hours: `is above 1440` becomes `is longer than 24:00`."""
    return replace(
        fault, problem=_OUT_OF_RANGE.sub(lambda match: _describe_limit(match[1], int(match[2])), fault.problem)
    )


def _describe_limit(side: str, minutes: int) -> str:
    return f"is {'shorter' if side == 'below' else 'longer'} than {hours_text(minutes)}"


def field_label(path: str, labels: Labels) -> str:
    """Return the label of a field by its path, such as `workingHours.monday.0.from`."""
    names = [name for name in path.split(".") if not name.isdecimal()]
    found = next((labels[key] for key in (".".join(names), names[-1]) if key in labels), None)
    return found or _words_of_name(names[-1])


@cache
def labels_of(model: type[BaseModel]) -> Labels:
    """Return the labels of a model's fields and of the fields within them, by path."""
    return dict(_walk_labels(model, ""))


def _walk_labels(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        alias = prefix + (field.alias or name)
        yield alias, field.title or to_label(name)
        for part in _walk_type(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from _walk_labels(part, f"{alias}.")


@cache
def _duration_fields_of(model: type[BaseModel]) -> frozenset[str]:
    """Return the fields that hold minutes, which people type as hours."""
    return frozenset(
        field.alias or name
        for name, field in model.model_fields.items()
        if _MINUTES in (*field.metadata, *_walk_type(field.annotation))
    )


def _walk_type(kind: Any) -> Iterator[Any]:
    """Yield a type and, recursively, its type arguments and annotations."""
    yield kind
    for part in get_args(kind):
        yield from _walk_type(part)


def _dotted_names(names: set[str]) -> set[str]:
    return {name for name in names if "." in name}


def _quote_label(name: str, labels: Labels) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{labels.get(name) or _words_of_name(name)}\N{RIGHT DOUBLE QUOTATION MARK}"


def _words_of_name(name: str) -> str:
    return to_label(re.sub("(?<=[a-z])Ids?$", "", name))
