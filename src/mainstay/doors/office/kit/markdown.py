"""Markdown of a model as HTML: without HTML of its own, without pictures, and with links to our own pages only."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import urlsplit

from markupsafe import Markup, escape

MAX_LENGTH = 50_000
_HEADING = re.compile(r"#{1,6} +(.*)")
_BULLET = re.compile(r"\s*[-*+] +(.*)")
_NUMBERED = re.compile(r"\s*\d{1,9}[.)] +(.*)")
# A cell of the line below the headings of a table.
_RULE_CELL = re.compile(":?-+:?")
_FENCE = "```"
# Code, links, and emphasis within a line. Each part excludes its own end, so that matching takes linear time.
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`|!?\[(?P<label>[^\[\]\n]*)\]\((?P<target>[^()\s]*)\)|\*\*(?P<strong>[^*\n]+)\*\*|\*(?P<em>[^*\s][^*\n]*)\*"
)
_LOCAL_PATH = re.compile(r"/(?!/)[A-Za-z0-9_./~%-]*(\?[A-Za-z0-9_=&.%+-]*)?(#[A-Za-z0-9_-]*)?")


def render_markdown(text: str, base_url: str) -> Markup:
    """Return a text as HTML. Other marks are shown as they are."""
    return Markup().join(_render_blocks(text[:MAX_LENGTH].splitlines(), base_url))


def _render_blocks(lines: list[str], base_url: str) -> Iterator[Markup]:
    position = 0
    while position < len(lines):
        line = lines[position]
        if not line.strip():
            position += 1
        elif line.lstrip().startswith(_FENCE):
            end = next((n for n in range(position + 1, len(lines)) if lines[n].lstrip().startswith(_FENCE)), len(lines))
            yield Markup("<pre>{}</pre>").format("\n".join(lines[position + 1 : end]))
            position = end + 1
        elif heading := _HEADING.fullmatch(line):
            yield Markup("<h4>{}</h4>").format(_render_inline(heading[1], base_url))
            position += 1
        elif _is_table(lines, position):
            end = _find_end(lines, position, lambda one: "|" in one)
            yield _render_table([lines[position], *lines[position + 2 : end]], base_url)
            position = end
        elif kind := next((one for one in (_BULLET, _NUMBERED) if one.fullmatch(line)), None):
            end = _find_end(lines, position, partial(_matches, kind))
            yield _render_list(kind, lines[position:end], base_url)
            position = end
        else:
            end = _find_end(lines, position, lambda one: bool(one.strip()) and not _begins_block(one))
            end = max(end, position + 1)
            parts = [_render_inline(one, base_url) for one in lines[position:end]]
            yield Markup("<p>{}</p>").format(Markup("<br>").join(parts))
            position = end


def _begins_block(line: str) -> bool:
    return bool(
        line.lstrip().startswith(_FENCE)
        or _HEADING.fullmatch(line)
        or _BULLET.fullmatch(line)
        or _NUMBERED.fullmatch(line)
        or line.lstrip().startswith("|")
    )


def _matches(kind: re.Pattern[str], line: str) -> bool:
    return kind.fullmatch(line) is not None


def _is_table(lines: list[str], position: int) -> bool:
    return "|" in lines[position] and position + 1 < len(lines) and _is_table_rule(lines[position + 1])


def _is_table_rule(line: str) -> bool:
    return "|" in line and all(map(_RULE_CELL.fullmatch, _split_cells(line)))


def _split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _find_end(lines: list[str], position: int, belongs: Callable[[str], bool]) -> int:
    """Return the position of the first line from here on that does not belong to the block."""
    return next((n for n in range(position, len(lines)) if not belongs(lines[n])), len(lines))


def _render_list(kind: re.Pattern[str], lines: list[str], base_url: str) -> Markup:
    items = Markup().join(
        Markup("<li>{}</li>").format(_render_inline(match[1], base_url))
        for line in lines
        if (match := kind.fullmatch(line))
    )
    return Markup("<ul>{}</ul>").format(items) if kind is _BULLET else Markup("<ol>{}</ol>").format(items)


def _render_table(lines: list[str], base_url: str) -> Markup:
    head, *rows = map(_split_cells, lines)
    titles = Markup().join(Markup("<th>{}</th>").format(_render_inline(cell, base_url)) for cell in head)
    body = Markup().join(
        Markup("<tr>{}</tr>").format(
            Markup().join(Markup("<td>{}</td>").format(_render_inline(cell, base_url)) for cell in row[: len(head)])
        )
        for row in rows
    )
    return Markup('<div class="wide"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>').format(
        titles, body
    )


def _render_inline(text: str, base_url: str) -> Markup:
    """Return a line with its code, links and emphasis."""
    parts: list[Markup] = []
    position = 0
    for found in _INLINE.finditer(text):
        parts += [escape(text[position : found.start()]), _render_match(found, base_url)]
        position = found.end()
    return Markup().join([*parts, escape(text[position:])])


def _render_match(found: re.Match[str], base_url: str) -> Markup:
    if code := found["code"]:
        return Markup("<code>{}</code>").format(code)
    if strong := found["strong"]:
        return Markup("<strong>{}</strong>").format(_render_inline(strong, base_url))
    if em := found["em"]:
        return Markup("<em>{}</em>").format(em)
    path = None if found[0].startswith("!") else find_own_path(found["target"], base_url)
    return Markup('<a href="{}">{}</a>').format(path, found["label"] or path) if path else escape(found["label"])


def find_own_path(address: str, base_url: str) -> str | None:
    """Return the path of an address of ours, or None if it leads elsewhere."""
    path = address.removeprefix(base_url) if address.startswith(f"{base_url}/") else address
    is_own = _LOCAL_PATH.fullmatch(path) is not None and not urlsplit(path).netloc
    return path if is_own else None
