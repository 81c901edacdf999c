"""Roles of fields: said on the field of an output model, and read wherever its kind of record is used."""

from dataclasses import dataclass

from mainstay.vocabulary.schemas import Output


@dataclass(frozen=True, slots=True)
class RefersTo:
    """Annotates the id of another record: the prefix of the ids of such records."""

    prefix: str


def find_reference(output: type[Output], name: str) -> RefersTo | None:
    """Return what a field of a model refers to, if it is the id of another record."""
    return next((mark for mark in output.model_fields[name].metadata if isinstance(mark, RefersTo)), None)
