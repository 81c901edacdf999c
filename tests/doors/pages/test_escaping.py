"""Values in templates are escaped, and what is HTML already is not escaped again."""

import pytest
from jinja2 import StrictUndefined, UndefinedError
from markupsafe import Markup, escape

from mainstay.doors.pages.escaping import PageEnvironment, escape_value

DANGEROUS = """<b a="1" c='2'>&amp;</b>"""


class _Bold(str):
    __slots__ = ()

    def __html__(self) -> str:
        return f"<b>{self}</b>"


@pytest.mark.parametrize(
    "value", ["plain", DANGEROUS, Markup(DANGEROUS), _Bold("x"), 7, None, [DANGEROUS], Markup("<i>") + DANGEROUS]
)
def test_a_value_is_escaped_as_markupsafe_does(value: object) -> None:
    assert escape_value(value) == escape(value)


def test_templates_escape_each_value_they_write() -> None:
    templates = PageEnvironment(autoescape=True, undefined=StrictUndefined)
    source = "{% macro m(x) %}{{ x }}{% endmacro %}{% set s %}{{ v }}{% endset %}{{ v }}{{ v|upper }}{{ m(v) }}{{ s }}"
    written = str(escape(DANGEROUS))
    upper = str(escape(DANGEROUS.upper()))
    assert templates.from_string(source).render(v=DANGEROUS) == written + upper + written + written
    assert templates.from_string("{{ v|safe }}").render(v=DANGEROUS) == DANGEROUS
    assert templates.from_string("{% autoescape false %}{{ v }}{% endautoescape %}").render(v="<") == "<"
    with pytest.raises(UndefinedError):
        templates.from_string("{{ missing }}").render()
