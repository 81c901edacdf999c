"""Find the texts of messages: in the code, in the templates of pages, and in declarations."""

import ast
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from io import BytesIO
from pathlib import Path
from pkgutil import walk_packages
from typing import Literal, NamedTuple, get_args, get_origin

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po
from jinja2 import nodes

import mainstay.doors.office
from mainstay.business.importing.record_kinds import find_import_kinds
from mainstay.catalogue import CATALOGUE
from mainstay.doors.office.kit.navigation import Area
from mainstay.doors.office.kit.office_pages import NOTICES
from mainstay.doors.office.kit.record_layout import (
    RecordLayout,
    button_label,
    label_of_new,
    label_with_noun,
    submit_label,
    title_of_new,
)
from mainstay.doors.pages.display import describe_fields
from mainstay.doors.pages.field_labels import walk_type
from mainstay.doors.pages.form_fields import FormField, form_fields_of
from mainstay.doors.pages.formatting import ACTOR_NAMES
from mainstay.doors.pages.message_format import SENTENCES
from mainstay.doors.pages.rendering import TEMPLATES
from mainstay.values.choices import TextEnum, to_label
from mainstay.values.names import language_names
from mainstay.vocabulary.permissions import Permission
from mainstay.vocabulary.schemas import Output
from mainstay.vocabulary.validation import PROBLEMS

SOURCE = Path(__file__).parents[2] / "src" / "mainstay"
TEXT_FUNCTIONS = {"_", "html_", "n_"}
# What takes a text of the product as its first argument, in code.
MESSAGE_MAKERS = {"Message", "translate_text", "translate_counted_text"}
# Declarations with texts that pages translate: the positions or names of these arguments.
DECLARATIONS: Mapping[str, set[int | str | None]] = {
    "Action": {0},
    "BillStep": {1},
    "FormField": {1},
    "ImportColumn": {1},
    "JobStep": {0},
    "NotFound": {0},
    "ListOrder": {"missing_label"},
    "Panel": {0},
    "ReportKind": {0, 1},
    "SelectionAction": {1},
    "Snippet": {0, 1},
    "StarterItem": {0},
    "StarterList": {0},
    "StateLabel": {0},
    "VisitStep": {1},
    "_EmailKind": {0, 1},
    "_Alternative": {0},
    "_Step": {0},
    "make_column": {1},
}


class TemplateText(NamedTuple):
    """A text of a template, and the names of its values."""

    template: str
    # None if they are given as a mapping.
    values: frozenset[str] | None
    plural: str | None = None


def find_calls(path: Path, names: Collection[str]) -> Iterator[ast.Call]:
    """Yield every call of a function or method with one of these names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called in names:
                yield node


def find_template_texts(name: str) -> Iterator[TemplateText]:
    """Yield the texts of a template for pages."""
    for call in TEMPLATES.parse(read_template(name)).find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name in TEXT_FUNCTIONS:
            values = None if call.dyn_kwargs else frozenset(keyword.key for keyword in call.kwargs)
            literals = [str(argument.value) for argument in call.args[:2] if isinstance(argument, nodes.Const)]
            if literals:
                plural = literals[1] if call.node.name == "n_" and len(literals) > 1 else None
                yield TemplateText(literals[0], values, plural)


def read_template(name: str) -> str:
    """Return the source of a template."""
    return (SOURCE / "doors" / "pages" / "templates" / name).read_text("utf-8")


def build_message_catalogue() -> str:
    """Return all texts that can be translated, in the format of gettext."""
    catalogue = Catalog(project="Mainstay", fuzzy=False)
    for path in sorted(SOURCE.rglob("*.py")):
        for one, several in _find_message_templates(path):
            catalogue.add((one, several) if several else one, locations=[(path.relative_to(SOURCE).as_posix(), 0)])
        for label in filter(None, _find_declared_labels(path)):
            catalogue.add(label, locations=[(path.relative_to(SOURCE).as_posix(), 0)])
    for template in _find_message_constants():
        catalogue.add(template)
    for name in TEMPLATES.list_templates(extensions=["html"]):
        for text in find_template_texts(name):
            catalogue.add((text.template, text.plural) if text.plural else text.template, locations=[(name, 0)])
    for declared in sorted({*_find_declared_texts()} - {""}):
        catalogue.add(declared)
    output = BytesIO()
    write_po(output, catalogue, width=120, omit_header=True, sort_output=True, include_lineno=False)
    return output.getvalue().decode()


def _find_message_templates(path: Path) -> Iterator[tuple[str, str | None]]:
    for call in find_calls(path, MESSAGE_MAKERS):
        texts = {keyword.arg: keyword.value for keyword in call.keywords}
        template, plural = call.args[0], texts.get("plural", call.args[1] if len(call.args) > 1 else None)
        if isinstance(template, ast.Constant) and isinstance(template.value, str):
            yield template.value, str(plural.value) if isinstance(plural, ast.Constant) and plural.value else None


def _find_message_constants() -> Iterator[str]:
    """Yield the templates that are constants of a module, by which doors recognise the message."""
    paths = sorted(SOURCE.rglob("*.py"))
    templates = [call.args[0] for path in paths for call in find_calls(path, MESSAGE_MAKERS)]
    names = {template.id for template in templates if isinstance(template, ast.Name)}
    for path in paths:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names:
                yield str(ast.literal_eval(node.value))


def _find_declared_labels(path: Path) -> Iterator[str]:
    """Yield the texts that are given to declarations in code, such as the label of a column of a report."""
    for call in find_calls(path, DECLARATIONS.keys()):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = [*enumerate(call.args), *((keyword.arg, keyword.value) for keyword in call.keywords)]
        for place, value in given:
            if place in DECLARATIONS[name] and isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def _find_declared_texts() -> Iterator[str]:
    """Yield the titles, labels and helps of operations, records and pages."""
    for operation in CATALOGUE.operations:
        yield operation.title
        yield from (operation.done_message, operation.past_text, *(operation.past_text_by or ("", {}))[1].values())
        for field in form_fields_of(operation, frozenset(Permission)):
            yield from _texts_of_field(field)
        yield from _texts_of_output(operation.output)
        yield from (button_label(operation), label_with_noun(operation), submit_label(operation))
        yield from (label_of_new(operation), title_of_new(operation), to_label(operation.output.noun))
        yield from (to_label(operation.name), operation.on.label.capitalize() if operation.on else "")
        yield to_label(operation.name.removeprefix("list_") if operation.returns_page else "")
        yield to_label(operation.name.replace("list_", "see_", 1))
        yield operation.description.help
    yield from (noun for kind in CATALOGUE.kinds.values() for noun in (kind.label, kind.plural))
    for kind in find_import_kinds(CATALOGUE).values():
        yield from (
            kind.record_kind.label,
            to_label(kind.record_kind.label),
            to_label(kind.name),
            kind.identity_text,
            *(column.label for column in kind.columns),
        )
    yield from ACTOR_NAMES.values()
    yield from NOTICES.values()
    yield from (*PROBLEMS.values(), *SENTENCES.values())
    yield from (one.past_text for one in CATALOGUE.reactions)
    yield from (one.past_text for one in CATALOGUE.timers)
    yield from (one.past_text for one in CATALOGUE.task_kinds)
    for module in walk_packages(mainstay.doors.office.__path__, "mainstay.doors.office."):
        for value in vars(import_module(module.name)).values():
            yield from _texts_of_layout(value) if isinstance(value, RecordLayout) else ()
            yield from _texts_of_areas(value)


def _texts_of_areas(value: object) -> Iterator[str]:
    """Yield the names of an area of the office and of the areas within it, or of several areas."""
    if isinstance(value, Area):
        yield from (value.name, value.tab)
        yield from _texts_of_areas(value.areas)
    elif isinstance(value, tuple):
        for part in value:
            yield from _texts_of_areas(part)


def _texts_of_output(output: type[Output]) -> Iterator[str]:
    """Yield the labels of the fields of a record, of its states, and of values that are one of a few."""
    for label, kind in describe_fields(output).values():
        yield label
        yield from (choice for part in walk_type(kind) for choice in _choices_of_type(part))
    yield from (state.label for state in output.states.values())


def _choices_of_type(kind: object) -> Iterator[str]:
    if isinstance(kind, type) and issubclass(kind, TextEnum):
        yield from (label for choice in kind for label in (choice.label, to_label(choice.value)))
    elif get_origin(kind) is Literal:
        yield from (
            to_label(value) for value in get_args(kind) if isinstance(value, str) and value not in language_names()
        )


def _texts_of_field(field: FormField) -> Iterator[str]:
    yield field.label
    yield field.help or ""
    # Names of countries, currencies, languages and time zones are translated by Babel.
    yield from (label for _, label in field.choices if len(field.choices) < _MAX_CHOICES)
    for part in field.parts:
        yield from _texts_of_field(part)


def _texts_of_layout(layout: RecordLayout) -> Iterator[str]:
    yield from (layout.title, layout.lead, layout.empty_text, layout.email_warning, *layout.form_leads.values())
    yield from layout.form_buttons.values()
    yield from (str(label) for label in layout.tabs.values())
    yield from (label for choices in layout.choices.values() for _, label in choices)
    yield layout.edit_title


_MAX_CHOICES = 20
