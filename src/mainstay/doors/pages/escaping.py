"""Escaping of the values in templates.

A page of the schedule escapes four thousand values. `markupsafe.escape` wraps each in a `Markup`, which takes twenty
times as long as escaping it. What a template writes goes into the page at once, so it needs no `Markup`.
"""

from typing import Any

from jinja2 import Environment
from jinja2.compiler import CodeGenerator, Frame
from markupsafe import Markup, escape
from markupsafe._speedups import _escape_inner


def escape_value(value: object) -> str:
    """Return a value as HTML; what is HTML already stays as it is."""
    if type(value) is str:
        return _escape_inner(value)
    if type(value) is int:
        return str(value)
    return value if type(value) is Markup else escape(value)


class _PageCodeGenerator(CodeGenerator):
    """Compiles templates so that they escape what they write with `escape_value`."""

    def _output_child_pre(self, node: Any, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escape_value(")


class PageEnvironment(Environment):
    """The templates of pages."""

    code_generator_class = _PageCodeGenerator
    escape_value = staticmethod(escape_value)
