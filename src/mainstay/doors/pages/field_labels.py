"""The labels of input fields, by the names that programs send."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel

from mainstay.values.choices import to_label
from mainstay.values.fields import InputKind
from mainstay.values.reader_language import ReaderLanguage

Labels = Mapping[str, str]
NO_LABELS: Labels = MappingProxyType({})
_MINUTES = InputKind("minutes")


def field_label(path: str, labels: Labels) -> str:
    """Return the label of a field by its path, such as `workingHours.monday.0.from`."""
    names = [name for name in path.split(".") if not name.isdecimal()]
    found = next((labels[key] for key in (".".join(names), names[-1]) if key in labels), None)
    return found or words_of_name(names[-1])


@cache
def labels_of(model: type[BaseModel]) -> Labels:
    """Return the labels of a model's fields and of the fields within them, by path."""
    return dict(_walk_labels(model, ""))


def _walk_labels(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        alias = prefix + (field.alias or name)
        yield alias, field.title or to_label(name)
        for part in walk_type(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from _walk_labels(part, f"{alias}.")


@cache
def duration_fields_of(model: type[BaseModel]) -> frozenset[str]:
    """Return the fields that hold minutes, which people type as hours."""
    return frozenset(
        field.alias or name
        for name, field in model.model_fields.items()
        if _MINUTES in (*field.metadata, *walk_type(field.annotation))
    )


def quote_label(name: str, labels: Labels, language: ReaderLanguage) -> str:
    """Return the label of a field in quotes."""
    label = language.translate(labels.get(name) or words_of_name(name))
    return f"\N{LEFT DOUBLE QUOTATION MARK}{label}\N{RIGHT DOUBLE QUOTATION MARK}"


def walk_type(kind: Any) -> Iterator[Any]:
    """Yield a type and, recursively, its type arguments and annotations."""
    yield kind
    for part in get_args(kind):
        yield from walk_type(part)


def words_of_name(name: str) -> str:
    """Return the name of a field as words: `Site` for `siteId`."""
    return to_label(re.sub("(?<=[a-z])Ids?$", "", name))
